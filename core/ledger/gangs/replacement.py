"""Members of a gang take over the room of its placeholders (GANG-10 to GANG-13, design section 5).

A member is linked with a placeholder, which is written on it; then the placeholder is deleted, and when the
watch shows that it is gone the member holds its room, is nominated to the node and tried. The ledger charges
the placeholder up to that moment and the member from then on, so the pair counts once.
"""

from collections.abc import Iterator

from core.ids import NO_NODE, NodeName
from core.instants import has_come
from core.ledger.admission.gate_opening import charge_opened
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import wake_anew
from core.ledger.effects import NominateNode
from core.ledger.gangs import slots
from core.ledger.gangs.due import arm, disarm, gangs_whose_time_has_come, take_touched_gangs, touch_gang
from core.ledger.gangs.index import awaits_gang, gang_progress_of, progress_of, unfile
from core.ledger.gangs.lifecycle import advance, count_cancelled, count_taken_over, forget_made
from core.ledger.gangs.matching import clear_line, close, line_up, link_members, link_next, touch_elsewhere
from core.ledger.gangs.release import AGAIN, delete, forget_release, left_over, release, try_again
from core.ledger.node_reservation.reservation import believe_nomination, nominate, note_kept, take_back
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord, Slot
from core.ledger.pods.reports import write
from core.ledger.state.admission import CycleReason
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.workload.application import Application
from core.workload.gangs.phase import GangPhase
from core.workload.gangs.progress import GangProgress, TaskGroupProgress
from core.workload.nodes.node import NodeUse
from core.workload.pod import OWN_GATE, REPLACES, RESERVED_NODE

OPEN_AT_MOST = 10.0
"""Seconds from kube-scheduler's first try of a member whose room is there to its Binding."""

UNTRIED_AT_MOST = 300.0
"""Seconds from the end of a placeholder to that try: thousands may stand in kube-scheduler's queue before its
member, each of which takes it 50 ms while the API server is busy, or another replica must come to lead."""

TRIED_APART = 2.0
"""Seconds from the first wake-up of a member whose room is there to the second; then four times as many,
since one that is slow to come most likely stands in a long queue."""


def advance_all(state: State) -> Rounds:
    """Look at every gang in which something has changed, and go on with those that are in line."""
    yield from _look_at_stirred(state)
    while link_next(state):
        yield from link_members(state)
        yield from _look_at_stirred(state)


def _look_at_stirred(state: State) -> Rounds:
    for app_id in take_touched_gangs(state):
        application = state.applications.known.get(app_id)
        if application is None or application.gang_progress is None:
            disarm(state, app_id)
            continue
        gang_progress = application.gang_progress
        advance(state, application, gang_progress)
        yield
        if gang_progress.phase is GangPhase.STARTED:
            close(state, gang_progress)
            yield
            line_up(state, application, gang_progress)
        arm(state, application, gang_progress)


def seek_again(state: State) -> Rounds:
    """Room has become free: members that no node took come before asks that wait for their turn (APP-18)."""
    touch_elsewhere(state)
    yield from advance_all(state)


def gangs_due(state: State) -> Rounds:
    """Gangs whose moment has come, and members whose room is there."""
    for app_id in gangs_whose_time_has_come(state):
        application = state.applications.known[app_id]
        if (gang_progress := application.gang_progress) is None:
            continue
        touch_gang(state, app_id)
        if gang_progress.rests_until is not None and has_come(gang_progress.rests_until, now=state.now):
            gang_progress.rests_until = None
        if gang_progress.retry_at is not None and has_come(gang_progress.retry_at, now=state.now):
            _repeat(state, application, gang_progress)
    for uid in sorted(state.gangs.slots_at):
        watch(state, state.pods.records[uid])
        yield


def slots_due(state: State) -> Iterator[float]:
    """When members whose room is there are to be looked at."""
    for uid in state.gangs.slots_at:
        member = state.pods.records[uid]
        if member.gang.slot is None or member.gang.slot.opened is None or member.placement.binding:
            continue
        if not _is_bound_soon(member):
            yield _late_at(member.gang.slot, member.gang.slot.opened)
        again = _call_again_at(member, member.gang.slot)
        if again is not None:
            yield again


def room_taken(state: State, node: NodeName) -> Rounds:
    """A pod in no queue is on a node: it may have taken what was there for a member."""
    for uid in sorted(state.gangs.slots.get(node, ())):
        watch(state, state.pods.records[uid])
        yield


def _call_again_at(member: PodRecord, slot: Slot) -> float | None:
    """When it is woken once more, if only a wake-up makes kube-scheduler try it."""
    if not (member.admission.refused or OWN_GATE in member.facts.gates):
        return None
    if member.admission.woken_at is None:
        # It had not been refused when its room was there, and was tried before its node was known.
        return slot.opened
    return member.admission.woken_at + TRIED_APART * 4.0 ** max(0, slot.called - 1)


