"""Execution of plans (DESIGN-4). Each step waits for the one before, so that a restart can continue.

First the ask is annotated with the plan and its reserved node. Then each victim is annotated with the ask.
Then victims are evicted, those with a budget first, so that a refused eviction costs no other pod its place.
Annotations are removed when the ask is placed, or the plan has come to nothing.
"""

from typing import assert_never

from core.ids import NO_POD, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.effects import DeletePod, EvictPod
from core.ledger.node_reservation.reservation import note_reserved_node, release_node
from core.ledger.node_reservation.search import note_reservation_written
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
from core.ledger.preemption.attempts import note_tried
from core.ledger.preemption.in_vain import note_vanished
from core.ledger.preemption.offers import offer
from core.ledger.preemption.plans import end_plan, note_taken, trigger, uncount_plan
from core.ledger.preemption.quota_reclaim import reclaimed
from core.ledger.preemption.reports import report_preemptor, report_victim
from core.ledger.preemption.victims import (
    is_leaving,
    mark,
    note_asked,
    note_marked,
    running,
    spare,
    spare_remaining,
    undo,
    write_plan,
    write_victim,
)
from core.ledger.state.outbox import emit
from core.ledger.state.preemption import Offer, Stage
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.workload.budget import disruptions_left
from core.workload.pod import TRIGGERED


def note_preemption(state: State, event: on.PreemptionMark) -> None:
    """Note a decision about preemption. Nothing is noted of a deleted pod."""
    if isinstance(event, on.QuotaReclaimed):
        _reclaim(state, event)
        return
    record = state.pods.records.get(event.uid)
    if record is None:
        return
    match event:
        case on.PreemptionTried():
            note_tried(state, record)
        case on.PlanOffered(_, plan, node, victims):
            offer(state, record, Offer(plan, node, victims, state.now))
        case on.PlanCommitted(_, plan, node, victims):
            _commit(state, record, Offer(plan, node, victims, state.now))
        case _:
            raise AssertionError(event)


def _commit(state: State, record: PodRecord, plan: Offer) -> None:
    if not record.is_ask or state.reservations.of.get(plan.node, record.uid) != record.uid:
        return
    if state.preemption.offers.get(record.uid) is plan:
        # Its node is reserved already.
        note_taken(state, record)
    elif record.node_reservation.node != plan.node or record.uid in state.preemption.offers:
        release_node(state, record)
        note_reserved_node(state, record, plan.node)
    trigger(state, record, plan.plan)
    for victim, why in running(state, plan.victims):
        mark(state, victim, record.uid, why)
    write_plan(state, record)


def _reclaim(state: State, event: on.QuotaReclaimed) -> None:
    reclaimed(state, event.queue)
    for victim, why in running(state, event.victims):
        mark(state, victim, event.queue, why)
        write_victim(state, victim)


# -- outcomes of writes and evictions ---------------------------------------------------------------------


def note_plan_written(state: State, event: on.RecordWritten) -> None:
    """Note whether the plan is written on its ask. Its victims are next, or the plan ends."""
    plan, record = dict(event.entries).get(TRIGGERED), state.pods.records.get(event.uid)
    if record is not None and record.preemption.triggered not in ("", plan):
        # A late outcome: victims and node belong to a later plan, whose own outcome is still to come.
        return
    if plan:
        _ask_written(state, event.uid, plan, reached=event.reached)
    # The same write names the reserved node.
    note_reservation_written(state, event)


def _ask_written(state: State, uid: PodUid, plan: str, *, reached: bool) -> None:
    record = state.pods.records.get(uid)
    if record is not None and record.preemption.triggered == plan and not reached:
        # No pod was evicted. Perhaps another instance is the acting one.
        uncount_plan(record)
        undo(state, record)
        return
    stands = record is not None and record.preemption.triggered == plan
    if record is not None and stands:
        report_preemptor(state, record)
    for each in list(state.preemption.victims.get(uid, ())):
        victim = state.pods.records[each]
        if not stands:
            spare(state, victim)
        else:
            # Also on a victim that kube-scheduler has evicted already, because a restart must know what is
            # awaited.
            write_victim(state, victim)


def note_victim_written(state: State, event: on.RecordWritten) -> None:
    """Note whether a victim is annotated with its preemptor. It is evicted, or it stays."""
    uid = event.uid
    record = state.pods.records.get(uid)
    if record is None or record.preemption.preempted_for is None or record.facts.deleting:
        return
    if event.reached and stands(state, record.preemption.preempted_for):
        note_marked(state, record)
        send_off(state, record.preemption.preempted_for)
    else:
        _give_up(state, record)


