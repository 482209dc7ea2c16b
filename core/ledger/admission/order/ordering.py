"""Order in which a cycle checks the pending asks: queues, applications, and lines of asks of one kind.

A branch stands for each queue with asks to check, an application queue for each application. Priorities and
shares are read from the live ledger, and turns count as placed (SORT-1, SORT-3, SORT-5). The order is updated
where the ledger has counted something since (F-11). Parts that no cycle reaches are never built.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from heapq import heappop, heappush

from core.ids import AppId, QueuePath
from core.ledger.admission.backoff import is_left_out
from core.ledger.admission.order.application_queue import ApplicationQueue, Line
from core.ledger.admission.order.found_headroom import FoundHeadroom
from core.ledger.admission.order.keys import applicant_of, application_order
from core.ledger.admission.order.state_aware import state_in_turn
from core.ledger.admission.requests import note_requeue
from core.ledger.admission.turns import take_moved
from core.ledger.state.admission import RequeueReason
from core.ledger.state.state import State
from core.queues.headroom import fair_max
from core.queues.ordering import Contender, first_of, order_key
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

_MOVED_PER_UNIT = 4
_CHILDREN_PER_UNIT = 50


@lru_cache(maxsize=4096)
def _one_of_each(pending: Resource) -> Resource:
    """Shared value for all queues with the same demand."""
    return pending


class Branch:
    """A queue in the order of a cycle. ``open``: True while asks below it are still to be checked."""

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
        "_keys",
        "_others",
        "_priority",
        "_settled",
        "_state",
        "built",
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
        self._children: list[Branch] = []
        self._by_path: dict[QueuePath, Branch] = {}
        self._others = NO_PRIORITY
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

    def set_children(self, children: "list[Branch]") -> None:
        """Set the children, in the order of their names.

        The export of the other children stays the same until something is counted there. Then they become
        branches too.
        """
        self._children = sorted(children, key=lambda each: each.queue.path)
        self._by_path = {each.queue.path: each for each in children}
        others = [child.priority for path, child in self.queue.children.items() if path not in self._by_path]
        self._others = max(others, default=NO_PRIORITY)

    def adopt(self, more: "list[Branch]") -> int:
        """Add children during the cycle. Return the units of work."""
        self.set_children([*self._children, *more])
        return 1 + len(self.queue.children) // _CHILDREN_PER_UNIT

    # -- queues ----------------------------------------------------------------------------------------------

    def next_leaf(self) -> "Branch | None":
        """First leaf in the order, or None if nothing is open below."""
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
        """Note that nothing below is to be checked any more."""
        self.open = False
        parent = self.parent
        if parent is not None and parent.open and not any(child.open for child in parent._children):
            parent.close()

    def note_change(self) -> None:
        """Note that something was counted here, and discard what depends on it up to the root."""
        branch: Branch | None = self
        while branch is not None:
            branch._contender = branch._priority = None
            branch = branch.parent
        self._found.note_turn()

    @property
    def contender(self) -> Contender:
        """Queue as its siblings are compared with it."""
        if self._contender is None:
            self._contender = self._contend()
        return self._contender

    @property
    def priority(self) -> int:
        """Priority that the queue exports, without the asks that have a turn."""
        if self._priority is None:
            below = (child.priority for child in self._children)
            promises = self._state.turns.promised.get(self.queue.path, NO_PROMISES)
            own = unpromised(self.queue.asked, promises.asked)
            raw = max((self._others, *own, *below), default=NO_PRIORITY)
            self._priority = exported(raw, self.queue.properties, is_root=self.queue.is_root)
        return self._priority

    def _contend(self) -> Contender:
        queue, parent = self.queue, self.parent
        if self._fair_max is None:
            self._fair_max = fair_max(queue.chain)
        share = fair_share(self._held(), queue.guaranteed, self._fair_max)
        by_priority = parent is None or parent.queue.properties.sort_by_priority
        key = order_key(self.priority, share, by_priority=by_priority)
        pending = queue.pending.copy()
        pending.subtract(self._state.turns.given.of(queue))
        return Contender(queue.path, key, _one_of_each(pending.as_resource()))

    def _held(self) -> Resource:
        queue = self.queue
        return Resource.sum_of(queue.allocated, queue.reserved, self._state.turns.given.of(queue))

    def part(self) -> None:
        """Drop the references to parent and children."""
        self.parent = None
        self._children.clear()
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
        return self._found.lacks(self.queue, size, self._state.turns.given.queues)

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


class Ordering:
    """Branches of a cycle, built step by step. ``root``: None before that, and if no ask waits."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._branches: dict[QueuePath, Branch] = {}
        self._found = FoundHeadroom()
        self.root: Branch | None = None

    def build(self, indexes: Mapping[QueuePath, PendingIndex]) -> Iterator[None]:
        """Build the branches. A step for each leaf, and some for each branch."""
        children: dict[QueuePath, list[Branch]] = {}
        for path, index in list(indexes.items()):
            leaf = self._state.config.tree.get(path)
            if leaf is not None and index:
                self._add(leaf, index, children)
            yield
        for path in list(self._state.turns.promised):
            self._close_in(path, children)
            yield
        for path, branch in self._branches.items():
            branch.set_children(children.get(path, []))
            yield
        for branch in reversed(self._branches.values()):
            _ = branch.contender
            yield
        self.root = self._branches.get(self._state.config.tree.root.path)

    def _add(self, leaf: Queue, index: PendingIndex, children: dict[QueuePath, list[Branch]]) -> None:
        probe = Branch(self._state, leaf, None, self._found)
        probe.set_index(index)
        if probe.is_dead():
            note_requeue(self._state, leaf.path, RequeueReason.NO_HEADROOM)
            return
        branch = self._reach(leaf, children)
        branch.set_index(index)

    def _close_in(self, path: QueuePath, children: dict[QueuePath, list[Branch]]) -> Branch | None:
        """Branch of a leaf that counts in the order above it. A new one has nothing to check."""
        leaf = self._state.config.tree.get(path)
        if leaf is None or path in self._branches:
            return self._branches.get(path)
        new = [each.path for each in leaf.chain[:-1] if each.path not in self._branches]
        branch = self._reach(leaf, children)
        for each in new:
            self._branches[each].open = False
        return branch

    def catch_up(self) -> Iterator[int]:
        """Update the order with the counters changed since. Units of work, a step for each leaf."""
        while self._state.turns.moved:
            path, applications = take_moved(self._state)
            joined: dict[QueuePath, list[Branch]] = {}
            branch = self._close_in(path, joined) if self.root is not None else None
            for parent, new in joined.items():
                yield self._branches[parent].adopt(new)
            if branch is None:
                continue
            branch.note_change()
            for number, app_id in enumerate(applications if branch.built else ()):
                branch.note_application(app_id)
                if number % _MOVED_PER_UNIT == _MOVED_PER_UNIT - 1:
                    yield 1

    def _reach(self, leaf: Queue, children: dict[QueuePath, list[Branch]]) -> Branch:
        """Branch of a leaf, creating the branches down to it."""
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
        """First open leaf in the order, or None."""
        return self.root.next_leaf() if self.root is not None else None

    def dismantle(self) -> None:
        """Drop all references between branches at the end of a cycle.

        Otherwise the garbage collector would have to find thousands of cyclic references, and stops
        everything meanwhile.
        """
        for branch in self._branches.values():
            branch.part()
        self._branches.clear()
