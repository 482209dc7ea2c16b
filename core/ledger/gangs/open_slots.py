"""Slots whose placeholder is gone: each member is called until it takes its slot, or loses it."""

from collections.abc import Iterator

from core.ids import NodeName
from core.instants import has_come
from core.ledger.admission.gate_opening import charge_opened
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import wake_anew
from core.ledger.effects import NominateNode
from core.ledger.gangs import slots
from core.ledger.gangs.index import progress_of
from core.ledger.gangs.reports import count_cancelled
from core.ledger.node_reservation.reservation import nominate, note_kept, take_back
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord, Slot
from core.ledger.pods.reports import write
from core.ledger.state.admission import CycleReason
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
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
        call_member(state, member, slot)


def call_member(state: State, member: PodRecord, slot: Slot) -> None:
    """Make kube-scheduler try a member whose room is there."""
    slots.note_called(member, slot)
    emit(state, *nominate_member(member, slot))
    wakes = wake_anew(state, member)
    emit(state, *wakes)
    charge_opened(state, wakes)


def nominate_member(member: PodRecord, slot: Slot) -> tuple[NominateNode, ...]:
    """Nominate a member to the node of its slot."""
    return nominate(member, slot.node, Purpose.REPLACEMENT)


def _call_again_at(member: PodRecord, slot: Slot) -> float | None:
    """When it is woken once more, if only a wake-up makes kube-scheduler try it."""
    if not (member.admission.refused or OWN_GATE in member.facts.gates):
        return None
    if member.admission.woken_at is None:
        # It had not been refused when its room was there, and was tried before its node was known.
        return slot.opened
    return member.admission.woken_at + TRIED_APART * 4.0 ** max(0, slot.called - 1)


def _late_at(slot: Slot, opened: float) -> float:
    """When a member has not taken its room."""
    return opened + UNTRIED_AT_MOST if slot.tried is None else slot.tried + OPEN_AT_MOST


def _is_bound_soon(member: PodRecord) -> bool:
    """It was let through, and its time stands still: PreBind is under way."""
    return member.admission.reservation is not None and member.admission.reservation.ends is None


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
