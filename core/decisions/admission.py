"""Rules behind filter and preempt: admission of a pod, and victims for it."""

from collections.abc import Callable, Iterable, Sequence

from core.decisions.decision import (
    Admission,
    Admitted,
    Faulted,
    Ignored,
    Offered,
    Preemption,
    Refused,
    Vetoed,
    Withheld,
)
from core.decisions.gangs import refusal_of_gang_pod, refusal_of_group
from core.decisions.preemption.contention import hold
from core.ids import NodeName, PodUid
from core.ledger.events import PodAdmitted, PodRefused
from core.ledger.gangs.index import holds_otherwise, is_promised, slot_node
from core.ledger.pods.record import PodRecord
from core.ledger.retry_view import RetryView, retry_view
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.queues.quota_check import Extra, negated
from core.reasons import Code, Refusal, next_sent
from core.resource import Resource, Tally
from core.workload.application import Application

POD_DELETED = Faulted("pod is gone")
NODE_RESERVED = Refusal(Code.NODE_RESERVED, "kept for another pod")
"""Refusal for reserved nodes. Its text is always the same, because kube-scheduler counts equal texts."""

_ORDER = tuple(Code)
_NOTHING = Resource({})
_NO_NODES: Callable[[], Sequence[NodeName]] = tuple


def decide_admission(
    view: LedgerView,
    uid: PodUid,
    *,
    now: float,
    in_turn: bool = True,
    offered: Callable[[], Sequence[NodeName]] = _NO_NODES,
) -> Admission:
    """Decide whether a pod has quota and capacity (QUO-7, QUO-8) and its turn. Cost: O(depth).

    A live reservation means that a Binding for the pod may still succeed, so its quota stays held. A new
    filter call without an open bind call ends the reservation, so it counts as free (DESIGN-3). ``in_turn``:
    True for filter, where other asks may go first. ``offered``: the nodes to choose from, called only while
    some node is reserved for another ask (CYC-2).
    """
    record = view.pod(uid)
    if record is None or record.facts.deleting:
        return POD_DELETED
    if record.node:
        return Faulted(f"pod is already bound to {record.node}")
    if not record.membership.managed:
        return Ignored()
    promised = is_promised(record)
    if in_turn and record.admission.reservation is not None and not record.placement.binding:
        promised, view = holds_otherwise(record), retry_view(view, record)
    refusal = None if promised and not _is_ended(view, record) else refusal_of(view, record, in_turn=in_turn)
    besides: tuple[NodeName, ...] = ()
    if refusal is None and (view.reserved_nodes or view.slots):
        names = offered()
        besides = held_for_others(view, uid, names)
        refusal = NODE_RESERVED if names and len(besides) == len(names) else None
    if refusal is None:
        return Admitted((PodAdmitted(uid, record.facts.version, called=in_turn),), besides)
    sent = next_sent(record.admission.sent, refusal, generation=view.generation, now=now)
    return Refused(refusal, sent, (PodRefused(uid, refusal, sent, called=in_turn),))


def refusal_of(
    view: LedgerView, record: PodRecord, *, with_root: bool = True, in_turn: bool = True
) -> Refusal | None:
    """Return the first reason why a managed ask must wait now, or None (FORMAT-10).

    ``with_root``: True if a full cluster is such a reason. ``in_turn``: True if asks that go first are such a
    reason. Capacity held by pods without admission does not count against another such pod. Otherwise two of
    them would wait for each other forever (F-7).
    """
    application = view.application(record.membership.application) if record.membership.application else None
    queue = view.queue_of(record)
    if application is not None and application.refusal is not None:
        return application.refusal
    if application is None or queue is None:
        return Refusal(Code.NOT_READY, "the pod is not an ask yet")
    size = record.facts.size
    extra = view.without_own(queue, application) if isinstance(view, RetryView) else None
    if record.bypasses:
        extra = _without_bypassed(queue, application, record)
    found = (
        view.quota_check.refusal(queue.chain, application.claimant, size, extra=extra, with_root=with_root),
        refusal_of_gang_pod(view, record),
        refusal_of_group(view, record, queue),
    )
    reasons = [each for each in found if each is not None]
    refusal = min(reasons, key=lambda each: _ORDER.index(each.code), default=None)
    if refusal is not None or not in_turn or record.bypasses or _has_turn(view, record):
        return refusal
    return hold(view, record, application, queue)


def _is_ended(view: LedgerView, record: PodRecord) -> bool:
    """True if a pod waits because its application was ended, whatever was promised to it (ACT-22)."""
    application = view.application(record.membership.application) if record.membership.application else None
    refusal = application.refusal if application is not None else None
    return refusal is not None and refusal.code is Code.APPLICATION_ENDED


def _without_bypassed(queue: Queue, application: Application, record: PodRecord) -> Extra:
    """Return amounts to leave out of the count for a pod that is charged but was never admitted."""
    extra, size = Extra(), record.facts.size
    # With a reservation it does not count as bypassed.
    own = size if record.admission.reservation is not None else _NOTHING
    for each in queue.chain:
        extra.queues[each.path] = negated(each.bypassed.plus(own))
        for tracked in application.claimant.tracked(each.path):
            extra.people[tracked] = Tally(size.times(-1))
    return extra


def _has_turn(view: LedgerView, record: PodRecord) -> bool:
    """True if an ask has its turn, and so have all members of its pod group."""
    if not view.has_turn(record.uid):
        return False
    group = view.unopened(record)
    return group is None or group.attempts


def held_for_others(view: LedgerView, uid: PodUid, names: Iterable[NodeName]) -> tuple[NodeName, ...]:
    """Return the nodes of ``names`` that are reserved for others, or full of slots that belong to others.

    A pod that may run on one node only may use it even if it is reserved for another ask (RNP-1).
    """
    reserved, record = view.reserved_nodes, view.pod(uid)
    if record is None:
        return ()
    own = slot_node(record)
    if own:
        return tuple(name for name in names if name != own)
    needed = record.daemon.required_node
    return tuple(
        name
        for name in names
        if (reserved.get(name, uid) != uid and name != needed)
        or (name in view.slots and not view.fits_beside(record, name))
    )


def decide_preemption(view: LedgerView, uid: PodUid, offer: Callable[[], Offered | None]) -> Preemption:
    """Decide which victims kube-scheduler may evict for a pod. A managed pod needs a plan (DESIGN-4).

    ``offer()``: returns the plan, if one is due. A full cluster is no reason against preemption.
    """
    record = view.pod(uid)
    if record is None or record.facts.deleting or record.node:
        return POD_DELETED if record is None or record.facts.deleting else Faulted("pod is already bound")
    if not record.membership.managed:
        return Ignored()
    if view.unopened(record) is not None or record.bypasses:
        # Victims for one member would be evicted in vain if the others find no capacity. A pod that was never
        # admitted gets no victims.
        return Withheld()
    offered = None if record.admission.reservation else offer()
    if offered is not None:
        return offered
    refusal = None if is_promised(record) else refusal_of(view, record, with_root=False, in_turn=False)
    return Withheld() if refusal is None else Vetoed(refusal)
