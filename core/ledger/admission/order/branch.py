"""Branch: a queue in the order of a cycle, with its place among its siblings and its applications.

Priorities and shares are read from the live ledger, and turns count as placed (SORT-1, SORT-3, SORT-5).
"""

from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush

from core.ids import AppId, QueuePath
from core.ledger.admission.backoff import is_left_out
from core.ledger.admission.order.application_queue import ApplicationQueue, Line
from core.ledger.admission.order.found_headroom import FoundHeadroom
from core.ledger.admission.order.keys import applicant_of, application_order, priority_in_turn
from core.ledger.admission.order.state_aware import state_in_turn
from core.ledger.admission.requests import note_requeue
from core.ledger.state.admission import RequeueReason
from core.ledger.state.state import State
from core.queues.headroom import fair_max
from core.queues.ordering import Contender, Key, first_of, order_key
from core.queues.priority import exported
from core.queues.properties import SortPolicy
from core.queues.queue import NO_PRIORITY, Queue
from core.resource import Limit, Resource
from core.resource.shares import fair_share
from core.workload.application import Application
from core.workload.ordering import OrderKey, eligible_applications
from core.workload.pending_index import PendingIndex
from core.workload.promises import NO_PROMISES, unpromised
from core.workload.states import AppState

_CHILDREN_PER_UNIT = 50


@lru_cache(maxsize=4096)
def _one_of_each(pending: Resource) -> Resource:
    """Shared value for all queues with the same demand."""
    return pending


