"""Event records about nodes and queues, made by comparing them with their last known state (REST-38)."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from core.ids import NodeName, PodUid, QueuePath
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from extender.rest.memory.records import of_node, of_queue
from extender.rest.model.events import Change, Detail, EventRecord

Put = Callable[[EventRecord], None]


class KnownQueue(NamedTuple):
    """Last known state of a queue."""

    leaf: bool
    dynamic: bool
    max: Limit | None
    guaranteed: Limit | Resource | None


class Objects:
    """Maker of event records about nodes, node reservations and queues."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._nodes: dict[NodeName, NodeFacts] = {}
        self._held: dict[NodeName, PodUid] = {}
        self._queues: dict[QueuePath, KnownQueue] = {}

    def node(self, view: LedgerView, name: NodeName, *, now: float) -> None:
        """Record the changes of a node that was updated or deleted."""
        old, new = self._nodes.get(name), view.nodes.get(name)
        if new is None:
            if self._nodes.pop(name, None) is not None:
                self._put(of_node(name, Change.REMOVE, Detail.NODE_DECOMMISSION, now=now))
            return
        self._nodes[name] = new
        for each in _node_records(name, old, new, now):
            self._put(each)

    def all_nodes(self, view: LedgerView, *, now: float) -> None:
        """Record the changes of all nodes, after a list."""
        for name in sorted({*self._nodes, *view.nodes}):
            self.node(view, name, now=now)

    def held(self, reserved: Mapping[NodeName, PodUid], *, now: float) -> None:
        """Record changes of node reservations. Cost: O(reserved nodes)."""
        if reserved == self._held:
            return
        for name in sorted({*self._held, *reserved}):
            old, new = self._held.get(name), reserved.get(name)
            if old != new and old is not None:
                self._put(of_node(name, Change.REMOVE, Detail.NODE_RESERVATION, now=now, pod=old))
            if old != new and new is not None:
                self._put(of_node(name, Change.ADD, Detail.NODE_RESERVATION, now=now, pod=new))
        self._held = dict(reserved)

    def queues(self, view: LedgerView, *, now: float) -> None:
        """Record the changes of all queues. Called for a new document, or if their number has changed."""
        present = {queue.path: queue for queue in view.tree}
        for path in sorted({*self._queues, *present}):
            old, queue = self._queues.get(path), present.get(path)
            if queue is None:
                change, detail = Change.REMOVE, _coming_or_going(dynamic=old is not None and old.dynamic)
                self._put(of_queue(path, change, detail, now=now))
                del self._queues[path]
                continue
            new = known_queue(queue)
            self._queues[path] = new
            for each in _queue_records(path, old, new, now):
                self._put(each)

    def known_queues(self) -> int:
        """Number of queues at the last comparison."""
        return len(self._queues)


def known_queue(queue: Queue) -> KnownQueue:
    """Return the present state of a queue. The root has no max, since it is the sum of the nodes."""
    return KnownQueue(
        queue.is_leaf, queue.dynamic, queue.max if queue.parent is not None else None, queue.guaranteed
    )


def _node_records(name: NodeName, old: NodeFacts | None, new: NodeFacts, now: float) -> Iterator[EventRecord]:
    if old is None:
        yield of_node(name, Change.ADD, Detail.PLAIN, now=now, size=new.allocatable)
    elif old.allocatable != new.allocatable:
        yield of_node(name, Change.SET, Detail.NODE_CAPACITY, now=now, size=new.allocatable)
    if old is None or old.unschedulable != new.unschedulable:
        text = f"schedulable: {'false' if new.unschedulable else 'true'}"
        yield of_node(name, Change.SET, Detail.NODE_SCHEDULABLE, now=now, message=text)


def _coming_or_going(*, dynamic: bool) -> Detail:
    return Detail.QUEUE_DYNAMIC if dynamic else Detail.PLAIN


def _queue_records(
    path: QueuePath, old: KnownQueue | None, new: KnownQueue, now: float
) -> Iterator[EventRecord]:
    if old is None:
        yield of_queue(path, Change.ADD, _coming_or_going(dynamic=new.dynamic), now=now)
        return
    if old.leaf != new.leaf:
        yield of_queue(path, Change.SET, Detail.QUEUE_TYPE, now=now)
    if old.max != new.max:
        yield of_queue(path, Change.SET, Detail.QUEUE_MAX, now=now, size=new.max)
    if old.guaranteed != new.guaranteed:
        yield of_queue(path, Change.SET, Detail.QUEUE_GUARANTEED, now=now, size=new.guaranteed)
