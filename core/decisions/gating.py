"""Rule that says why a pod waits at the gate. It is applied regularly, since no verb asks about such pods."""

from core.decisions.admission import NODE_RESERVED, refusal_of
from core.decisions.waiting import why_waits
from core.ids import PodUid
from core.ledger.events import GateHeld
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.reasons import Code, Refusal, next_sent

NOWHERE = Refusal(Code.UNSCHEDULABLE, "no node has room for it")


def decide_gate(view: LedgerView, uid: PodUid, *, now: float) -> GateHeld | None:
    """Return the report for a gated pod. None if it does not wait there, has a turn, or this was noted."""
    record = view.pod(uid)
    waits = record is not None and record.is_ask and record.is_gated
    if record is None or not waits or record.admission.opening or view.has_turn(uid):
        return None
    refusal = why_gated(view, record)
    sent = next_sent(record.admission.sent, refusal, generation=view.generation, now=now)
    if sent == record.admission.sent and record.admission.hold is not None:
        return None
    why = f"{refusal.text} ({why_waits(view, record, refusal)})"
    return GateHeld(uid, sent, refusal.code, why)


def why_gated(view: LedgerView, record: PodRecord) -> Refusal:
    """Return the reason why an ask at Paddock's gate has no turn.

    An ask without a turn that fits its queues fits on no node, or only on a reserved one.
    """
    refusal = refusal_of(view, record)
    if refusal is not None:
        return refusal
    return NODE_RESERVED if view.reserved_node_could_take(record) else NOWHERE