def _repeat(state: State, application: Application, gang_progress: GangProgress) -> None:
    """What was not answered well is asked for again."""
    gang_progress.retry_at = None
    forget_made(state, gang_progress)
    if not state.acts:
        return
    for uid in sorted(application.holders):
        record = state.pods.records[uid]
        member = state.pods.records.get(record.gang.yields_to)
        asked = record.gang.released or (member is not None and bool(member.facts.replaces))
        if asked and not record.facts.deleting and record.preemption.eviction is None:
            delete(state, record)
            try_again(state, gang_progress)


# -- the steps of one take-over ----------------------------------------------------------------------------


def nominate_member(member: PodRecord, slot: Slot) -> tuple[NominateNode, ...]:
    """Nominate a member to the node of its slot."""
    return nominate(member, slot.node, Purpose.REPLACEMENT)


def make_room(state: State, member: PodRecord) -> Rounds:
    """Delete the placeholder of a member that says so, or go on if it is gone."""
    holder = state.pods.records.get(member.gang.slot.placeholder) if member.gang.slot is not None else None
    if holder is None:
        yield from _open(state, member)
    elif not holder.facts.deleting:
        delete(state, holder)


def holder_gone(state: State, record: PodRecord) -> Rounds:
    """A placeholder is gone, and what it held is free in the ledger."""
    if record.membership.application is None:
        return
    member = state.pods.records.get(record.gang.yields_to) if record.gang.yields_to else None
    if member is None or member.gang.slot is None or member.gang.slot.placeholder != record.uid:
        left_over(state, record.membership.application, record)
    elif member.gang.slot.node not in state.cluster.nodes:
        left_over(state, record.membership.application, record)
        _wait_again(state, member)
    else:
        yield from _open(state, member)


def member_gone(state: State, record: PodRecord) -> None:
    """A member that was about to take room over is gone."""
    slot = record.gang.slot
    if slot is None or record.node:
        return
    holder = state.pods.records.get(slot.placeholder)
    if holder is not None:
        _give_back(state, holder)
    elif record.membership.application is not None:
        left_over(state, record.membership.application, record)


def _give_back(state: State, holder: PodRecord) -> None:
    """It may be taken over by another, unless it is on its way out already."""
    slots.unyield(holder)
    gang_progress, progress = gang_progress_of(state, holder), progress_of(state, holder)
    if gang_progress is not None:
        gang_progress.swept = False
    if progress is not None and progress.closed and not (holder.gang.released or holder.facts.deleting):
        _reopen(state, holder, progress)
    touch(state, holder)


def _reopen(state: State, holder: PodRecord, progress: TaskGroupProgress) -> None:
    """There is a placeholder after all: members wait for it again."""
    progress.closed = False
    application = state.application_of(holder)
    for uid in sorted(application.pods if application is not None else ()):
        record = state.pods.records[uid]
        if record.facts.task_group == progress.group.name and record.is_ask:
            touch(state, record)


def _wait_again(state: State, member: PodRecord) -> None:
    """The node on which it was to take room over is lost (GANG-19)."""
    slots.drop_slot(member)
    take_back(state, member)
    _withdraw(state, member)
    touch(state, member)


def _open(state: State, member: PodRecord) -> Rounds:
    """From now on the member holds the room."""
    if member.gang.slot is not None:
        slots.open_slot(member, now=state.now)
        touch(state, member)
        yield
        _call(state, member, member.gang.slot)


def _call(state: State, member: PodRecord, slot: Slot) -> None:
    """Make kube-scheduler try a member whose room is there."""
    slots.note_called(member, slot)
    emit(state, *nominate_member(member, slot))
    wakes = wake_anew(state, member)
    emit(state, *wakes)
    charge_opened(state, wakes)


def watch(state: State, member: PodRecord) -> None:
    """Give room back that its member does not take, or that somebody else took."""
    slot = member.gang.slot
    if slot is None or slot.opened is None or member.placement.binding:
        return
    late = has_come(_late_at(slot, slot.opened), now=state.now) and not _is_bound_soon(member)
    again = _call_again_at(member, slot)
    if slot.node not in state.cluster.nodes or late or _is_taken(state, member, slot.node):
        _cancel(state, member, slot)
    elif again is not None and has_come(again, now=state.now):
        _call(state, member, slot)


def _is_taken(state: State, member: PodRecord, name: NodeName) -> bool:
    """Whether more is on a node than fits there, with what is held for members. A turn takes no room away,
    nor does an ask that was let through: those may go elsewhere."""
    kinds = list(member.facts.size.names())
    free = state.usage.free_capacity.free_on(name)
    if all(free.get(kind, 0) >= 0 for kind in kinds):
        return False
    there = [state.pods.records[uid] for uid in state.usage.uses.get(name, NodeUse()).pods]
    certain = [each.facts.size for each in there if each.node or each.placement.binding or each.gang.slot]
    room = state.cluster.nodes[name].allocatable
    return any(sum(size.get(kind) for size in certain) > room.get(kind) for kind in kinds)


