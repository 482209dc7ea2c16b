"""Order in which plans are made: asks come due in the order of their queues (SORT-0 to SORT-3, F-14).

The first queue in the scheduling order goes first, found anew after each plan. An ask with a plan in flight
counts as placed. Within a leaf the order is that of `core.ledger.preemption.attempts`.
"""

from core.ids import PodUid, QueuePath
from core.ledger.view import LedgerView
from core.queues.headroom import fair_max
from core.queues.ordering import Contender, first_of, order_key
from core.queues.queue import Queue
from core.resource import Resource
from core.resource.shares import fair_share

CONTENDERS_PER_SLICE = 100
"""Queues that are compared in one slice, at most. Each takes about ten microseconds."""


class DueOrder:
    """Asks that may have a plan made for them now, by leaf. The planner holds it between plans.

    Usage of a queue is read once, and again after each plan for an ask below it.
    """

    def __init__(self) -> None:
        self._round: object = None
        self._due: dict[QueuePath, list[PodUid]] = {}
        self._below: dict[QueuePath, dict[QueuePath, Queue]] = {}
        self._weighed: dict[QueuePath, Contender] = {}

    def prepare(self, view: LedgerView) -> bool:
        """Compare some queues. True once all are compared, so that `first` and `goes_first` are quick."""
        if view.due_round() != self._round:
            self._file(view)
        left = CONTENDERS_PER_SLICE
        for children in self._below.values():
            for path, queue in children.items():
                if path not in self._weighed:
                    if not left:
                        return False
                    self._weighed[path] = _contender(queue)
                    left -= 1
        return True

    def first(self, view: LedgerView) -> PodUid | None:
        """Remove and return the first ask in the order. None if none is left."""
        while (leaf := self._first_leaf(view.tree.root)) is not None:
            due = self._due[leaf.path]
            uid = due.pop(0) if due else None
            if not due:
                self._close(leaf)
            for queue in leaf.chain:
                self._weighed.pop(queue.path, None)
            if uid is not None and uid in view.trying:
                return uid
        return None

    def goes_first(self, leaf: Queue) -> bool:
        """True if no other leaf with due asks goes before this one."""
        for queue in leaf.chain[:-1]:
            parent = queue.parent
            rivals = {**self._below.get(parent.path, {}), queue.path: queue} if parent is not None else {}
            if len(rivals) > 1:
                first = first_of([self._weigh(rivals[path]) for path in sorted(rivals)])
                if first is not None and first.path != queue.path:
                    return False
        return True

    def _file(self, view: LedgerView) -> None:
        """File the asks of a new round, beside those left of the last one."""
        self._round = view.due_round()
        self._due, self._below, self._weighed = {}, {}, {}
        for uid in view.trying:
            record = view.pod(uid)
            leaf = view.queue_of(record) if record is not None else None
            if leaf is None:
                continue
            self._due.setdefault(leaf.path, []).append(uid)
            if len(self._due[leaf.path]) == 1:
                for queue in leaf.chain[:-1]:
                    if queue.parent is not None:
                        self._below.setdefault(queue.parent.path, {})[queue.path] = queue
        self._below = {path: dict(sorted(children.items())) for path, children in self._below.items()}

    def _first_leaf(self, queue: Queue) -> Queue | None:
        while children := self._below.get(queue.path):
            first = first_of([self._weigh(each) for each in children.values()])
            if first is None:
                return None
            queue = children[first.path]
        return queue if queue.path in self._due else None

    def _weigh(self, queue: Queue) -> Contender:
        found = self._weighed.get(queue.path)
        if found is None:
            found = self._weighed[queue.path] = _contender(queue)
        return found

    def _close(self, leaf: Queue) -> None:
        """Note that no ask is left in a leaf, and perhaps below a queue above it."""
        del self._due[leaf.path]
        for queue in leaf.chain[:-1]:
            parent = queue.parent
            if parent is None or queue.path in self._below:
                return
            children = self._below[parent.path]
            del children[queue.path]
            if not children:
                del self._below[parent.path]


def _contender(queue: Queue) -> Contender:
    """A queue as it is compared, with asks that have victims counted as placed (DIV-14)."""
    held = Resource.sum_of(queue.allocated, queue.reserved, queue.triggered)
    share = fair_share(held, queue.guaranteed, fair_max(queue.chain))
    by_priority = queue.parent is None or queue.parent.properties.sort_by_priority
    pending = queue.pending.copy()
    pending.subtract(queue.triggered.as_resource())
    return Contender(
        queue.path, order_key(queue.priority, share, by_priority=by_priority), pending.as_resource()
    )
