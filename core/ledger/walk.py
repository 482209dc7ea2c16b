"""The queues as a pass sees them: what is still open below each, and in which order it goes.

A branch per queue with something to look at, a lane per application, a line per size. Priorities and shares
are those of the ledger, less what the pass has given away by then. What nobody comes to is never built.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from heapq import heapify, heappop, heappush

from core.ids import AppId, QueuePath
from core.ledger.backoff import is_left_out
from core.ledger.lanes import Lane, Line, Promised, find_promises
from core.ledger.state import Seat, State
from core.queues.headroom import fair_max, shortfall
from core.queues.ordering import Contender, first_of, order_key
from core.queues.priority import exported
from core.queues.properties import SortPolicy
from core.queues.queue import NO_PRIORITY, Queue
from core.resource import Limit, Resource
from core.resource.shares import fair_share
from core.workload.application import Application
from core.workload.lineup import Lineup
from core.workload.ordering import Applicant, OrderKey, may_be_looked_at
from core.workload.ordering import order_key as application_key
from core.workload.states import AppState

_NONE = Resource({})


@lru_cache(maxsize=4096)
def _one_of_each(pending: Resource) -> Resource:
    """One value for all queues that ask for the same."""
    return pending


class Found:
    """What a pass has found out: ``dead``, queues without room for a size, for good; ``alive``, leaves with
    room for one, until the next turn is given. What changes otherwise is seen when an ask is looked at."""

    __slots__ = ("alive", "dead")

    def __init__(self) -> None:
        self.dead: set[tuple[QueuePath, Resource]] = set()
        self.alive: set[tuple[QueuePath, Resource]] = set()


class Branch:
    """One queue of the walk. ``open``: something below it is still to be looked at."""

    __slots__ = (
        "_asked",
        "_by_path",
        "_candidates",
        "_children",
        "_contender",
        "_fair_max",
        "_found",
        "_kept_back",
        "_keys",
        "_lineup",
        "_others",
        "_pending",
        "_priority",
        "_promises",
        "_state",
        "_took",
        "built",
        "open",
        "parent",
        "queue",
    )

    def __init__(self, state: State, queue: Queue, parent: "Branch | None", found: Found) -> None:
        self._state = state
        self._found = found
        self.queue = queue
        self.parent = parent
        self.open = True
        self.built = False
        self._asked = dict(queue.asked)
        self._promises: Mapping[AppId, Promised] = {}
        self._children: list[Branch] = []
        self._by_path: dict[QueuePath, Branch] = {}
        self._others = NO_PRIORITY
        self._lineup = Lineup()
        self._keys: list[tuple[OrderKey, Lane]] = []
        self._candidates: frozenset[AppId] | None = None
        self._kept_back: list[Lane] = []
        self._took = False
        self._pending = queue.pending.copy()
        self._pending.subtract(state.given.of(queue))
        self._fair_max: Limit | None = None
        self._priority: int | None = None
        self._contender: Contender | None = None

    def set_children(self, children: "list[Branch]") -> None:
        """In the order of their names. What the others export never changes during the walk."""
        self._children = sorted(children, key=lambda each: each.queue.path)
        self._by_path = {each.queue.path: each for each in children}
        others = [child.priority for path, child in self.queue.children.items() if path not in self._by_path]
        self._others = max(others, default=NO_PRIORITY)

    # -- queues ----------------------------------------------------------------------------------------------

    def next_leaf(self) -> "Branch | None":
        """The leaf that goes first, None when nothing is open below."""
        branch = self
        while branch.open and branch._children:
            first = first_of(
                [child._contender or child.contender for child in branch._children if child.open]
            )
            if first is None:
                branch.close()
                branch = self
            else:
                branch = branch._by_path[first.path]
        return branch if branch.open else None

    def close(self) -> None:
        self.open = False
        parent = self.parent
        if parent is not None and parent.open and not any(child.open for child in parent._children):
            parent.close()

    @property
    def contender(self) -> Contender:
        if self._contender is None:
            self._contender = self._contend()
        return self._contender

    @property
    def priority(self) -> int:
        """What the queue exports, without the asks that were given a turn."""
        if self._priority is None:
            below = (child.priority for child in self._children)
            raw = max((self._others, *self._asked, *below), default=NO_PRIORITY)
            self._priority = exported(raw, self.queue.properties, is_root=self.queue.is_root)
        return self._priority

    def _contend(self) -> Contender:
        queue, parent = self.queue, self.parent
        if self._fair_max is None:
            self._fair_max = fair_max(queue.chain)
        share = fair_share(self._held(), queue.guaranteed, self._fair_max)
        by_priority = parent is None or parent.queue.properties.sort_by_priority
        key = order_key(self.priority, share, by_priority=by_priority)
        return Contender(queue.path, key, _one_of_each(self._pending.as_resource()))

    def _held(self) -> Resource:
        queue = self.queue
        return Resource.sum_of(queue.allocated, queue.reserved, self._state.given.of(queue))

    def part(self) -> None:
        """Let go of those above and below."""
        self.parent = None
        self._children.clear()
        self._by_path.clear()

    # -- asks of a leaf --------------------------------------------------------------------------------------

    def set_lineup(self, lineup: Lineup) -> None:
        self._lineup = lineup

    def set_promises(self, promises: Mapping[AppId, Promised]) -> None:
        """What has turns already is not pending any more, as far as the order goes."""
        self._promises = promises
        for promised in promises.values():
            for priority, count in promised.asked.items():
                self._forget(priority, count)

    def _forget(self, priority: int, count: int) -> None:
        left = self._asked.get(priority, 0) - count
        if left > 0:
            self._asked[priority] = left
        else:
            self._asked.pop(priority, None)

    def is_dead(self) -> bool:
        """Whether no size that is asked for here has room left in the queue or above it."""
        return all(self._is_dead(size) for size in self._lineup.sizes)

    def _is_dead(self, size: Resource) -> bool:
        chain, found = self.queue.chain, self._found
        if (self.queue.path, size) in found.alive:
            return False
        if any((queue.path, size) in found.dead for queue in chain):
            return True
        short = shortfall(chain, size, extra=self._state.given.queues)
        if short is None:
            found.alive.add((self.queue.path, size))
        else:
            found.dead.add((short.queue.path, size))
        return short is not None

    def build(self) -> Iterator[None]:
        """Line up the applications whose asks may have room; a step for each."""
        self.built = True
        for app_id, lines in list(self._lineup.lanes.items()):
            alive = [
                Line(kind, waiting)
                for kind, waiting in lines.items()
                if waiting and not self._is_dead(kind[0])
            ]
            application = self._state.applications.get(app_id)
            if alive and application is not None and not is_left_out(self._state, application):
                lane = Lane(app_id, alive, self._promises.get(app_id) or Promised())
                self._keys.append((self._key(application, lane), lane))
            yield
        heapify(self._keys)
        self._filter()

    def next_lane(self) -> Lane | None:
        """The application of this leaf that goes first, None when none is left."""
        while True:
            while self._keys:
                _, lane = self._keys[0]
                if lane.lines and (self._candidates is None or lane.app_id in self._candidates):
                    return lane
                heappop(self._keys)
                if lane.lines:
                    self._kept_back.append(lane)
            if self._took or not self._kept_back:
                return None
            self._let_in_next()

    def _let_in_next(self) -> None:
        """Nothing fits of those that a ``stateaware`` leaf let in: others take their place (CYC-7)."""
        applications, kept_back = self._state.applications, self._kept_back
        self._kept_back = []
        for lane in kept_back:
            application = applications.get(lane.app_id)
            if application is not None:
                heappush(self._keys, (self._key(application, lane), lane))
        before = self._candidates
        self._filter()
        self._took = self._candidates == before

    def took(self, lane: Lane, seat: Seat) -> None:
        """An ask of the first application was given a turn: what follows from it, up to the root."""
        priority, size = -seat.rank[0], seat.key.size
        self._took = True
        lane.promised.add(priority, size)
        heappop(self._keys)
        application = self._state.applications.get(lane.app_id)
        if application is not None:
            heappush(self._keys, (self._key(application, lane), lane))
        self._forget(priority, 1)
        self._found.alive.clear()
        branch: Branch | None = self
        while branch is not None:
            branch._pending.subtract(size)
            branch._contender = branch._priority = None
            branch = branch.parent

    def took_all(self, seats: Iterable[Seat]) -> None:
        """Asks of several applications were given their turns at once."""
        self._took = True
        lanes = {lane.app_id: lane for _, lane in self._keys}
        for seat in seats:
            priority, size = -seat.rank[0], seat.key.size
            if seat.key.app in lanes:
                lanes[seat.key.app].promised.add(priority, size)
            self._forget(priority, 1)
            branch: Branch | None = self
            while branch is not None:
                branch._pending.subtract(size)
                branch._contender = branch._priority = None
                branch = branch.parent
        self._found.alive.clear()
        known = self._state.applications
        self._keys = [(self._key(known[lane.app_id], lane), lane) for _, lane in self._keys]
        heapify(self._keys)

    def _key(self, application: Application, lane: Lane) -> OrderKey:
        properties = self.queue.properties
        return application_key(
            self._applicant(application, lane),
            properties.sort_policy,
            by_priority=properties.sort_by_priority,
            guaranteed=self.queue.guaranteed,
        )

    def _applicant(self, application: Application, lane: Lane) -> Applicant:
        promised, asked = lane.promised, application.asked
        taken = promised.asked
        left = [each for each, count in asked.items() if count > taken.get(each, 0)] if taken else asked
        fair = self.queue.properties.sort_policy is SortPolicy.FAIR
        return Applicant(
            application.id,
            max(left, default=NO_PRIORITY),
            application.submitted,
            self._state_of(application),
            application.used.as_resource() + promised.used.as_resource() if fair else _NONE,
        )

    def _state_of(self, application: Application) -> AppState:
        """An Accepted one that has a turn is as good as Starting."""
        if application.state is AppState.ACCEPTED and application.id in self._promises:
            return AppState.RUNNING if application.starts_at_once else AppState.STARTING
        return application.state

    def _filter(self) -> None:
        """Whoever is not let in now may be when another changes its state: then there is a pass (SORT-8)."""
        if self.queue.properties.sort_policy is not SortPolicy.STATE_AWARE:
            return
        applications = self._state.applications
        starting = [
            each
            for each in self.queue.applications
            if self._state_of(applications[each]) is AppState.STARTING
        ]
        self._candidates = may_be_looked_at(
            [self._applicant(applications[lane.app_id], lane) for _, lane in self._keys],
            starting,
            by_priority=self.queue.properties.sort_by_priority,
        )


class Walk:
    """The branches of a pass, built step by step. ``root`` is None until then, and when there is nothing."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._branches: dict[QueuePath, Branch] = {}
        self._found = Found()
        self.root: Branch | None = None

    def build(self, lineups: Mapping[QueuePath, Lineup]) -> Iterator[None]:
        """A step for each leaf, and some for each branch."""
        children: dict[QueuePath, list[Branch]] = {}
        promises: dict[QueuePath, dict[AppId, Promised]] = {}
        yield from find_promises(self._state, promises)
        for path, lineup in list(lineups.items()):
            leaf = self._state.tree.get(path)
            if leaf is not None and lineup:
                self._add(leaf, lineup, children)
            yield
        for path, promised in promises.items():
            self._promise(path, promised, children)
            yield
        for path, branch in self._branches.items():
            branch.set_children(children.get(path, []))
            yield
        for branch in reversed(self._branches.values()):
            _ = branch.contender
            yield
        self.root = self._branches.get(self._state.tree.root.path)

    def _add(self, leaf: Queue, lineup: Lineup, children: dict[QueuePath, list[Branch]]) -> None:
        probe = Branch(self._state, leaf, None, self._found)
        probe.set_lineup(lineup)
        if probe.is_dead():
            return
        branch = self._reach(leaf, children)
        branch.set_lineup(lineup)

    def _promise(
        self, path: QueuePath, promised: Mapping[AppId, Promised], children: dict[QueuePath, list[Branch]]
    ) -> None:
        """Take what has turns off a leaf, also off one where nobody else is to be looked at."""
        leaf = self._state.tree.get(path)
        if leaf is None:
            return
        known = path in self._branches
        branch = self._reach(leaf, children)
        branch.set_promises(promised)
        branch.open = known and branch.open

    def _reach(self, leaf: Queue, children: dict[QueuePath, list[Branch]]) -> Branch:
        """The branch of a leaf, with those down to it."""
        above: Branch | None = None
        for queue in reversed(leaf.chain):
            branch = self._branches.get(queue.path)
            if branch is None:
                branch = self._branches[queue.path] = Branch(self._state, queue, above, self._found)
                if above is not None:
                    children.setdefault(above.queue.path, []).append(branch)
            above = branch
        return self._branches[leaf.path]

    def next_leaf(self) -> Branch | None:
        """The leaf that goes first among those that are open."""
        return self.root.next_leaf() if self.root is not None else None

    def take_apart(self) -> None:
        """It is over. Branches that point at each other would be left to the garbage collector, which stops
        everything for as long as it takes to find thousands of them."""
        for branch in self._branches.values():
            branch.part()
        self._branches.clear()

    def build_leaf(self, leaf: Branch) -> Iterator[None]:
        return leaf.build()

    def is_dead(self, leaf: Branch, size: Resource) -> bool:
        return leaf._is_dead(size)
