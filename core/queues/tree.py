"""Tree of queues: built from a document, changed under running pods, searched by path."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.ids import RECOVERY_QUEUE, ROOT, QueuePath, parent_path
from core.queues.closing import Closures
from core.queues.priority import child_goes, recompute
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
    """All queues by path. Before the first document there is only the root, which may be a given one."""

    def __init__(self, root: Queue | None = None) -> None:
        self.root: Queue = root if root is not None else Queue(_bare(ROOT, None, is_leaf=False), None)
        self._by_path: dict[str, Queue] = {ROOT: self.root}
        # Number of dynamic queues by the configured queue that they are below.
        self._made: Counter[QueuePath] = Counter()
        # Queues that were removed last, and may still be read by a cycle under way.
        self._removed: list[Queue] = []
        #: Closed queues, also those that do not exist now.
        self.closures: Closures = {}

    def __iter__(self) -> Iterator[Queue]:
        """Every queue, parents before their children, in the order of creation."""
        return iter(self._by_path.values())

    def __len__(self) -> int:
        return len(self._by_path)

    def get(self, path: str) -> Queue | None:
        """Queue of a path, in any case of letters (Q-12), or None."""
        return self._by_path.get(path) or self._by_path.get(path.lower())

    def paths_of(self, path: str) -> Sequence[QueuePath]:
        """Paths of a queue and of those above it; empty for an unknown queue."""
        queue = self.get(path)
        return queue.paths if queue is not None else ()

    def chain_of(self, path: str) -> Sequence[Queue]:
        """Queue of a path and those above it; empty for an unknown queue. Read only."""
        queue = self.get(path)
        return queue.chain if queue is not None else ()

    def leaves(self) -> Iterator[Queue]:
        """All leaves."""
        return (queue for queue in self if queue.is_leaf)

    def set_capacity(self, capacity: Tally) -> None:
        """Set the root's max to the sum of the nodes, without zero types; None without any (QUO-1)."""
        amounts = {name: amount for name, amount in capacity.items() if amount > 0}
        self.root.max = Limit(amounts) if amounts else None
        self.root.changes += 1

    def conflicts(self, partition: PartitionSpec) -> tuple[str, ...]:
        """Reasons why a document cannot be applied to the running tree, one sentence each.

        Empty if it can.
        """
        return tuple(
            f"{spec.path} runs {len(live)} applications and cannot become a parent queue"
            for spec in partition.queues
            if (queue := self._by_path.get(spec.path))
            and not spec.is_leaf
            and (live := queue.applications - queue.completing)
        )

    def twin(self) -> "QueueTree":
        """Copy with the usage of these queues, to which another document may be applied.

        Counters are shared, so they must only be read. Cost: O(queues).
        """
        made = QueueTree()
        for queue in self:
            above = made._by_path[queue.parent.path] if queue.parent is not None else None
            copy = Queue(queue.spec, above, like=queue)
            copy.children, copy.shown = {}, dict(queue.shown)
            made._by_path[queue.path] = copy
            if above is None:
                made.root = copy
            else:
                above.children[queue.path] = copy
        made._made, made.closures = Counter(self._made), self.closures
        return made

    def apply(self, partition: PartitionSpec) -> None:
        """Apply a document. Known queues keep their usage, and missing ones drain (Q-9).

        The caller has checked `conflicts` before.
        """
        for spec in partition.queues:
            known = self._by_path.get(spec.path)
            if known is None:
                self._add(spec)
            else:
                known.configure(spec)
        self._drain_except({spec.path for spec in partition.queues})
        self._made = Counter(configured_above(queue) for queue in self if _is_made(queue))
        for queue in self:
            queue.inherit()
        for queue in reversed(list(self)):
            recompute(queue)

    def close_only(self, closures: Closures) -> None:
        """Close these queues and open all others. Missing ones are closed as soon as they exist (ACT-13)."""
        changed = {path for path, closure in self.closures.items() if closures.get(path) != closure}
        changed.update(path for path in closures if path not in self.closures)
        for queue in self if changed else ():
            queue.closed = closures.get(queue.path)
            # What is shown of a queue depends on the queues above it.
            queue.changes += not changed.isdisjoint(queue.paths)
        self.closures = closures

    def made_below(self, path: QueuePath) -> int:
        """Number of dynamic queues whose nearest configured ancestor this is."""
        return self._made[path]

    @property
    def made(self) -> int:
        """Number of dynamic queues in all, without the recovery queue."""
        return self._made.total()

    def recovery_queue(self) -> Queue:
        """Leaf for bound pods whose queue is unknown, created if needed, without quota (PL-12)."""
        known = self._by_path.get(RECOVERY_QUEUE)
        return known or self._add(_bare(RECOVERY_QUEUE, ROOT, is_leaf=True), dynamic=True)

    def create(self, paths: Sequence[QueuePath]) -> Queue:
        """Create the levels that placement found missing: dynamic parents, the last a dynamic leaf (PL-11).

        The leaf gets the template in force above it, once (TPL-2, TPL-4).
        """
        for place, path in enumerate(paths):
            parent = parent_path(path)
            spec = _bare(path, parent, is_leaf=place == len(paths) - 1)
            template = self._by_path[parent or ROOT].template
            if spec.is_leaf and template is not None:
                spec = replace(
                    spec,
                    max=template.max,
                    guaranteed=template.guaranteed,
                    max_applications=template.max_applications,
                    properties=template.properties,
                )
            self._add(spec, dynamic=True)
        return self._by_path[paths[-1]]

    def limit(
        self, queue: Queue, *, max: Limit | None, guaranteed: Resource | None, max_applications: int
    ) -> None:
        """Apply a namespace's annotations to a dynamic leaf. Absent ones change nothing (NS-5)."""
        if not queue.dynamic or not queue.is_leaf or queue.path == RECOVERY_QUEUE:
            return
        queue.spec = replace(
            queue.spec,
            max=max if max is not None else queue.spec.max,
            guaranteed=guaranteed if guaranteed is not None else queue.spec.guaranteed,
            max_applications=max_applications or queue.spec.max_applications,
        )
        queue.max = queue.spec.max
        queue.changes += 1

    def remove_idle(self) -> tuple[QueuePath, ...]:
        """Remove empty queues that drain or are dynamic, children first (Q-10)."""
        removed = []
        for queue in reversed(list(self)):
            leaving = queue.draining or queue.dynamic
            if leaving and not queue.applications and not queue.children:
                self._remove(queue)
                removed.append(queue.path)
        return tuple(removed)

    def part_removed(self) -> None:
        """Drop the references of removed queues to themselves, since nothing reads them any more."""
        for queue in self._removed:
            queue.chain = ()
        self._removed.clear()

    def _add(self, spec: QueueSpec, *, dynamic: bool = False) -> Queue:
        parent = self._by_path[spec.parent or ROOT]
        queue = Queue(spec, parent, dynamic=dynamic)
        queue.closed = self.closures.get(queue.path)
        parent.children[queue.path] = queue
        self._by_path[queue.path] = queue
        if _is_made(queue):
            self._made[configured_above(queue)] += 1
        return queue

    def _remove(self, queue: Queue) -> None:
        if queue.parent is not None:
            del queue.parent.children[queue.path]
            child_goes(queue.parent, queue)
        del self._by_path[queue.path]
        if _is_made(queue):
            self._made[configured_above(queue)] -= 1
        self._removed.append(queue)

    def _drain_except(self, named: set[QueuePath]) -> None:
        for queue in self:
            if queue.path not in named and not queue.dynamic and not queue.is_root:
                queue.draining = True


def configured_above(queue: Queue) -> QueuePath:
    """The queue itself, or its nearest ancestor that no placement rule made. The root is none of these."""
    return next(each.path for each in queue.chain if not each.dynamic)


def _is_made(queue: Queue) -> bool:
    return queue.dynamic and queue.path != RECOVERY_QUEUE


def over_max(queue: Queue) -> Resource | None:
    """Amounts that a queue holds above its max, or None."""
    if queue.max is None:
        return None
    held = queue.allocated.as_resource() + queue.reserved.as_resource()
    excess = {name: held.get(name) - cap for name, cap in queue.max.items() if held.get(name) > cap}
    return Resource(excess) if excess else None
