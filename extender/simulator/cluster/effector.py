"""What the API server does when an effect reaches it, in the played world.

See `extender.kube.effects.effector`.
"""

from collections.abc import Callable

import msgspec

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import (
    CreatePlaceholder,
    DeletePod,
    Effect,
    EndWait,
    EvictPod,
    LookUpGroups,
    MarkFailed,
    NominateNode,
    OpenGate,
    PostBinding,
    PostEvent,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.ledger.outcomes import CreationOutcome
from extender.simulator.cluster.api_server import PlayedApi, Pod, Refusal
from extender.simulator.cluster.budgets import PlayedBudgets
from extender.simulator.cluster.eviction import EvictionObserver, delete, evict
from extender.wire.placeholder import PlaceholderSettings, placeholder_pod

WAKE_ANNOTATION = "paddock.dev/wake"

DEFAULTS = PlaceholderSettings()

Learn = Callable[[on.Event], None]


def act(
    effect: Effect,
    api: PlayedApi,
    budgets: PlayedBudgets,
    onlooker: EvictionObserver,
    learn: Learn,
    *,
    placeholders: PlaceholderSettings = DEFAULTS,
) -> None:
    """Carry an effect out and tell how it ended."""
    match effect:
        case LookUpGroups(user):
            # A run must not depend on the host it runs on.
            learn(on.GroupsResolved(user, (user,)))
        case PostEvent() | PostBinding() | EndWait():
            pass
        case EvictPod():
            pod = _pod(api, effect.uid, effect.namespace, effect.name)
            outcome = evict(effect, pod, api, budgets, onlooker)
            learn(on.PodEvicted(effect.uid, outcome, effect.preemptor))
        case DeletePod():
            pod = _pod(api, effect.uid, effect.namespace, effect.name)
            outcome = delete(effect, pod, api, onlooker)
            learn(on.PodEvicted(effect.uid, outcome, effect.preemptor))
        case CreatePlaceholder():
            learn(_create(effect, api, placeholders))
        case _:
            pod = _pod(api, effect.uid, effect.namespace, effect.name)
            if pod is not None:
                _change(effect, api, pod)
            _tell(effect, learn, reached=pod is not None)


def _create(
    wanted: CreatePlaceholder, api: PlayedApi, settings: PlaceholderSettings
) -> on.PlaceholderCreated:
    """See `extender.kube.effects.placeholders`. Nothing in a scenario depends on the image."""
    there = api.pod_named(wanted.namespace, wanted.name)
    if there is not None:
        taken = not there.facts.placeholder or there.facts.owner != wanted.originator.uid
        why = f"pod {wanted.name} is there already and is no placeholder of this gang" if taken else ""
        return _created(wanted, why)
    body = placeholder_pod(wanted, settings)
    try:
        api.post_pod(msgspec.json.decode(msgspec.json.encode(body)))
    except Refusal as refusal:
        return _created(wanted, str(refusal))
    return _created(wanted)


def _created(wanted: CreatePlaceholder, refused: str = "") -> on.PlaceholderCreated:
    outcome = CreationOutcome.REFUSED if refused else CreationOutcome.DONE
    return on.PlaceholderCreated(wanted.app, wanted.name, outcome, refused)


def _pod(api: PlayedApi, uid: PodUid, namespace: str, name: str) -> Pod | None:
    """The pod an effect is for; another one may have its name by now."""
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


def _tell(effect: Effect, learn: Learn, *, reached: bool) -> None:
    match effect:
        case WakePod() | OpenGate():
            learn(on.PodWoken(effect.uid, reached=reached))
        case NominateNode():
            learn(on.NodeNominated(effect.uid, effect.node, reached=reached))
        case WriteRecord():
            learn(on.RecordWritten(effect.uid, effect.entries, reached=reached))
        case SetCondition() if not reached:
            learn(on.GateToldNot(effect.uid))
        case _:
            pass