def _late_at(slot: Slot, opened: float) -> float:
    """When a member has not taken its room."""
    return opened + UNTRIED_AT_MOST if slot.tried is None else slot.tried + OPEN_AT_MOST


def _is_bound_soon(member: PodRecord) -> bool:
    """It was let through, and its time stands still: PreBind is under way."""
    return member.admission.reservation is not None and member.admission.reservation.ends is None


def _cancel(state: State, member: PodRecord, slot: Slot) -> None:
    """A take-over comes to nothing: the member is an ordinary ask now, with first claim on its node."""
    progress = progress_of(state, member)
    slots.drop_slot(member)
    slots.note_forgone(member)
    count_cancelled(state)
    if progress is not None:
        progress.timed_out += 1
    take_back(state, member)
    is_free = slot.node in state.cluster.nodes and slot.node not in state.reservations.of
    if is_free and not member.node_reservation.node and member.admission.reservation is None:
        note_kept(state, member, slot.node)
    kept = member.node_reservation.node
    purpose = Purpose.NODE_RESERVATION if kept else Purpose.WITHDRAWAL
    write(state, member, purpose, (RESERVED_NODE, kept or None), (REPLACES, None))
    touch(state, member)
    request_cycle(state, CycleReason.GROUP_CHANGED)


def unlink(state: State, member: PodRecord, slot: Slot) -> None:
    """Nothing has happened yet: member and placeholder wait again. What was asked for may be there all the
    same, and a later start must not believe it."""
    gang_progress = gang_progress_of(state, member)
    slots.drop_slot(member)
    _withdraw(state, member)
    holder = state.pods.records.get(slot.placeholder)
    if holder is not None:
        _give_back(state, holder)
    touch(state, member)
    if gang_progress is not None and member.membership.application is not None:
        gang_progress.rests_until = state.now + AGAIN
        touch_gang(state, member.membership.application)


def _withdraw(state: State, record: PodRecord) -> None:
    write(state, record, Purpose.WITHDRAWAL, (RESERVED_NODE, None), (REPLACES, None))


def note_placed(state: State, record: PodRecord) -> Rounds:
    """A member is on its node: its take-over is complete."""
    slot = record.gang.slot
    if slot is None or not record.node:
        return
    yield
    progress = progress_of(state, record)
    slots.drop_slot(record)
    believe_nomination(record, NO_NODE)
    count_taken_over(state)
    if progress is not None:
        progress.replaced += 1
    holder = state.pods.records.get(slot.placeholder)
    if holder is not None:
        # It went elsewhere before its placeholder was gone.
        slots.unyield(holder)
        touch(state, holder)
        release(state, holder)


# -- after a restart ---------------------------------------------------------------------------------------


def dissolve(state: State) -> None:
    """Forget what was made of the gangs; it is made anew of what is on the objects."""
    formed = [each for each in state.applications.known.values() if each.gang_progress is not None]
    members = [state.pods.records[uid] for each in formed for uid in sorted(each.pods)]
    for record in members:
        unfile(state, record)
        slots.unyield(record)
        forget_release(record)
        slots.forget_forgone(record)
    clear_line(state)
    for application in formed:
        application.gang_progress = None
        disarm(state, application.id)
    for record in members:
        touch(state, record)


def remember_slot(state: State, record: PodRecord) -> None:
    """A pod is seen for the first time that says whose room it takes."""
    facts = record.facts
    if record.is_ask and facts.reserved_node:
        slots.take_slot(record, facts.replaces, facts.reserved_node, now=state.now)
        is_nominated = facts.nominated == facts.reserved_node
        believe_nomination(record, facts.reserved_node if is_nominated else NO_NODE)
    elif not record.node:
        _withdraw(state, record)


def resume_slots(state: State) -> Rounds:
    """All pods have been seen: take-overs go on where they stood."""
    for uid in sorted(state.pods.records):
        record = state.pods.records[uid]
        if record.gang.slot is None or record.gang.slot.opened is not None:
            continue
        holder = state.pods.records.get(record.gang.slot.placeholder)
        known = record.gang.slot.node in state.cluster.nodes and (
            holder is None or slots.is_free_for(holder, record)
        )
        if not (known and awaits_gang(state, record)):
            slots.drop_slot(record)
            _withdraw(state, record)
            touch(state, record)
        elif holder is None:
            yield from _open(state, record)
        else:
            slots.yield_to(holder, uid)
            touch(state, holder)
            yield from make_room(state, record)
