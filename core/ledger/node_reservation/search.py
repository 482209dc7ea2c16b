"""Search for a node to reserve: for which asks, and which node (CYC-6).

An ask gets one if it has waited long enough and its queue and limits have headroom. All suitable nodes
together must have the capacity, but no single one. Where nodes are merely full, none is reserved, and turns
decide.
"""

import math
from collections.abc import Container, Generator, Iterator, Mapping
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
"""Seconds that an ask has waited before a node is reserved for it."""

AGED_AT_ONCE = 200
"""Asks, at most, that come of age in one event."""

WORK_AT_ONCE = 3_000
"""Approximate units of work in one event for the check whether nodes have capacity for these asks."""

SEARCHES_APART = 10.0
"""Seconds between two searches in vain for one ask."""

SPARED_AMONG = 200
"""Nodes that are checked, at most, to tell that a search reserves another one than a given node."""

_CHECKED_PER_UNIT = 2
_UNUSED = NodeUse()


class Candidate(NamedTuple):
    """A node, with the sum of what an ask would leave free on it."""

    left: float
    name: NodeName


def may_search(state: State, record: PodRecord) -> bool:
    """True if a node is to be searched for an ask: it has none, and `may_search_now`.

    Asks of a pod group that waits for members are left to their group by the cycle.
    """
    return not record.node_reservation.node and may_search_now(state, record)


def may_search_now(state: State, record: PodRecord) -> bool:
    """True if a node is to be searched for an ask without one now. A young ask is checked again later."""
    if record.facts.constraints.unread:
        return False
    if 2 * len(state.reservations.of) >= len(state.cluster.nodes):
        return False
    if not has_come(record.facts.created + RESERVED_AFTER, now=state.now):
        await_age(state, record)
        return False
    return record.node_reservation.searched_at is None or has_come(
        record.node_reservation.searched_at + SEARCHES_APART, now=state.now
    )


def await_age(state: State, record: PodRecord) -> None:
    """Request a check of an ask when it is old enough, if it still waits then."""
    due = max(state.now, record.facts.created + RESERVED_AFTER)
    state.reservations.young[record.uid] = due
    set_no_later(state, TimerKind.AGE, ONLY_ONE, due)


def forget_age(state: State, uid: PodUid) -> None:
    """Forget the age of an ask that does not wait any more."""
    state.reservations.aged.discard(uid)
    if state.reservations.young.pop(uid, None) is not None and not state.reservations.young:
        cancel_timer(state, TimerKind.AGE, ONLY_ONE)


