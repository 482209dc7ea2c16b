"""Effects of Paddock, carried out on the played API server.

See `extender.kube.effects.effector`.
"""

from collections.abc import Callable

import msgspec

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effect_outcomes import outcome_of
from core.ledger.effects import (
    CreatePlaceholder,
    DeletePod,
    Effect,
    EndWait,
    EvictPod,
    MarkFailed,
    NominateNode,
    OpenGate,
    PostEvent,
    ResolveGroups,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.ledger.outcomes import Answer
from extender.simulator.cluster.api_server import PlayedApi, Refusal
from extender.simulator.cluster.budgets import PlayedBudgets
from extender.simulator.cluster.eviction import EvictionObserver, delete, evict
from extender.simulator.cluster.played_objects import Pod
from extender.wire.placeholder import PlaceholderSettings, placeholder_pod

WAKE_ANNOTATION = "paddock.dev/wake"

DEFAULTS = PlaceholderSettings()

Learn = Callable[[on.Event], None]

PodEffect = WakePod | OpenGate | NominateNode | WriteRecord | EvictPod | DeletePod | MarkFailed | SetCondition


def act(
    effect: Effect,
    api: PlayedApi,
    budgets: PlayedBudgets,
    onlooker: EvictionObserver,
    learn: Learn,
    *,
    placeholders: PlaceholderSettings = DEFAULTS,
) -> None:
    """Carry an effect out and report how it ended."""
    match effect:
        case ResolveGroups(user):
            # A run must not depend on the host it runs on.
            learn(on.GroupsResolved(user, (user,)))
        case PostEvent() | EndWait():
            pass
        case CreatePlaceholder():
            refused = _create(effect, api, placeholders)
            _tell(effect, learn, Answer.REFUSED if refused else Answer.DONE, refused)
        case _:
            pod = _pod(api, effect.uid, effect.namespace, effect.name)
            _tell(effect, learn, _answer(effect, pod, api, budgets, onlooker))


def _answer(
    effect: PodEffect, pod: Pod | None, api: PlayedApi, budgets: PlayedBudgets, onlooker: EvictionObserver
) -> Answer:
    """Change the pod that is meant; None if it no longer exists."""
    match effect:
        case EvictPod():
            return evict(effect, pod, api, budgets, onlooker)
        case DeletePod():
            return delete(effect, pod, api, onlooker)
        case _:
            if pod is None:
                return Answer.NOT_FOUND
            _change(effect, api, pod)
            return Answer.DONE


def _create(wanted: CreatePlaceholder, api: PlayedApi, settings: PlaceholderSettings) -> str:
    """Create a placeholder. The answer: why it was refused, empty if it was created.

    See `extender.kube.effects.placeholders`. Nothing in a scenario depends on the image.
    """
    there = api.pod_named(wanted.namespace, wanted.name)
    if there is not None:
        taken = not there.facts.placeholder or there.facts.owner != wanted.originator.uid
        return f"pod {wanted.name} is there already and is no placeholder of this gang" if taken else ""
    body = placeholder_pod(wanted, settings)
    try:
        api.post_pod(msgspec.json.decode(msgspec.json.encode(body)))
    except Refusal as refusal:
        return str(refusal)
    return ""


def _pod(api: PlayedApi, uid: PodUid, namespace: str, name: str) -> Pod | None:
    """The pod that an effect is for. Another pod may have its name by now."""
    pod = api.pod_named(namespace, name)
    return pod if pod is not None and pod.uid == uid else None


def _change(effect: Effect, api: PlayedApi, pod: Pod) -> None:
    match effect:
        case WakePod():
            api.annotate(pod, {WAKE_ANNOTATION: effect.token})
        case WriteRecord():
            api.annotate(pod, dict(effect.entries))
        case OpenGate():
            api.open_gate(pod)
        case NominateNode():
            api.set_status(pod, None, nominated=effect.node)
        case MarkFailed():
            if not pod.terminal:
                api.finish(pod, "Failed")
        case SetCondition(_, _, _, kind, status, reason, message):
            said = {"type": kind, "status": str(status), "reason": reason, "message": message}
            api.set_status(pod, said)


def _tell(effect: Effect, learn: Learn, reached: Answer, why: str = "") -> None:
    outcome = outcome_of(effect, reached, why=why)
    if outcome is not None:
        learn(outcome)
