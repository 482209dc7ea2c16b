"""Queues and limits as they would be after a change. The real ones are never changed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.ids import AppId, QueuePath
from core.ledger.trial.change import NO_CHANGE, Change, Raise
from core.queues.limit_state import LimitKind
from core.queues.queue import Queue
from core.queues.spec import LimitSpec
from core.queues.tree import QueueTree
from core.queues.users.limits import Claimant, Limits, Tracked, Usage, UsageBook, entry_for
from core.resource import Limit, Resource, Tally

_OF_QUEUES = LimitKind.QUEUE


class ChangedQueues(QueueTree):
    """Tree that copies a queue when it is read first, if it or a queue above it changes.

    ``ended``: pods that end, by leaf and size. ``completed``: applications that have no pod then.
    """

    def __init__(
        self,
        base: QueueTree,
        change: Change,
        ended: Iterable[tuple[Queue, Resource]] = (),
        completed: frozenset[AppId] = frozenset(),
    ) -> None:
        super().__init__(base.root)
        self._base = base
        self._raises = _by_path(change.raises)
        self._more = change.node.allocatable if change.node is not None else None
        self._completed = completed
        self._less: dict[QueuePath, Tally] = {}
        for leaf, size in ended:
            for each in leaf.chain:
                self._less.setdefault(each.path, Tally()).add(size)
        self._copies: dict[str, Queue] = {}
        self.root = self._copy(base.root)

    def get(self, path: str) -> Queue | None:
        """Queue of a path as it would be, or None."""
        known = self._copies.get(path)
        if known is not None:
            return known
        queue = self._base.get(path)
        return self._copy(queue) if queue is not None else None

    def paths_of(self, path: str) -> Sequence[QueuePath]:
        """Paths of a queue and of those above it; empty for an unknown queue. Copies none."""
        known = self._copies.get(path)
        return known.paths if known is not None else self._base.paths_of(path)

    def chain_of(self, path: str) -> Sequence[Queue]:
        """Queue of a path and those above it, as they would be; empty for an unknown queue. Read only.

        A queue that itself stays the same is not copied, so it is below queues that are not in the chain.
        """
        known = self._copies.get(path)
        if known is not None:
            return known.chain
        queue = self._base.get(path)
        if queue is None:
            return ()
        if queue.parent is None or self._changes(queue):
            return self._copy(queue).chain
        return (queue, *self._copy(queue.parent).chain)

    def _copy(self, queue: Queue) -> Queue:
        known = self._copies.get(queue.path)
        if known is not None:
            return known
        above = self._copy(queue.parent) if queue.parent is not None else None
        twin = queue
        if above is not queue.parent or self._changes(queue):
            twin = queue.beside(above, less=self._less.get(queue.path), completed=self._completed)
            if queue.is_root and self._more is not None:
                twin.max = _sum(queue.max, self._more)
            for each in self._raises.get(queue.path, ()):
                _raise(twin, each)
        self._copies[queue.path] = twin
        return twin

    def dismantle(self) -> None:
        """Drop the references of the copies to each other. They must not be used any more."""
        for path, twin in self._copies.items():
            if twin is not self._base.get(path):
                # A table of children may be that of the real queue.
                twin.chain, twin.parent, twin.children = (), None, {}

    def _changes(self, queue: Queue) -> bool:
        return queue.path in self._raises or queue.path in self._less or (queue.is_root and bool(self._more))


def tree_after(base: QueueTree, change: Change) -> QueueTree:
    """Queues as they would be after a change of limits."""
    return ChangedQueues(base, change) if change != NO_CHANGE else base


def _by_path(raises: Iterable[Raise]) -> dict[QueuePath, list[Raise]]:
    found: dict[QueuePath, list[Raise]] = {}
    for each in raises:
        if each.key.kind is _OF_QUEUES:
            found.setdefault(each.key.path, []).append(each)
    return found


def _raise(queue: Queue, raised: Raise) -> None:
    name = raised.key.resource
    if not name:
        queue.spec = replace(queue.spec, max_applications=queue.spec.max_applications + raised.by)
    elif queue.max is not None:
        queue.max = raised_limit(queue.max, name, raised.by)


def raised_limit(limit: Limit, name: str, by: int) -> Limit:
    """Caps with one of them raised."""
    caps = dict(limit.items())
    return Limit({**caps, name: caps.get(name, 0) + by})


def _sum(cap: Limit | None, more: Resource) -> Limit:
    caps = dict(cap.items()) if cap is not None else {}
    return Limit({name: caps.get(name, 0) + more.get(name) for name in {*caps, *more.names()}})


class ChangedBook(UsageBook):
    """Usage of users and groups without the pods that end."""

    def __init__(self, base: UsageBook, completed: frozenset[AppId]) -> None:
        super().__init__()
        self._base = base
        self._completed = completed
        self._changed: dict[Tracked, Usage] = {}

    def get(self, tracked: Tracked) -> Usage | None:
        """Usage of a user or group as it would be, or None."""
        changed = self._changed.get(tracked)
        return changed if changed is not None else self._base.get(tracked)

    def end(self, claimant: Claimant, paths: Iterable[QueuePath], size: Resource) -> None:
        """Leave out a pod that ends."""
        for path in paths:
            for tracked in claimant.tracked(path):
                usage = self._changed.get(tracked)
                if usage is None:
                    known = self._base.get(tracked) or Usage()
                    usage = Usage(known.held.copy(), known.applications - self._completed)
                    self._changed[tracked] = usage
                usage.held.subtract(size)


def changed_limits(base: Limits, raises: Iterable[Raise]) -> Limits:
    """Limits of users and groups after some are raised. An entry is raised for all that it names."""
    for each in raises:
        if each.key.kind in (LimitKind.USER, LimitKind.GROUP):
            entry = entry_for(base, Tracked(each.key.kind, each.key.name, each.key.path))
            if entry is not None:
                base = base.with_entry(each.key.path, entry, raised_entry(entry, each))
    return base


def raised_entry(entry: LimitSpec, raised: Raise) -> LimitSpec:
    """Entry of a document with one of its bounds raised."""
    if not raised.key.resource:
        return replace(entry, max_applications=entry.max_applications + raised.by)
    return replace(entry, max=raised_limit(entry.max or Limit({}), raised.key.resource, raised.by))