def come_of_age(state: State) -> None:
    """Request a cycle for asks that are old enough by now and fit on no node.

    kube-scheduler has not reached most of the others in a burst. If one of them finds no node later, it waits
    anew.
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
    """Remove and return the asks that are old enough and wait for a cycle."""
    aged = sorted(state.reservations.aged)
    state.reservations.aged.clear()
    return aged


def search_next(state: State, uid: PodUid) -> None:
    """Have the next cycle check an ask, whatever its age."""
    state.reservations.aged.add(uid)


def note_reservation_written(state: State, event: on.RecordWritten) -> None:
    """Note the outcome of writing a reservation.

    A failed write ends the reservation, because another instance may be the acting one.
    """
    record = state.pods.records.get(event.uid)
    # Nothing is written of an offer, so the write was about a node reserved before.
    if record is None or event.reached or record.uid in state.preemption.offers:
        return
    node = record.node_reservation.node
    if node and (RESERVED_NODE, node) in event.entries:
        release_node(state, record)
        # Not again at once, or a standby would search without end.
        record.node_reservation.searched_at = state.now


def _finds_node(state: State, uid: PodUid, found: dict[tuple[Kind, NodeName], bool]) -> bool:
    """True if a node takes an ask. ``found``: results for other asks with the same demand."""
    key, own = state.pending.waits_at[uid].key, state.pods.records[uid].daemon.required_node
    what = (key.size, key.constraints), own
    answer = found.get(what)
    if answer is not None:
        return answer
    try:
        found[what] = node_for(state, key, own=own) is not None
    except Undecided:
        # A cycle will tell.
        found[what] = False
    return found[what]


def search_node(state: State, record: PodRecord) -> Iterator[bool]:
    """Reserve a node for an ask, if there is one. A step for each node."""
    record.node_reservation.searched_at = state.now
    search = _Search(record)
    for node in list(state.cluster.nodes.values()):
        yield False
        search.check(state, node, state.reservations.of)
    name = search.best
    if name is not None:
        _reserve(state, record, name)


def best_node(
    state: State, record: PodRecord, besides: Container[NodeName]
) -> Generator[int, None, NodeName | None]:
    """Node that a search would reserve now, in steps of a unit of work. ``besides``: reserved nodes."""
    search = _Search(record)
    for number, node in enumerate(list(state.cluster.nodes.values()), 1):
        search.check(state, node, besides)
        if number % _CHECKED_PER_UNIT == 0:
            yield 1
    return search.best


def surely_spares(
    state: State,
    record: PodRecord,
    name: NodeName,
    *,
    besides: Container[NodeName],
    changed: Container[NodeName],
    others: int,
) -> bool:
    """True if a search surely reserves another node than this one: more than ``others`` nodes are better.

    ``changed``: nodes that have changed since the search, and do not count. Cost: few nodes are checked.
    """
    own = state.cluster.nodes.get(name)
    mine = _candidate(state, own, record, besides) if own is not None else None
    if mine is None:
        return True
    better = 0
    for node in islice(state.cluster.nodes.values(), SPARED_AMONG):
        if node.name == name or node.name in changed:
            continue
        found = _candidate(state, node, record, besides)
        better += found is not None and found < mine
        if better > others:
            return True
    return False


class _Search:
    """Nodes that a search has found so far, and the capacity of all of them together."""

    def __init__(self, record: PodRecord) -> None:
        self._record = record
        self._found: list[Candidate] = []
        self._together = dict.fromkeys(record.facts.size.names(), 0)

    def check(self, state: State, node: NodeFacts, besides: Container[NodeName]) -> None:
        """Check one node."""
        found = _candidate(state, node, self._record, besides)
        if found is None:
            return
        self._found.append(found)
        free = state.usage.free_capacity.free_on(node.name)
        for each in self._together:
            self._together[each] += max(0, free.get(each, 0))

    @property
    def best(self) -> NodeName | None:
        """Node to reserve; None if all nodes together lack the capacity."""
        enough = all(self._together[name] >= amount for name, amount in self._record.facts.size.items())
        return min(self._found).name if self._found and enough else None


def _candidate(
    state: State, node: NodeFacts, record: PodRecord, besides: Container[NodeName]
) -> Candidate | None:
    """A node with what an ask would leave on it. None if it does not take the ask, or is left out."""
    if node.name in besides or not _takes(state, node, record):
        return None
    free = state.usage.free_capacity.free_on(node.name)
    return Candidate(left_on(free, record.facts.size), node.name)


def left_on(free: Mapping[str, int], size: Resource) -> float:
    """Sum of the fractions of free amounts that an ask would leave (CYC-6); 0 if it takes everything."""
    left = [(amount - asked) / amount for name, amount in free.items() if amount > (asked := size.get(name))]
    # Exact, so that the order of the names makes no difference.
    return math.fsum(left)


def _takes(state: State, node: NodeFacts, record: PodRecord) -> bool:
    """True if a node would take an ask once all managed pods had left it."""
    allocatable, foreign = node.allocatable, state.usage.uses.get(node.name, _UNUSED).occupied
    # A loop, because a generator for each of thousands of nodes would cost more than the comparison.
    for name, amount in record.facts.size.items():
        if amount and allocatable.get(name) - foreign.get(name) < amount:
            return False
    return state.usage.free_capacity.admits(node, record.facts.constraints)


def _reserve(state: State, record: PodRecord, name: NodeName) -> None:
    """Reserve a node after a search, unless the ask or the node has changed meanwhile."""
    waits = record.uid in state.pending.waits_at and record.uid not in state.turns.of
    if (
        waits
        and not record.node_reservation.node
        and name in state.cluster.nodes
        and name not in state.reservations.of
    ):
        record.node_reservation.searched_at = None
        reserve_node(state, record, name)
