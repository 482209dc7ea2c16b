"""Queues and applications of a race: their amounts as plain integers, and their places in the order.

The order is that of `core.ledger.admission.order`: queues by priority and share, applications by the policy
of their leaf, asks by rank.
"""

from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush

from core.ids import QueuePath
from core.ledger.admission.order.keys import priority_in_turn
from core.ledger.state.state import State
from core.queues.ordering import Contender, Key, first_of, order_key
from core.queues.priority import exported
from core.queues.properties import SortPolicy
from core.queues.queue import NO_PRIORITY, Queue
from core.resource import Resource
from core.workload.application import Application
from core.workload.ask import Rank
from core.workload.ordering import Applicant, OrderKey
from core.workload.ordering import order_key as order_key_of
from core.workload.pending_index import Kind
from core.workload.promises import NO_PROMISES, Promised

_NOTHING = Promised()
_NONE = Resource({})

Bounds = Collection[tuple[QueuePath, str]]
"""Limits that are lifted: a queue and a resource."""


class Runner:
    """An application of a leaf, with the asks that it may still have turns for."""

    __slots__ = (
        "_asked",
        "_is_fair",
        "_leaf",
        "_priority",
        "_used",
        "application",
        "asks",
        "at",
        "filed",
        "key",
    )

    def __init__(
        self, state: State, application: Application, leaf: Queue, asks: list[tuple[Rank, Kind]]
    ) -> None:
        self.application = application
        self._leaf = leaf
        #: Asks in their order, and the number of those behind it.
        self.asks = sorted(asks)
        self.at = 0
        #: Number of the valid place in the order.
        self.filed = 0
        promises = state.turns.promised.get(leaf.path, NO_PROMISES)
        promised = promises.applications.get(application.id, _NOTHING)
        self._asked = _without(application.asked, promised.asked)
        self._is_fair = leaf.properties.sort_policy is SortPolicy.FAIR
        self._used = application.used.as_resource() + promised.used.as_resource() if self._is_fair else _NONE
        self._priority = max(self._asked, default=NO_PRIORITY)
        self.key = self._key()

    @property
    def has_more(self) -> bool:
        """True if it has asks left."""
        return self.at < len(self.asks)

    def note_turn(self, priority: int, size: Resource) -> bool:
        """Count a turn. True if it may have changed the place of the application (SORT-5)."""
        _count_down(self._asked, priority)
        best = self._priority if self._priority in self._asked else max(self._asked, default=NO_PRIORITY)
        if self._is_fair:
            self._used = self._used + size
        elif best == self._priority:
            return False
        self._priority = best
        self.key = self._key()
        return True

    def _key(self) -> OrderKey:
        of, properties = self.application, self._leaf.properties
        applicant = Applicant(of.id, self._priority, of.submitted, of.state, self._used)
        return order_key_of(
            applicant,
            properties.sort_policy,
            by_priority=properties.sort_by_priority,
            guaranteed=self._leaf.guaranteed,
        )