def stands(state: State, preemptor: PodUid | QueuePath) -> bool:
    """True if the plan of an ask, or the quota reclaim of a queue, is still under way."""
    ask = state.pods.records.get(PodUid(preemptor))
    return bool(ask.preemption.triggered) if ask is not None else state.config.tree.get(preemptor) is not None


def send_off(state: State, preemptor: PodUid | QueuePath, *, without: PodUid = NO_POD) -> None:
    """Evict the victims that are next. ``without``: a victim that ends by itself.

    First the victims of an ask that have a budget, one after the other. When the last of them is released,
    all others. A queue evicts one by one, because no ask waits there.
    """
    if not stands(state, preemptor):
        spare_remaining(state, PodUid(preemptor))
        return
    stages = state.preemption.victims.get(preemptor, {})
    staying = [
        state.pods.records[uid]
        for uid in stages
        if uid != without and not _has_begun_to_leave(state.pods.records[uid])
    ]
    guarded = (
        [each for each in staying if _guard(state, each) is not None]
        if preemptor in state.pods.records
        else []
    )
    if any(stages[each.uid] is Stage.ASKED for each in guarded):
        return
    chosen = [min(guarded, key=lambda each: _guard(state, each) or 0)] if guarded else staying
    for victim in chosen:
        if stages[victim.uid] is Stage.MARKED:
            note_asked(state, victim)
            _evict(state, victim)


def _has_begun_to_leave(record: PodRecord) -> bool:
    return record.facts.deleting or record.preemption.eviction is not None


def _guard(state: State, record: PodRecord) -> int | None:
    """Number of pods like this one that its budget allows to be evicted now.

    None if no budget holds it back.
    """
    facts = record.facts
    if state.config.settings.preemption.direct_delete:
        return None
    return disruptions_left(state.cluster.budgets, facts.namespace, facts.labels)


def _evict(state: State, record: PodRecord) -> None:
    facts, preemptor = record.facts, PodUid(record.preemption.preempted_for or "")
    why, place = record.preemption.preempted_why, (facts.uid, facts.namespace, facts.name)
    if state.config.settings.preemption.direct_delete:
        emit(state, DeletePod(*place, preemptor=preemptor, why=why, purpose=Purpose.VICTIM))
    else:
        emit(state, EvictPod(*place, preemptor=preemptor, why=why))


def note_eviction(state: State, event: on.PodEvicted) -> None:
    """Note how the eviction of a victim ended. Its deletionTimestamp shows that it terminates."""
    record = state.pods.records.get(event.uid)
    if record is None:
        send_off(state, event.preemptor)
        return
    match event.outcome:
        case EvictionOutcome.DONE | EvictionOutcome.NOT_FOUND:
            record.preemption.eviction = event.outcome
            send_off(state, record.preemption.preempted_for or event.preemptor)
        case EvictionOutcome.BUDGET | EvictionOutcome.FAILED:
            record.preemption.eviction = None
            if record.preemption.preempted_for is not None and not record.facts.deleting:
                _give_up(state, record)
        case _:
            assert_never(event.outcome)


def _give_up(state: State, record: PodRecord) -> None:
    """Release a victim that stays. Its plan lacks capacity, so another one is searched for."""
    ask = state.pods.records.get(PodUid(record.preemption.preempted_for or ""))
    spare(state, record)
    if ask is not None and ask.preemption.triggered:
        fall_short(state, ask)


def fall_short(state: State, ask: PodRecord) -> None:
    """End a plan that cannot get all its victims.

    The others are released, and another plan is searched for.
    """
    if ask.uid in state.preemption.offers:
        undo(state, ask)
    elif any(
        is_leaving(state, state.pods.records[each]) for each in state.preemption.victims.get(ask.uid, ())
    ):
        # Capacity that its victims leave stays reserved.
        end_plan(ask)
        write(state, ask, Purpose.WITHDRAWAL, (TRIGGERED, None))
        touch(state, ask)
        spare_remaining(state, ask.uid)
    else:
        uncount_plan(ask)
        undo(state, ask)


# -- pods that terminate ----------------------------------------------------------------------------------


def note_leaving(state: State, record: PodRecord) -> None:
    """Handle a pod that is deleted: kube-scheduler may have taken an offer. A victim gets an Event.

    A pod without a grace period is deleted before its eviction is answered.
    """
    if not record.facts.deleting:
        note_vanished(state, record)
    ask = PodUid(record.preemption.preempted_for or "")
    offered = state.preemption.offers.get(ask)
    if offered is not None:
        _commit(state, state.pods.records[ask], offered)
    if record.preemption.preempted_for is not None and not record.facts.deleting:
        report_victim(state, record)
        send_off(state, record.preemption.preempted_for, without=record.uid)
