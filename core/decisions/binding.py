"""Rule behind bind: whether a Binding may be posted."""

from core.decisions.admission import decide_admission
from core.decisions.decision import (
    Admitted,
    Binding,
    BindNow,
    BindWaits,
    BoundAlready,
    Faulted,
    Refused,
)
from core.ids import NodeName, PodUid
from core.instants import has_come
from core.ledger.events import BindCalled, BindFailed, PodRefused
from core.ledger.gangs.index import is_promised, slot_node
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.reasons import next_sent
from core.workload.pod_group import Group


def decide_binding(view: LedgerView, uid: PodUid, node: NodeName, *, now: float) -> Binding:
    """Decide whether to bind a pod to ``node``, and what to charge for it.

    With a live reservation the quota is already held. Without one, the reservation has expired or a restart
    has lost it, so the pod is admitted again. No turn is needed after filter.
    """
    record = view.pod(uid)
    if record is not None and record.node == node:
        return BoundAlready()
    overtaken = _overtaken(view, record, now=now) if record is not None else None
    if overtaken is not None:
        return overtaken
    verdict = decide_admission(view, uid, now=now, in_turn=False, offered=lambda: (node,))
    group = view.unopened(record) if record is not None else None
    if isinstance(verdict, (Refused, Faulted)):
        return verdict
    if not isinstance(verdict, Admitted):
        return BindNow((BindCalled(uid, node),))
    if group is not None:
        return _with_the_others(group, verdict, uid, node, now=now)
    return BindNow((*verdict.events, BindCalled(uid, node)))


def _overtaken(view: LedgerView, record: PodRecord, *, now: float) -> Refused | None:
    """Refuse a pod whose reserved capacity was taken by forced pods, and end its reservation.

    Usage includes the reservation, so a queue within its max refuses no pod. A Binding that may already have
    been sent is completed. A member takes no more than its placeholder had.
    """
    application = view.application(record.membership.application) if record.membership.application else None
    queue = view.queue_of(record)
    holds_more = is_promised(record) and not (record.placement.binding or slot_node(record))
    if not holds_more or application is None or queue is None:
        return None
    refusal = view.quota_check.excess(queue.chain, application.claimant, record.facts.size)
    if refusal is None:
        return None
    sent = next_sent(record.admission.sent, refusal, generation=view.generation, now=now)
    return Refused(
        refusal, sent, (PodRefused(record.uid, refusal, sent), BindFailed(record.uid, certain=True))
    )


def _with_the_others(group: Group, admitted: Admitted, uid: PodUid, node: NodeName, *, now: float) -> Binding:
    """Let a member of a pod group wait for the others (COS-5). A member that is too late fails.

    A restart loses turns and waits, so bind calls without a turn wait, too.
    """
    if group.backs_off_until is not None and not has_come(group.backs_off_until, now=now):
        return Faulted(f"the members of pod group {group.key.name} have just waited in vain")
    return BindWaits((*admitted.events, BindCalled(uid, node, waits=True)))
