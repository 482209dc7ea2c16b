"""Open slots: each member is woken until it takes its slot, or loses it."""

from core.ids import NodeName
from core.instants import has_come
from core.ledger.admission.gate_opening import charge_opened
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import wake_anew
from core.ledger.effects import NominateNode
from core.ledger.gangs import slots
from core.ledger.gangs.due import take_unchecked_nodes
from core.ledger.gangs.index import progress_of
from core.ledger.gangs.reports import count_cancelled
from core.ledger.gangs.slots import call_again_at, may_have_stopped, overdue_at, time_slot
from core.ledger.node_reservation.reservation import nominate, note_reserved_node, take_back
from core.ledger.outcomes import Purpose, RecordPurpose
from core.ledger.pods.parts import Slot
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
from core.ledger.state.admission import CycleReason
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.state.timer_heap import take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import Rounds, touch
from core.workload.nodes.node import NodeUse
from core.workload.pod import REPLACES, RESERVED_NODE


def check_slots(state: State) -> Rounds:
    """Check open slots whose timer expired, and those on nodes on which something has changed."""
    due = {*take_due(state, TimerKind.GANG_SLOT)}
    for node in take_unchecked_nodes(state):
        due |= state.gangs.slots.get(node, set())
    for uid in sorted(due):
        watch(state, state.pods.records[uid])
        time_slot(state, state.pods.records[uid])
        yield


def check_slots_on(state: State, node: NodeName) -> Rounds:
    """Check the slots on a node where a pod without a queue may have taken their capacity."""
    for uid in sorted(state.gangs.slots.get(node, ())):
        watch(state, state.pods.records[uid])
        yield


def watch(state: State, member: PodRecord) -> None:
    """Release a slot that its member does not take, or that another pod took."""
    slot = member.gang.slot
    if slot is None or slot.opened is None or member.placement.binding:
        return
    overdue, again = overdue_at(member, slot, slot.opened), call_again_at(member, slot, slot.opened)
    is_overdue = overdue is not None and has_come(overdue, now=state.now)
    is_excused = is_overdue and may_have_stopped(slot, asked_at=state.turns.asked_at)
    is_late = is_overdue and not is_excused
    if slot.node not in state.cluster.nodes or is_late or _is_taken(state, member, slot.node):
        _cancel(state, member, slot)
    elif is_excused:
        call_member(state, member, slot.after_stop(state.now))
    elif again is not None and has_come(again, now=state.now):
        call_member(state, member, slot)


def call_member(state: State, member: PodRecord, slot: Slot) -> None:
    """Make kube-scheduler try a member whose slot is open."""
    slots.note_called(member, slot)
    emit(state, *nominate_member(member, slot))
    wakes = wake_anew(state, member)
    emit(state, *wakes)
    charge_opened(state, wakes)
    time_slot(state, member)


def nominate_member(member: PodRecord, slot: Slot) -> tuple[NominateNode, ...]:
    """Nominate a member to the node of its slot."""
    return nominate(member, slot.node, Purpose.REPLACEMENT)


def _is_taken(state: State, member: PodRecord, name: NodeName) -> bool:
    """True if a node holds more than fits there, including its slots.

    Turns and admitted asks do not count, because they may go elsewhere.
    """
    kinds = list(member.facts.size.names())
    free = state.usage.free_capacity.free_on(name)
    if all(free.get(kind, 0) >= 0 for kind in kinds):
        return False
    there = [state.pods.records[uid] for uid in state.usage.uses.get(name, NodeUse()).pods]
    certain = [each.facts.size for each in there if each.node or each.placement.binding or each.gang.slot]
    allocatable = state.cluster.nodes[name].allocatable
    return any(sum(size.get(kind) for size in certain) > allocatable.get(kind) for kind in kinds)


def _cancel(state: State, member: PodRecord, slot: Slot) -> None:
    """Cancel a replacement.

    The member becomes an ordinary ask, with a reservation of its node if possible.
    """
    progress = progress_of(state, member)
    slots.drop_slot(member)
    slots.note_slot_lost(member)
    count_cancelled(state)
    if progress is not None:
        progress.timed_out += 1
    take_back(state, member)
    is_free = slot.node in state.cluster.nodes and slot.node not in state.reservations.of
    if is_free and not member.node_reservation.node and member.admission.reservation is None:
        note_reserved_node(state, member, slot.node)
    reserved = member.node_reservation.node
    purpose: RecordPurpose = Purpose.NODE_RESERVATION if reserved else Purpose.WITHDRAWAL
    write(state, member, purpose, (RESERVED_NODE, reserved or None), (REPLACES, None))
    touch(state, member)
    request_cycle(state, CycleReason.GROUP_CHANGED)
