"""Explanation of the current verdict on a pod, with its numbers, for people."""

from dataclasses import dataclass

from core.decisions.admission import refusal_of
from core.decisions.gating import why_gated
from core.decisions.waiting import requeue_reason, why_waits
from core.ids import QueuePath
from core.ledger.gangs.index import is_promised
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import RequeueReason
from core.ledger.view import LedgerView
from core.queues.headroom import headroom
from core.queues.queue import Queue
from core.reasons import Refusal
from core.resource import Limit, Resource


@dataclass(frozen=True, slots=True)
class QueueNumbers:
    """Numbers of one queue on the path to the root. Amounts as in `Queue`. ``max``: None for no limit."""

    path: QueuePath
    max: Limit | None
    allocated: Resource
    reserved: Resource
    pending: Resource


@dataclass(frozen=True, slots=True)
class Explanation:
    """Current verdict on a pod.

    ``state``: unmanaged, bound, reserved, gated, leaving or pending. ``headroom``: QUO-3, or None.
    ``requeued``: reason why the last cycle did not admit an ask of this kind; None if it did.
    ``message``: sentence that says why the pod waits and for what; empty if it does not wait.
    """

    state: str
    refusal: Refusal | None
    queues: tuple[QueueNumbers, ...]
    headroom: Limit | None
    requeued: RequeueReason | None
    message: str = ""


def explain(view: LedgerView, record: PodRecord) -> Explanation:
    """Return the verdict that a filter call would get now. Changes nothing."""
    state = _state(record)
    queue = view.queue_of(record)
    refusal = refusal_of(view, record) if state == "pending" else None
    chain = queue.chain if queue else ()
    return Explanation(
        state,
        refusal,
        tuple(_numbers(each) for each in chain),
        headroom(chain) if queue else None,
        requeue_reason(view, record) if state == "pending" else None,
        _message(view, record, refusal) if state == "pending" else "",
    )


def _message(view: LedgerView, record: PodRecord, refusal: Refusal | None) -> str:
    if refusal is None and record.is_gated and not view.has_turn(record.uid):
        refusal = why_gated(view, record)
    return why_waits(view, record, refusal) if refusal is not None else ""


def _state(record: PodRecord) -> str:
    if record.node:
        return "bound"
    if record.facts.deleting:
        return "leaving"
    if not record.membership.managed:
        return "unmanaged"
    if is_promised(record):
        return "reserved"
    return "pending" if record.is_ask else "gated"


def _numbers(queue: Queue) -> QueueNumbers:
    return QueueNumbers(
        queue.path,
        queue.max,
        queue.allocated.as_resource(),
        queue.reserved.as_resource(),
        queue.pending.as_resource(),
    )