class Branch:
    """A queue in the order of a cycle. ``open``: True while asks below it are still to be checked.

    ``built``: True once the applications of a leaf are filed. ``expanded``: False while the branches below it
    are still to be made.
    """

    __slots__ = (
        "_app_queues",
        "_by_path",
        "_candidates",
        "_children",
        "_contender",
        "_fair_max",
        "_filed",
        "_found",
        "_held_back",
        "_index",
        "_key",
        "_keys",
        "_moved",
        "_others",
        "_priority",
        "_ranked",
        "_ranks",
        "_settled",
        "_state",
        "built",
        "expanded",
        "open",
        "parent",
        "queue",
    )

    def __init__(self, state: State, queue: Queue, parent: "Branch | None", found: FoundHeadroom) -> None:
        self._state = state
        self._found = found
        self.queue = queue
        self.parent = parent
        self.open = True
        self.built = False
        self.expanded = True
        self._children: list[Branch] = []
        self._by_path: dict[QueuePath, Branch] = {}
        self._others: int | None = None
        self._index = PendingIndex()
        self._keys: list[tuple[OrderKey, int, ApplicationQueue]] = []
        self._app_queues: dict[AppId, ApplicationQueue] = {}
        self._filed = 0
        self._candidates: frozenset[AppId] | None = None
        self._held_back: list[ApplicationQueue] = []
        self._settled = False
        self._fair_max: Limit | None = None
        self._priority: int | None = None
        self._contender: Contender | None = None
        self._key: Key | None = None
        self._ranked: Key | None = None
        self._ranks: list[tuple[Key, QueuePath]] = []
        self._moved: list[Branch] = []

    def measure_by(self, queue: Queue) -> None:
        """Measure shares by the max of another queue than its own."""
        self._fair_max = fair_max(queue.chain)

    def forget_others(self) -> None:
        """Note that something was counted in a child without a branch."""
        self._others = None

    def set_children(self, children: "list[Branch]") -> None:
        """Set the children, in the order of their names.

        The export of the other children stays the same until something is counted there. Then they become
        branches too.
        """
        self._children = sorted(children, key=lambda each: each.queue.path)
        self._by_path = {each.queue.path: each for each in children}
        self._others = None
        self._ranks, self._moved = [], list(self._children)
        for each in children:
            each._ranked = None

    def adopt(self, more: "list[Branch]") -> int:
        """Add children during the cycle. Return the units of work."""
        self.set_children([*self._children, *more])
        return 1 + len(self.queue.children) // _CHILDREN_PER_UNIT

    # -- queues ----------------------------------------------------------------------------------------------

    def next_leaf(self) -> "Branch | None":
        """First leaf in the order, or None if nothing is open below.

        A queue that is not expanded is taken for a leaf.
        """
        branch = self
        while branch.open and branch._children:
            first = branch._first_child()
            if first is None:
                branch.close()
                branch = self
            else:
                branch = first
        return branch if branch.open else None

    def _first_child(self) -> "Branch | None":
        """First open child in the order, or None. Cost: O(log children), or O(children) if some are equal."""
        if len(self._children) == 1:
            return self._children[0] if self._children[0].open else None
        while self._moved:
            child = self._moved.pop()
            if child.open and child.key != child._ranked:
                child._ranked = child.key
                heappush(self._ranks, (child.key, child.queue.path))
        ranks = self._ranks
        while ranks:
            key, path = ranks[0]
            child = self._by_path[path]
            if child.open and child._ranked == key:
                equals = any(each[0] == key for each in ranks[1:3])
                return self._first_of_equals(key) if equals else child
            heappop(ranks)
        return None

    def _first_of_equals(self, key: Key) -> "Branch | None":
        equals = [child for child in self._children if child.open and child._ranked == key]
        first = first_of([child._contender or child.contender for child in equals])
        return self._by_path[first.path] if first is not None else None

    def close(self) -> None:
        """Note that nothing below is to be checked any more."""
        self.open = False
        parent = self.parent
        if parent is not None and parent.open and not any(child.open for child in parent._children):
            parent.close()

    def note_change(self) -> None:
        """Note that something was counted here, and discard what depends on it up to the root."""
        branch: Branch | None = self
        while branch is not None:
            branch._contender = branch._key = branch._priority = None
            above = branch.parent
            if above is not None:
                above._moved.append(branch)
            branch = above
        self._found.note_turn()

    @property
    def has_rivals(self) -> bool:
        """True if the queue is compared with others of its parent."""
        return self.parent is not None and len(self.parent._children) > 1

    @property
    def key(self) -> Key:
        """Sort key of the queue among its siblings."""
        if self._key is None:
            queue, parent = self.queue, self.parent
            if self._fair_max is None:
                self._fair_max = fair_max(queue.chain)
            share = fair_share(self.held, queue.guaranteed, self._fair_max)
            by_priority = parent is None or parent.queue.properties.sort_by_priority
            self._key = order_key(self.priority, share, by_priority=by_priority)
        return self._key

    @property
    def contender(self) -> Contender:
        """Queue as siblings with the same key are compared with it."""
        if self._contender is None:
            pending = self.queue.pending.copy()
            pending.subtract(self._state.turns.given.of(self.queue))
            self._contender = Contender(self.queue.path, self.key, _one_of_each(pending.as_resource()))
        return self._contender

    @property
    def priority(self) -> int:
        """Priority that the queue exports, without the asks that have a turn."""
        if self._priority is None:
            below = (child.priority for child in self._children)
            promises = self._state.turns.promised.get(self.queue.path, NO_PROMISES)
            own = unpromised(self.queue.asked, promises.asked)
            if self._others is None:
                self._others = self._priority_of_others()
            raw = max((self._others, *own, *below), default=NO_PRIORITY)
            self._priority = exported(raw, self.queue.properties, is_root=self.queue.is_root)
        return self._priority

    def _priority_of_others(self) -> int:
        """Best priority that the children without a branch export, without the asks that have a turn."""
        others = (child for path, child in self.queue.children.items() if path not in self._by_path)
        return max((priority_in_turn(self._state, each) for each in others), default=NO_PRIORITY)

    @property
    def held(self) -> Resource:
        """Usage of the queue. Turns count as placed."""
        queue = self.queue
        return Resource.sum_of(queue.allocated, queue.reserved, self._state.turns.given.of(queue))

    def part(self) -> None:
        """Drop the references to parent and children."""
        self.parent = None
        self._children.clear()
        self._moved.clear()
        self._by_path.clear()

    # -- asks of a leaf --------------------------------------------------------------------------------------

    def set_index(self, index: PendingIndex) -> None:
        """Set the asks of a leaf."""
        self._index = index

    def is_dead(self) -> bool:
        """True if no size in demand has headroom in the queue or above it."""
        return all(self.is_dead_for(size) for size in self._index.sizes)

    def is_dead_for(self, size: Resource) -> bool:
        """True if the queue, or one above it, has no headroom for a size."""
        return self._found.lacks(self.queue.chain, size, self._state.turns.given.queues)

    def build(self) -> Iterator[None]:
        """File the applications whose asks may have headroom, one per step."""
        self.built = True
        for app_id, lines in list(self._index.by_application.items()):
            dead = {kind for kind in lines if self.is_dead_for(kind[0])}
            alive = [Line(kind, asks) for kind, asks in lines.items() if asks and kind not in dead]
            for kind in lines:
                if kind in dead:
                    note_requeue(self._state, (app_id, kind), RequeueReason.NO_HEADROOM)
            application = self._state.applications.known.get(app_id)
            if alive and application is not None and not is_left_out(self._state, application):
                app_queue = self._app_queues[app_id] = ApplicationQueue(app_id, alive)
                self._file(application, app_queue)
            yield
        self._filter()

    def _file(self, application: Application, app_queue: ApplicationQueue) -> None:
        """File an application at its place now. Its former place does not count any more."""
        self._filed += 1
        app_queue.filed = self._filed
        key = application_order(self._state, application, self.queue)
        heappush(self._keys, (key, app_queue.filed, app_queue))

    def note_application(self, app_id: AppId) -> None:
        """File an application anew, because something of it was counted."""
        app_queue, application = self._app_queues.get(app_id), self._state.applications.known.get(app_id)
        if app_queue is not None and app_queue.lines and application is not None:
            self._file(application, app_queue)

    def next_application_queue(self) -> ApplicationQueue | None:
        """First application of this leaf in the order, or None if none is left."""
        while True:
            while self._keys:
                _, filed, app_queue = self._keys[0]
                counts = filed == app_queue.filed and bool(app_queue.lines)
                if counts and (self._candidates is None or app_queue.app_id in self._candidates):
                    return app_queue
                heappop(self._keys)
                if counts:
                    self._held_back.append(app_queue)
                elif filed == app_queue.filed and self._was_let_in(app_queue):
                    # Nothing of it fits. The application that is let in instead has its own place in the
                    # order.
                    self._let_in_next()
            if self._settled or not self._held_back:
                return None
            self._let_in_next()

    def _was_let_in(self, app_queue: ApplicationQueue) -> bool:
        """True if it is the one application of a ``stateaware`` leaf that may start, and has not."""
        application = self._state.applications.known.get(app_queue.app_id)
        if application is None or self._candidates is None or app_queue.app_id not in self._candidates:
            return False
        return state_in_turn(self._state, application, self.queue) is AppState.ACCEPTED

    def _let_in_next(self) -> None:
        """Let in other applications of a ``stateaware`` leaf, because none that was let in fits (CYC-7)."""
        applications, held_back = self._state.applications.known, self._held_back
        self._held_back = []
        for app_queue in held_back:
            application = applications.get(app_queue.app_id)
            if application is not None:
                self._file(application, app_queue)
        before = self._candidates
        self._filter()
        self._settled = self._candidates == before

    def _filter(self) -> None:
        """Find the eligible applications of a ``stateaware`` leaf (SORT-8).

        Others may be so after a change of state, which requests a cycle.
        """
        if self.queue.properties.sort_policy is not SortPolicy.STATE_AWARE:
            return
        applications = self._state.applications.known
        starting = [
            each
            for each in self.queue.applications
            if state_in_turn(self._state, applications[each], self.queue) is AppState.STARTING
        ]
        self._candidates = eligible_applications(
            [
                applicant_of(self._state, applications[app_queue.app_id], self.queue)
                for _, filed, app_queue in self._keys
                if filed == app_queue.filed and app_queue.app_id in applications
            ],
            starting,
            by_priority=self.queue.properties.sort_by_priority,
        )
