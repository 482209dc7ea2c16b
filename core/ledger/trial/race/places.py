"""Queues of a race: their amounts as plain integers, and their places in the order.

The order is that of `core.ledger.admission.order`: queues by priority and share, applications by the policy
of their leaf, asks by rank.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace

from core.ids import QueuePath
from core.ledger.admission.order.keys import priority_in_turn
from core.ledger.state.state import State
from core.ledger.trial.race.applications import Runner, count_down, without
from core.queues.ordering import Key, order_key
from core.queues.priority import exported
from core.queues.queue import NO_PRIORITY, Queue
from core.resource import Resource, more_of
from core.workload.ordering import OrderKey
from core.workload.promises import NO_PROMISES

Bounds = Mapping[QueuePath, frozenset[str]]
"""Resources whose limits are lifted, by queue."""

Measure = tuple[str, int, bool]
"""Denominator of the share of a resource, with True if it is the cap of a lifted limit."""

_NO_NAMES = frozenset[str]()


class Place:
    """A queue in the order of a race. ``open``: True while asks below it are still to be checked.

    ``held``: amounts of the queue, turns included. ``compared``: number of children that the last choice of
    the first one compared.
    """

    __slots__ = (
        "_asked",
        "_by_path",
        "_by_priority",
        "_capped",
        "_caps",
        "_held_at_first",
        "_measures",
        "_open_below",
        "_others",
        "_ranks",
        "_runners",
        "_state",
        "_wanted",
        "above",
        "built",
        "chain",
        "children",
        "compared",
        "expanded",
        "fair_max",
        "held",
        "key",
        "open",
        "priority",
        "queue",
    )

    def __init__(self, state: State, queue: Queue, above: "Place | None", lifted: Bounds) -> None:
        self._state = state
        self.queue = queue
        self.above = above
        self.chain: tuple[Place, ...] = (self, *(above.chain if above is not None else ()))
        self.held = self._held_at_first = _held(state, queue)
        lifted_here = lifted.get(queue.path, _NO_NAMES)
        #: Caps that may bind before all that asks here or below has its turn.
        self._caps = _caps(queue, lifted_here)
        over = above._capped if above is not None else ()
        #: Places of the chain with such a cap.
        self._capped: tuple[Place, ...] = (self, *over) if self._caps else over
        self.fair_max = _overlaid(queue, above, lifted_here)
        self._measures = _measures(queue, self.fair_max)
        #: Demand, with all that the race's own turns take and what is held at first; None until it is read.
        self._wanted: dict[str, int] | None = None
        #: Queues below it that have been reached.
        self.children: tuple[Place, ...] = ()
        # A leaf never has any. `set_children` replaces both.
        self._by_path: dict[QueuePath, Place] = _NO_PLACES
        self._ranks: list[tuple[Key, QueuePath]] = _NO_RANKS
        self._runners: list[tuple[OrderKey, int, Runner]] = []
        self._open_below = self.compared = 0
        promises = state.turns.promised.get(queue.path, NO_PROMISES)
        self._asked = without(queue.asked, promises.asked)
        self._others = self._priority_of_others()
        self._by_priority = above is None or above.queue.properties.sort_by_priority
        self.open, self.built, self.expanded = True, False, not queue.children
        self.priority = self._priority()
        self.key = self._key()

    # -- queues ----------------------------------------------------------------------------------------------

    def set_children(self, children: Sequence["Place"]) -> None:
        """Set the queues that have asks to check."""
        self.expanded = True
        self.children = tuple(children)
        self._by_path = {each.queue.path: each for each in children}
        self._others = self._priority_of_others()
        self._open_below = len(self._by_path)
        self._ranks = [(each.key, path) for path, each in self._by_path.items()]
        heapify(self._ranks)
        if not self._by_path:
            self.close()

    def first_child(self) -> "Place | None":
        """First open child in the order, or None."""
        ranks = self._ranks
        while ranks:
            key, path = ranks[0]
            child = self._by_path[path]
            if child.open and child.key == key:
                # The next two in the order are below the first one in the heap.
                tied = (len(ranks) > 1 and ranks[1][0] == key) or (len(ranks) > 2 and ranks[2][0] == key)
                return self._first_of(key) if tied else child
            heappop(ranks)
        return None

    def _first_of(self, key: Key) -> "Place":
        """First of the open children with a key, which is the lowest, as `first_of` (SORT-2). One has it."""
        equals = self._with_key(key)
        self.compared = len(equals)
        first = self._by_path[equals[0]]
        demand = first._demand() if len(equals) > 1 else {}
        for path in equals[1:]:
            other = self._by_path[path]
            theirs = other._demand()
            if more_of(theirs, demand):
                first, demand = other, theirs
        return first

    def _with_key(self, key: Key) -> list[QueuePath]:
        """Open children with a key, which is the lowest, in the order of their names."""
        ranks, found = self._ranks, set[QueuePath]()
        # Entries with the lowest key are a tree at the top of the heap.
        at_most, reached = len(ranks), [0]
        for at in reached:
            if at < at_most and ranks[at][0] == key:
                path = ranks[at][1]
                child = self._by_path[path]
                if child.open and child.key == key:
                    found.add(path)
                reached += (2 * at + 1, 2 * at + 2)
        return sorted(found)

    def _demand(self) -> dict[str, int]:
        """Amounts that asks without a turn need, by which queues with the same key are compared."""
        wanted, held = self._wanted, self.held
        if wanted is None:
            given, first = self._state.turns.given.of(self.queue), self._held_at_first
            wanted = self._wanted = {
                name: amount - given.get(name) + first.get(name, 0)
                for name, amount in self.queue.pending.items()
            }
        return {name: left for name, amount in wanted.items() if (left := amount - held.get(name, 0)) > 0}

    def close(self) -> None:
        """Note that nothing below is to be checked any more."""
        if not self.open:
            return
        self.open, above = False, self.above
        if above is not None:
            above._open_below -= 1
            if not above._open_below:
                above.close()

    def lacks(self, size: Resource) -> bool:
        """True if this queue, or one above it, has no headroom for a size. Turns only take headroom."""
        for place in self._capped:
            held = place.held
            for name, cap in place._caps.items():
                amount = size.get(name)
                if amount > 0 and held.get(name, 0) + amount > cap:
                    return True
        return False

    def count(self, priority: int, size: Resource) -> None:
        """Count a turn in this leaf and above it."""
        count_down(self._asked, priority)
        moved = priority not in self._asked
        for place in self.chain:
            held = place.held
            if held is place._held_at_first:
                held = place.held = held.copy()
            size.add_to(held)
            moved = place._note_change(moved=moved)

    @property
    def taken(self) -> dict[str, int]:
        """Part of ``held`` that the race's own turns take."""
        first = self._held_at_first
        return {name: amount - first.get(name, 0) for name, amount in self.held.items()}

    def _note_change(self, *, moved: bool) -> bool:
        """Update the place among others. Return True if its priority changed. ``moved``: if one below did."""
        above, before = self.above, self.priority
        if above is None:
            return False
        if moved:
            self.priority = self._priority()
        key = self._key()
        if key != self.key:
            self.key, ranks, entry = key, above._ranks, (key, self.queue.path)
            # Mostly it was the first one, and its former place is of no use any more.
            if ranks and ranks[0][1] == entry[1]:
                heapreplace(ranks, entry)
            else:
                heappush(ranks, entry)
        return self.priority != before

    def _priority(self) -> int:
        """Priority that the queue exports, without the asks that have a turn."""
        raw = self._others
        for priority in self._asked:
            if priority > raw:
                raw = priority
        for child in self.children:
            if child.priority > raw:
                raw = child.priority
        return exported(raw, self.queue.properties, is_root=self.queue.is_root)

    def _priority_of_others(self) -> int:
        """Best priority of the children that have no place. The root is compared with no queue."""
        found, children = NO_PRIORITY, self.queue.children if self.above is not None else {}
        for path, each in children.items():
            if path not in self._by_path:
                found = max(found, priority_in_turn(self._state, each))
        return found

    def _key(self) -> Key:
        return order_key(self.priority, self.share(), by_priority=self._by_priority)

    def share(self) -> float:
        """Largest share of what it holds, as `fair_share` (RES-9)."""
        largest, held = 0.0, self.held
        for name, measure, _ in self._measures:
            amount = held.get(name, 0)
            if amount > 0:
                share = amount / measure if measure > 0 else 1.0
                if share > largest:
                    largest = share
        return largest

    def is_decided(self) -> bool:
        """True if a lifted limit may decide its place, as the measure of a share (SORT-3, QUO-6).

        The shares that lifted limits measure only become smaller than they are here. Others only grow.
        """
        is_measured, at_most, at_least = False, 0.0, 0.0
        for name, measure, is_lifted in self._measures:
            amount = (self.held if is_lifted else self._held_at_first).get(name, 0)
            is_measured = is_measured or (is_lifted and name in self.held)
            share = 0.0
            if amount > 0:
                share = amount / measure if measure > 0 else 1.0
            if is_lifted:
                at_most = max(at_most, share)
            else:
                at_least = max(at_least, share)
        return is_measured and at_most >= at_least

    def part(self) -> None:
        """Drop the references to the places above and below, and to itself."""
        self.above = None
        self.chain = self._capped = self.children = ()
        self._by_path = _NO_PLACES

    # -- applications of a leaf ------------------------------------------------------------------------------

    def file(self, runner: Runner) -> None:
        """File an application at its place now. Its former place does not count any more."""
        runner.filed += 1
        heappush(self._runners, (runner.key, runner.filed, runner))

    def first_runner(self) -> Runner | None:
        """First application that has asks left, or None."""
        while self._runners:
            _, filed, runner = self._runners[0]
            if filed == runner.filed and runner.has_more:
                return runner
            heappop(self._runners)
        return None