class Place:
    """A queue in the order of a race. ``open``: True while asks below it are still to be checked.

    ``held``: amounts of the queue, turns included.
    """

    __slots__ = (
        "_asked",
        "_by_path",
        "_by_priority",
        "_capped",
        "_caps",
        "_contender",
        "_filed",
        "_held_at_first",
        "_measures",
        "_others",
        "_ranks",
        "_runners",
        "_state",
        "above",
        "built",
        "chain",
        "children",
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
        given = state.turns.given.of(queue)
        self.held: dict[str, int] = {}
        for part in (queue.allocated, queue.reserved, given):
            for name, amount in part.items():
                self.held[name] = self.held.get(name, 0) + amount
        self._held_at_first = dict(self.held)
        #: Caps that may bind before all that asks here or below has its turn.
        self._caps = {
            name: cap
            for name, cap in (queue.max.items() if queue.max is not None else ())
            if (queue.path, name) not in lifted and not _suffices(queue, name, cap)
        }
        #: Places of the chain with such a cap.
        self._capped = tuple(each for each in self.chain if each._caps)
        self.fair_max = _overlaid(queue, above)
        self._contender: Contender | None = None
        self._measures = tuple(_measures(queue, self.fair_max).items())
        #: Queues below it that have been reached.
        self.children: tuple[Place, ...] = ()
        self._by_path: dict[QueuePath, Place] = {}
        self._ranks: list[tuple[Key, QueuePath]] = []
        self._runners: list[tuple[OrderKey, int, Runner]] = []
        self._filed = 0
        promises = state.turns.promised.get(queue.path, NO_PROMISES)
        self._asked = _without(queue.asked, promises.asked)
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
        self._by_path = {each.queue.path: each for each in sorted(children, key=lambda each: each.queue.path)}
        self._others = self._priority_of_others()
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
        """First of the open children with a key, which is the lowest. At least one has it."""
        ranks, paths = self._ranks, list[QueuePath]()
        while ranks and ranks[0][0] == key:
            _, path = heappop(ranks)
            child = self._by_path[path]
            # Equal entries of one child follow each other, in the order of names.
            if child.open and child.key == key and path != (paths[-1] if paths else ""):
                paths.append(path)
        for path in paths:
            heappush(ranks, (key, path))
        first = first_of([self._by_path[path].contender for path in paths]) if len(paths) > 1 else None
        return self._by_path[first.path if first is not None else paths[0]]

    @property
    def contender(self) -> Contender:
        """Queue as those with the same key are compared with it (SORT-2)."""
        if self._contender is None:
            self._contender = self._compared()
        return self._contender

    def _compared(self) -> Contender:
        pending, first = dict(self.queue.pending.items()), self._held_at_first
        for name, amount in self._state.turns.given.of(self.queue).items():
            pending[name] = pending.get(name, 0) - amount
        for name, amount in self.held.items():
            pending[name] = pending.get(name, 0) - amount + first.get(name, 0)
        left = {name: amount for name, amount in pending.items() if amount > 0}
        return Contender(self.queue.path, self.key, Resource(left))

    def close(self) -> None:
        """Note that nothing below is to be checked any more."""
        self.open = False
        above = self.above
        if above is not None and above.open and not any(each.open for each in above._by_path.values()):
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
        best = max(self._asked, default=NO_PRIORITY)
        _count_down(self._asked, priority)
        amounts, moved = [each for each in size.items() if each[1]], best not in self._asked
        for place in self.chain:
            held = place.held
            for name, amount in amounts:
                held[name] = held.get(name, 0) + amount
            moved = place._note_change(moved=moved)

    @property
    def taken(self) -> dict[str, int]:
        """Part of ``held`` that the race's own turns take."""
        first = self._held_at_first
        return {name: amount - first.get(name, 0) for name, amount in self.held.items()}

    def source_of(self, name: str) -> QueuePath | None:
        """Queue whose max is the fair max of a resource (QUO-6). None without one."""
        caps = ((each.queue.path, each.queue.max) for each in self.chain)
        return next((path for path, cap in caps if cap is not None and name in cap), None)

    def _note_change(self, *, moved: bool) -> bool:
        """Update the place among others. Return True if its priority changed. ``moved``: if one below did."""
        above, before = self.above, self.priority
        if above is None:
            return False
        if moved:
            self.priority = self._priority()
        self._contender, key = None, self._key()
        if key != self.key:
            self.key = key
            heappush(above._ranks, (key, self.queue.path))
        return self.priority != before

    def _priority(self) -> int:
        """Priority that the queue exports, without the asks that have a turn."""
        raw = max(self._others, max(self._asked, default=NO_PRIORITY))
        for child in self._by_path.values():
            raw = max(raw, child.priority)
        return exported(raw, self.queue.properties, is_root=self.queue.is_root)

    def _priority_of_others(self) -> int:
        others = (each for path, each in self.queue.children.items() if path not in self._by_path)
        return max((priority_in_turn(self._state, each) for each in others), default=NO_PRIORITY)

    def _key(self) -> Key:
        return order_key(self.priority, self.share(self.held), by_priority=self._by_priority)

    def share(self, amounts: Mapping[str, int]) -> float:
        """Largest share of amounts of this queue, as `fair_share` (RES-9)."""
        largest = 0.0
        for name, measure in self._measures:
            amount = amounts.get(name, 0)
            if amount > 0:
                share = amount / measure if measure > 0 else 1.0
                if share > largest:
                    largest = share
        return largest

    # -- applications of a leaf ------------------------------------------------------------------------------

    def file(self, runner: Runner) -> None:
        """File an application at its place now. Its former place does not count any more."""
        self._filed += 1
        runner.filed = self._filed
        heappush(self._runners, (runner.key, self._filed, runner))

    def first_runner(self) -> Runner | None:
        """First application that has asks left, or None."""
        while self._runners:
            _, filed, runner = self._runners[0]
            if filed == runner.filed and runner.has_more:
                return runner
            heappop(self._runners)
        return None


def _suffices(queue: Queue, name: str, cap: int) -> bool:
    """True if a cap lets in all that is pending, of which turns are a part."""
    return queue.allocated.get(name) + queue.reserved.get(name) + queue.pending.get(name) <= cap


def _overlaid(queue: Queue, above: Place | None) -> dict[str, int] | None:
    """Denominators of shares: the cluster's size, overlaid by each max on the way down (QUO-6)."""
    if above is None:
        return dict(queue.max.items()) if queue.max is not None else None
    if above.fair_max is None or queue.max is None:
        return above.fair_max
    return {**above.fair_max, **dict(queue.max.items())}


def _measures(queue: Queue, fair_max: Mapping[str, int] | None) -> dict[str, int]:
    """Measure of each resource: the guarantee, else the fair max (SORT-3)."""
    guaranteed = dict(queue.guaranteed.items()) if queue.guaranteed is not None else {}
    return {**(fair_max or {}), **guaranteed}


def _without(asked: Mapping[int, int], promised: Mapping[int, int]) -> dict[int, int]:
    """Numbers of asks by priority that have no turn."""
    return {
        each: count - promised.get(each, 0) for each, count in asked.items() if count > promised.get(each, 0)
    }


def _count_down(asked: dict[int, int], priority: int) -> None:
    left = asked.get(priority, 0) - 1
    if left > 0:
        asked[priority] = left
    else:
        asked.pop(priority, None)
