"""The tree of queues: building it from a document, changing it under running pods, finding a queue in it."""

from collections.abc import Iterator

from core.ids import RECOVERY_QUEUE, ROOT, QueuePath
from core.queues.queue import Queue
from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Limit, Resource, Tally


def _bare(path: QueuePath, parent: QueuePath | None, *, is_leaf: bool) -> QueueSpec:
    return QueueSpec(
        path=path,
        parent=parent,
        is_leaf=is_leaf,
        max=None,
        guaranteed=None,
        max_applications=0,
        properties={},
        submit_acl="",
        admin_acl="",
    )


class QueueTree:
    """All queues by path. Before the first document there is a bare root."""

    def __init__(self) -> None:
        self.root = Queue(_bare(ROOT, None, is_leaf=False), None)
        self._by_path: dict[QueuePath, Queue] = {ROOT: self.root}

    def __iter__(self) -> Iterator[Queue]:
        """Every queue, parents before their children, in the order of creation."""
        return iter(self._by_path.values())

    def __len__(self) -> int:
        return len(self._by_path)

    def get(self, path: str) -> Queue | None:
        """Look-up folds to lower case (Q-12)."""
        return self._by_path.get(QueuePath(path)) or self._by_path.get(QueuePath(path.lower()))

    def leaves(self) -> Iterator[Queue]:
        return (queue for queue in self if queue.is_leaf)

    def set_capacity(self, capacity: Tally) -> None:
        """Root max: the sum of the nodes, zero types pruned; none is undefined (QUO-1)."""
        amounts = {name: amount for name, amount in capacity.items() if amount > 0}
        self.root.max = Limit(amounts) if amounts else None

    def conflicts(self, partition: PartitionSpec) -> tuple[str, ...]:
        """Why a document cannot be applied to the running tree, one sentence each; empty when it can."""
        return tuple(
            f"{spec.path} runs {len(queue.applications)} applications and cannot become a parent queue"
            for spec in partition.queues
            if (queue := self._by_path.get(spec.path)) and queue.applications and not spec.is_leaf
        )

    def apply(self, partition: PartitionSpec) -> None:
        """Take over a document: known queues keep their usage, missing ones drain (Q-9).

        The caller has asked `conflicts` before.
        """
        for spec in partition.queues:
            known = self._by_path.get(spec.path)
            if known is None:
                self._add(spec)
            else:
                known.configure(spec)
        self._drain_except({spec.path for spec in partition.queues})

    def recovery_queue(self) -> Queue:
        """The leaf for bound pods whose queue is unknown, made when needed; no quota (PL-12)."""
        known = self._by_path.get(RECOVERY_QUEUE)
        return known or self._add(_bare(RECOVERY_QUEUE, ROOT, is_leaf=True))

    def remove_idle(self) -> tuple[QueuePath, ...]:
        """Remove queues that drain and are empty, and an empty recovery queue, children first (Q-10)."""
        removed = []
        for queue in reversed(list(self)):
            leaving = queue.draining or queue.path == RECOVERY_QUEUE
            if leaving and not queue.applications and not queue.children:
                self._remove(queue)
                removed.append(queue.path)
        return tuple(removed)

    def _add(self, spec: QueueSpec) -> Queue:
        parent = self._by_path[spec.parent or ROOT]
        queue = Queue(spec, parent)
        parent.children[queue.path] = queue
        self._by_path[queue.path] = queue
        return queue

    def _remove(self, queue: Queue) -> None:
        if queue.parent is not None:
            del queue.parent.children[queue.path]
        del self._by_path[queue.path]

    def _drain_except(self, kept: set[QueuePath]) -> None:
        for queue in self:
            if queue.path not in kept and queue.path != RECOVERY_QUEUE and not queue.is_root:
                queue.draining = True


def over_max(queue: Queue) -> Resource | None:
    """By how much a queue holds more than its max, or None when it does not."""
    if queue.max is None:
        return None
    held = queue.allocated.as_resource() + queue.reserved.as_resource()
    excess = {name: held.get(name) - cap for name, cap in queue.max.items() if held.get(name) > cap}
    return Resource(excess) if excess else None
