"""For which ask is a node kept, and which node (CYC-6)?

For one that has waited a while, that its queue and its limits have room for, and the nodes that would take it
together, but no single one of them. Where they are merely full no node is kept: there the turn decides.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from core.ids import NodeName, PodUid
from core.instants import has_come
from core.ledger import events as on
from core.ledger.admission.requests import note_overdue, request_cycle
from core.ledger.node_reservation.reservation import node_for, release_node, reserve_node
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_no_later, set_timer, take_due
from core.ledger.state.timers import ONLY_ONE, TimerKind
from core.resource import Resource
from core.workload.nodes.free_capacity import Undecided
from core.workload.nodes.node import NodeFacts, NodeUse
from core.workload.pending_index import Kind
from core.workload.pod import RESERVED_NODE

RESERVED_AFTER = 2.0
"""Seconds that an ask has waited before a node is kept for it."""

AGED_AT_ONCE = 200
"""Asks that come of age in one go, at most."""

WORK_AT_ONCE = 3_000
"""Units of work, about, that are spent in one go on whether nodes have room for those."""

SEARCHES_APART = 10.0
"""Seconds between two searches in vain for one ask."""

_UNUSED = NodeUse()


class Candidate(NamedTuple):
    """A node, by how much an ask would leave free on it."""

    left: float
    name: NodeName


def may_search(state: State, record: PodRecord) -> bool:
    """Whether to search for a node to reserve for an ask now. One that is too young is checked again later.

    The ask belongs to no pod group that waits for members: the cycle leaves such asks to their group.
    """
    if record.facts.constraints.unread:
        return False
    if record.node_reservation.node or 2 * len(state.reservations.of) >= len(state.cluster.nodes):
        return False
    if not has_come(record.facts.created + RESERVED_AFTER, now=state.now):
        await_age(state, record)
        return False
    return record.node_reservation.searched_at is None or has_come(
        record.node_reservation.searched_at + SEARCHES_APART, now=state.now
    )


def await_age(state: State, record: PodRecord) -> None:
    """See that an ask is looked at when it is old enough, should it still wait then."""
    due = max(state.now, record.facts.created + RESERVED_AFTER)
    state.reservations.young[record.uid] = due
    set_no_later(state, TimerKind.AGE, ONLY_ONE, due)


def forget_age(state: State, uid: PodUid) -> None:
    """It waits no more."""
    state.reservations.aged.discard(uid)
    if state.reservations.young.pop(uid, None) is not None and not state.reservations.young:
        cancel_timer(state, TimerKind.AGE, ONLY_ONE)


def come_of_age(state: State) -> None:
    """Those who are old enough by now want a pass that looks at them, if no node has room for them.

    Of the others kube-scheduler has not come to most, in a burst; were one to find no node after all, it
    would wait anew.
    """
    if not take_due(state, TimerKind.AGE):
        return
    old = (uid for uid, at in state.reservations.young.items() if has_come(at, now=state.now))
    due = list(islice(old, AGED_AT_ONCE))
    found: dict[tuple[Kind, NodeName], bool] = {}
    until = state.usage.free_capacity.work + WORK_AT_ONCE
    for number, uid in enumerate(due):
        if state.usage.free_capacity.work > until:
            due = due[:number]
            note_overdue(state, left=True)
            break
        del state.reservations.young[uid]
        if uid not in state.turns.of and not _finds_node(state, uid, found):
            state.reservations.aged.add(uid)
            request_cycle(state, CycleReason.POD_AGED)
    note_overdue(state, left=len(due) == AGED_AT_ONCE)
    if state.reservations.young:
        set_timer(state, TimerKind.AGE, ONLY_ONE, min(state.reservations.young.values()))


def take_aged(state: State) -> list[PodUid]:
    """Asks that are old enough and wait for a cycle, which begins now."""
    aged = sorted(state.reservations.aged)
    state.reservations.aged.clear()
    return aged


def search_next(state: State, uid: PodUid) -> None:
    """Have the next cycle look at an ask, whatever its age."""
    state.reservations.aged.add(uid)


def note_reservation_written(state: State, event: on.RecordWritten) -> None:
    """Learn how writing a reservation ended.

    A node is not reserved where that could not be written: another instance may be the one that acts.
    """
    record = state.pods.records.get(event.uid)
    # Nothing is written of an offer, so the write was about a node that was reserved before.
    if record is None or event.reached or record.uid in state.preemption.offers:
        return
    node = record.node_reservation.node
    if node and (RESERVED_NODE, node) in event.entries:
        release_node(state, record)
        # Not again at once: an instance that stands by would seek without end.
        record.node_reservation.searched_at = state.now


def _finds_node(state: State, uid: PodUid, found: dict[tuple[Kind, NodeName], bool]) -> bool:
    """``found``: what is known of others that ask for the same."""
    key, own = state.pending.waits_at[uid].key, state.pods.records[uid].daemon.required_node
    what = (key.size, key.constraints), own
    answer = found.get(what)
    if answer is not None:
        return answer
    try:
        found[what] = node_for(state, key, own=own) is not None
    except Undecided:
        # A pass will tell.
        found[what] = False
    return found[what]


def search_node(state: State, record: PodRecord) -> Iterator[bool]:
    """Keep a node for an ask, if there is one; a step for each node."""
    record.node_reservation.searched_at = state.now
    found: list[Candidate] = []
    size = record.facts.size
    together = dict.fromkeys(size.names(), 0)
    for name, node in list(state.cluster.nodes.items()):
        yield False
        if name not in state.reservations.of and _takes(state, node, record):
            free = state.usage.free_capacity.free_on(name)
            found.append(Candidate(left_on(free, size), name))
            for each in together:
                together[each] += max(0, free.get(each, 0))
    if found and all(together[name] >= amount for name, amount in size.items()):
        _reserve(state, record, min(found).name)


def left_on(free: Mapping[str, int], size: Resource) -> float:
    """The sum over what is free of the part that such an ask would leave (CYC-6); 0 where it takes it all."""
    left = [(amount - asked) / amount for name, amount in free.items() if amount > (asked := size.get(name))]
    # Exact, so that the order of the names makes no difference.
    return math.fsum(left)


def _takes(state: State, node: NodeFacts, record: PodRecord) -> bool:
    """Whether it would, had all managed pods left it."""
    allocatable, foreign = node.allocatable, state.usage.uses.get(node.name, _UNUSED).occupied
    # A loop, since a generator for each of thousands of nodes would cost more than what it compares.
    for name, amount in record.facts.size.items():
        if amount and allocatable.get(name) - foreign.get(name) < amount:
            return False
    return state.usage.free_capacity.admits(node, record.facts.constraints)


def _reserve(state: State, record: PodRecord, name: NodeName) -> None:
    """What has changed during the search is looked at again."""
    waits = record.uid in state.pending.waits_at and record.uid not in state.turns.of
    if (
        waits
        and not record.node_reservation.node
        and name in state.cluster.nodes
        and name not in state.reservations.of
    ):
        record.node_reservation.searched_at = None
        reserve_node(state, record, name)
