"""Carrying plans out (design section 4): each step waits for the one before, so that a restart finds its way.

First the ask says by which plan which node is kept for it; then each victim says for whom it goes; then it is
evicted. What was written is taken off when the ask has its place, or the plan has come to nothing.
"""

from typing import assert_never

from core.ids import PodUid, QueuePath
from core.instants import has_come
from core.ledger import events as on
from core.ledger.effects import DeletePod, EvictPod
from core.ledger.events import EvictionOutcome
from core.ledger.keeping import let_go, note_kept
from core.ledger.marks import mark, spare, tell, trigger, undo, write, write_plan, write_victim
from core.ledger.reclaiming import reclaimed
from core.ledger.record import PodRecord
from core.ledger.state import Offer, State
from core.ledger.tries import note_tried
from core.workload.pod import PREEMPTED_FOR, TRIGGERED

OFFERED_FOR = 5.0
"""Seconds in which kube-scheduler may take a plan it was told of."""


def note_preemption(state: State, event: on.PreemptionMark) -> None:
    """What was decided about preemption; of a pod that is gone nothing is noted."""
    if isinstance(event, on.QuotaReclaimed):
        _reclaim(state, event)
        return
    record = state.pods.get(event.uid)
    if record is None:
        return
    match event:
        case on.PreemptionTried():
            note_tried(state, record)
        case on.PlanOffered(_, plan, node, victims):
            state.offers[record.uid] = Offer(plan, node, victims, state.now)
        case on.PlanCommitted(_, plan, node, victims):
            _commit(state, record, Offer(plan, node, victims, state.now))
        case _:
            raise AssertionError(event)


def _commit(state: State, record: PodRecord, plan: Offer) -> None:
    state.offers.pop(record.uid, None)
    if not record.is_ask or state.kept.get(plan.node, record.uid) != record.uid:
        return
    if record.keeps != plan.node:
        let_go(state, record)
        note_kept(state, record, plan.node)
    trigger(state, record, plan.plan)
    for chosen in plan.victims:
        victim = state.pods.get(chosen.uid)
        if victim is not None and victim.node:
            mark(state, victim, record.uid, chosen.why)
    write_plan(state, record)


def _reclaim(state: State, event: on.QuotaReclaimed) -> None:
    reclaimed(state, event.queue)
    for chosen in event.victims:
        victim = state.pods.get(chosen.uid)
        if victim is not None and victim.node:
            mark(state, victim, event.queue, chosen.why)
            write_victim(state, victim)


# -- what follows when a write or an eviction has ended --------------------------------------------------


def go_on(state: State, event: on.RecordWritten) -> None:
    """The next step of a plan, or its end when this one failed."""
    entries = dict(event.entries)
    if plan := entries.get(TRIGGERED):
        _ask_written(state, event.uid, plan, reached=event.reached)
    if entries.get(PREEMPTED_FOR):
        _victim_written(state, event.uid, reached=event.reached)


def _ask_written(state: State, uid: PodUid, plan: str, *, reached: bool) -> None:
    record = state.pods.get(uid)
    if record is not None and record.triggered == plan and not reached:
        # Nobody was evicted; perhaps another instance is the one that acts.
        record.plans -= 1
        undo(state, record)
        return
    stands = record is not None and record.triggered == plan
    for each in list(state.victims.get(uid, ())):
        victim = state.pods[each]
        if not stands:
            spare(state, victim)
        else:
            # Also on one that kube-scheduler has sent away already: a restart must know what is awaited.
            write_victim(state, victim)


def _victim_written(state: State, uid: PodUid, *, reached: bool) -> None:
    record = state.pods.get(uid)
    if record is None or record.preempted_for is None or record.facts.deleting:
        return
    if reached and stands(state, record.preempted_for):
        evict(state, record)
    else:
        _give_up(state, record)


def stands(state: State, preemptor: PodUid | QueuePath) -> bool:
    """Whether the plan of an ask, or the preemption of a queue, is still on."""
    ask = state.pods.get(PodUid(preemptor))
    return bool(ask.triggered) if ask is not None else state.tree.get(preemptor) is not None


def evict(state: State, record: PodRecord) -> None:
    """Ask for a victim to go."""
    facts, preemptor = record.facts, PodUid(record.preempted_for or "")
    kind = DeletePod if state.settings.preemption.direct_delete else EvictPod
    why = record.preempted_why
    state.outbox.append(kind(facts.uid, facts.namespace, facts.name, preemptor=preemptor, why=why))


def note_eviction(state: State, event: on.PodEvicted) -> None:
    """How the eviction of a victim has ended; that it goes is seen by its deletionTimestamp."""
    record = state.pods.get(event.uid)
    if record is None:
        return
    match event.outcome:
        case EvictionOutcome.DONE | EvictionOutcome.GONE:
            record.eviction = event.outcome
        case EvictionOutcome.BUDGET | EvictionOutcome.FAILED:
            record.eviction = None
            if record.preempted_for is not None and not record.facts.deleting:
                _give_up(state, record)
        case _:
            assert_never(event.outcome)


def _told(state: State, record: PodRecord) -> str:
    """PRE-20, and the receipt."""
    ask = state.pods.get(PodUid(record.preempted_for or ""))
    if ask is None and state.tree.get(QueuePath(record.preempted_for or "")) is None:
        return f"Preempted by a pod that is gone by now. {record.preempted_why}"
    if ask is None:
        return f"Preempted because the quota of {record.preempted_for} shrank. {record.preempted_why}"
    facts, application = ask.facts, state.applications.get(ask.application) if ask.application else None
    where = f"application {application.id} in {application.queue}" if application else "no application"
    return f"Preempted by {facts.namespace}/{facts.name} from {where}. {record.preempted_why}"


def _give_up(state: State, record: PodRecord) -> None:
    """A victim stays: its plan is short of room, and another one is looked for."""
    ask = state.pods.get(PodUid(record.preempted_for or ""))
    spare(state, record)
    if ask is None or not ask.triggered:
        return
    if any(state.pods[each].eviction for each in state.victims.get(ask.uid, ())):
        # Others are on their way out: what they leave is kept.
        ask.triggered = ""
        write(state, ask, (TRIGGERED, None))
    else:
        ask.plans -= 1
        undo(state, ask)


# -- offers, and pods that go ----------------------------------------------------------------------------


def note_leaving(state: State, record: PodRecord) -> None:
    """A pod is being deleted, or is gone: kube-scheduler may have taken an offer. A victim is told why.

    A pod that is given no time to end is gone before its eviction is answered.
    """
    for uid, offer in list(state.offers.items()):
        ask = state.pods.get(uid)
        if ask is not None and any(each.uid == record.uid for each in offer.victims):
            _commit(state, ask, offer)
    if record.preempted_for is not None and not record.facts.deleting:
        tell(state, record, _told(state, record))


def drop_offers(state: State) -> None:
    """Offers that were not taken."""
    for uid, offer in list(state.offers.items()):
        if uid not in state.pods or has_come(offer.at + OFFERED_FOR, now=state.now):
            del state.offers[uid]
