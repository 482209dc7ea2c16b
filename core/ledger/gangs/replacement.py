"""Replacement of placeholders by members of a gang (GANG-10 to GANG-13, DESIGN-5).

A member is linked with a placeholder, which is written on it. Then the placeholder is deleted. When the watch
shows the deletion, the member holds the capacity, is nominated to the node and tried. The ledger charges the
placeholder up to that moment and the member from then on, so the pair counts once.
"""

from core.ids import NO_NODE
from core.ledger.gangs import slots
from core.ledger.gangs.due import disarm, touch_gang
from core.ledger.gangs.index import awaits_gang, gang_progress_of, progress_of, unfile
from core.ledger.gangs.matching import clear_line
from core.ledger.gangs.open_slots import call_member
from core.ledger.gangs.release import AGAIN, delete, forget_release, left_over, release
from core.ledger.gangs.reports import count_replaced
from core.ledger.node_reservation.reservation import believe_nomination, take_back
from core.ledger.outcomes import Purpose
from core.ledger.pods.parts import Slot
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.workload.gangs.progress import TaskGroupProgress
from core.workload.pod import REPLACES, RESERVED_NODE


def delete_placeholder(state: State, member: PodRecord) -> Rounds:
    """Delete the placeholder of a member whose link is written, or open the slot if it is deleted already."""
    holder = state.pods.records.get(member.gang.slot.placeholder) if member.gang.slot is not None else None
    if holder is None:
        yield from _open(state, member)
    elif not holder.facts.deleting:
        delete(state, holder)


def note_placeholder_deleted(state: State, record: PodRecord) -> Rounds:
    """Handle a deleted placeholder, whose capacity is free in the ledger."""
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


def note_member_deleted(state: State, record: PodRecord) -> None:
    """Handle the deletion of a member that was replacing a placeholder."""
    slot = record.gang.slot
    if slot is None or record.node:
        return
    holder = state.pods.records.get(slot.placeholder)
    if holder is not None:
        _give_back(state, holder)
    elif record.membership.application is not None:
        left_over(state, record.membership.application, record)


def _give_back(state: State, holder: PodRecord) -> None:
    """Return a placeholder to its group, unless it is being deleted."""
    slots.unyield(holder)
    gang_progress, progress = gang_progress_of(state, holder), progress_of(state, holder)
    if gang_progress is not None:
        gang_progress.swept = False
    if progress is not None and progress.closed and not (holder.gang.released or holder.facts.deleting):
        _reopen(state, holder, progress)
    touch(state, holder)


def _reopen(state: State, holder: PodRecord, progress: TaskGroupProgress) -> None:
    """Reopen a group that has a placeholder after all. Members wait for it again."""
    progress.closed = False
    application = state.application_of(holder)
    for uid in sorted(application.pods if application is not None else ()):
        record = state.pods.records[uid]
        if record.facts.task_group == progress.group.name and record.is_ask:
            touch(state, record)


def _wait_again(state: State, member: PodRecord) -> None:
    """Return a member to the group, because the node of its slot is lost (GANG-19)."""
    slots.drop_slot(member)
    take_back(state, member)
    _withdraw(state, member)
    touch(state, member)


def _open(state: State, member: PodRecord) -> Rounds:
    """Open the slot of a member, which holds the capacity from now on."""
    if member.gang.slot is not None:
        slots.open_slot(member, now=state.now)
        touch(state, member)
        yield
        call_member(state, member, member.gang.slot)


def unlink(state: State, member: PodRecord, slot: Slot) -> None:
    """Unlink a member and a placeholder before anything has happened.

    A requested write may still have succeeded, and a later start must not believe it.
    """
    gang_progress = gang_progress_of(state, member)
    slots.drop_slot(member)
    _withdraw(state, member)
    holder = state.pods.records.get(slot.placeholder)
    if holder is not None:
        _give_back(state, holder)
    touch(state, member)
    if gang_progress is not None and member.membership.application is not None:
        gang_progress.backs_off_until = state.now + AGAIN
        touch_gang(state, member.membership.application)


def _withdraw(state: State, record: PodRecord) -> None:
    write(state, record, Purpose.WITHDRAWAL, (RESERVED_NODE, None), (REPLACES, None))


def note_placed(state: State, record: PodRecord) -> Rounds:
    """Complete the replacement by a member that is on its node."""
    slot = record.gang.slot
    if slot is None or not record.node:
        return
    yield
    progress = progress_of(state, record)
    slots.drop_slot(record)
    believe_nomination(record, NO_NODE)
    count_replaced(state)
    if progress is not None:
        progress.replaced += 1
    holder = state.pods.records.get(slot.placeholder)
    if holder is not None:
        # The member went elsewhere before its placeholder was deleted.
        slots.unyield(holder)
        touch(state, holder)
        release(state, holder)


# -- after a restart ---------------------------------------------------------------------------------------


def dissolve(state: State) -> None:
    """Forget the progress of all gangs, which is then rebuilt from the objects."""
    formed = [each for each in state.applications.known.values() if each.gang_progress is not None]
    members = [state.pods.records[uid] for each in formed for uid in sorted(each.pods)]
    for record in members:
        unfile(state, record)
        slots.unyield(record)
        forget_release(record)
        slots.forget_slot_lost(record)
    clear_line(state)
    for application in formed:
        application.gang_progress = None
        disarm(state, application.id)
    for record in members:
        touch(state, record)


def remember_slot(state: State, record: PodRecord) -> None:
    """Take up the slot of a pod that is annotated with its placeholder, when the pod is first seen."""
    facts = record.facts
    if record.is_ask and facts.reserved_node:
        slots.take_slot(record, facts.replaces, facts.reserved_node, now=state.now)
        is_nominated = facts.nominated == facts.reserved_node
        believe_nomination(record, facts.reserved_node if is_nominated else NO_NODE)
    elif not record.node:
        _withdraw(state, record)


def resume_slots(state: State) -> Rounds:
    """Continue all replacements, because all pods have been seen."""
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
            yield from delete_placeholder(state, record)