_NO_PLACES: dict[QueuePath, Place] = {}
_NO_RANKS: list[tuple[Key, QueuePath]] = []


def _held(state: State, queue: Queue) -> dict[str, int]:
    held, given = queue.allocated.copied(), state.turns.given.queues.get(queue.path)
    if queue.reserved:
        queue.reserved.add_to(held)
    if given is not None:
        given.add_to(held)
    return held


def _caps(queue: Queue, lifted: frozenset[str]) -> dict[str, int]:
    caps: dict[str, int] = {}
    for name, cap in queue.max.items() if queue.max is not None else ():
        if name not in lifted and not _suffices(queue, name, cap):
            caps[name] = cap
    return caps


def _suffices(queue: Queue, name: str, cap: int) -> bool:
    """True if a cap lets in all that is pending, of which turns are a part."""
    return queue.allocated.get(name) + queue.reserved.get(name) + queue.pending.get(name) <= cap


def _overlaid(queue: Queue, above: Place | None, lifted: frozenset[str]) -> list[Measure] | None:
    """Denominators of shares: the cluster's size, overlaid by each max on the way down (QUO-6).

    Read only, since a queue without a max has that of the one above it.
    """
    over = above.fair_max if above is not None else None
    if queue.max is None or (above is not None and over is None):
        return over
    overlaid = over.copy() if over is not None else []
    for name, cap in queue.max.items():
        at = 0
        while at < len(overlaid) and overlaid[at][0] != name:
            at += 1
        measure = name, cap, name in lifted
        if at < len(overlaid):
            overlaid[at] = measure
        else:
            overlaid.append(measure)
    return overlaid


def _measures(queue: Queue, fair_max: list[Measure] | None) -> list[Measure]:
    """Measure of each resource: the guarantee, else the fair max (SORT-3). Read only."""
    due = queue.guaranteed
    if due is None:
        return fair_max if fair_max is not None else []
    found: list[Measure] = [(name, amount, False) for name, amount in due.items()]
    if fair_max is not None:
        found += [each for each in fair_max if each[0] not in due]
    return found
