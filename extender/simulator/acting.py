"""What the API server does when an effect reaches it, in the played world; see `extender.kube.effector`."""

from collections.abc import Callable

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import (
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
from extender.simulator.api import PlayedApi, Pod
from extender.simulator.budgets import PlayedBudgets
from extender.simulator.evicting import Onlooker, delete, evict

WAKE_ANNOTATION = "paddock.dev/wake"

Learn = Callable[[on.Event], None]


def act(effect: Effect, api: PlayedApi, budgets: PlayedBudgets, onlooker: Onlooker, learn: Learn) -> None:
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
        case _:
            pod = _pod(api, effect.uid, effect.namespace, effect.name)
            if pod is not None:
                _change(effect, api, pod)
            _tell(effect, learn, reached=pod is not None)


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
