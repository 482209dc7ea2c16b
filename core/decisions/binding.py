"""May this Binding be posted? The rule behind bind."""

from core.decisions.admission import decide_admission
from core.decisions.decision import Admitted, Binding, BindNow, BoundAlready, Faulted, Refused
from core.ids import NodeName, PodUid
from core.ledger.events import BindCalled
from core.ledger.snapshot import Snapshot


def decide_binding(snapshot: Snapshot, uid: PodUid, node: NodeName, *, now: float) -> Binding:
    """Whether to bind a pod to ``node``, and what to charge for it.

    With a live reservation the quota is held already; without one the pod is admitted anew, because the
    time may have run out or this process may have forgotten it in a restart. Its turn it had at filter.
    """
    record = snapshot.pod(uid)
    if record is not None and record.node == node:
        return BoundAlready()
    verdict = decide_admission(snapshot, uid, now=now, in_turn=False, offered=lambda: (node,))
    match verdict:
        case Admitted(events, _):
            return BindNow((*events, BindCalled(uid, node)))
        case Refused() | Faulted():
            return verdict
        case _:
            return BindNow((BindCalled(uid, node),))
