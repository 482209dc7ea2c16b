"""Copies of the counters of queues, users and user groups, made when an application may have changed."""

from collections.abc import Iterable, Mapping

from core.ids import ROOT, QueuePath, parent_path
from core.ledger.view import LedgerView
from core.queues.closing import Closures
from core.queues.users.limits import Tracked
from core.resource import Resource
from extender.rest.moment.rows import AppRow
from extender.rest.projection.queues import QueueRow, queue_row


class Counters:
    """Copies of counters, and the keys of those that are stale.

    A counter changes only with a pod of an application in that queue. Therefore a new row of an application
    marks its queue, the queues above, and its user and user group in them.
    """

    def __init__(self) -> None:
        self._queues: dict[QueuePath, QueueRow] = {}
        self._held: dict[Tracked, Resource] = {}
        self._stale_queues: dict[QueuePath, None] = {}
        self._stale_held: dict[Tracked, None] = {}
        #: Closed queues at the last check. The ledger replaces the mapping when one of them changes.
        self._closures: Closures = {}

    @property
    def stale(self) -> int:
        """Return the number of stale copies."""
        return len(self._stale_queues) + len(self._stale_held)

    def mark_root(self) -> None:
        """Mark the root, whose max is the size of the cluster."""
        self._stale_queues[ROOT] = None

    def mark_application(self, row: AppRow) -> None:
        """Mark the counters to which an application belongs."""
        self._stale_queues.update(dict.fromkeys(row.chain))
        self._stale_held.update(dict.fromkeys(row.tracked()))

    def mark_queues(self, paths: Iterable[QueuePath]) -> None:
        """Mark queues, even removed ones."""
        self._stale_queues.update(dict.fromkeys(paths))

    def mark_held(self, keys: Iterable[Tracked]) -> None:
        """Mark keys of usage, even removed ones."""
        self._stale_held.update(dict.fromkeys(keys))

    def known(self) -> tuple[list[QueuePath], list[Tracked]]:
        """Return the queues and keys that have a copy."""
        return list(self._queues), list(self._held)

    def mark_changed(self, view: LedgerView) -> None:
        """Mark queues that changed without an event: an empty dynamic queue, or one that opened by itself."""
        closures = view.tree.closures
        if closures is not self._closures:
            self._closures = closures
            self.mark_queues(queue.path for queue in view.tree)
        if len(view.tree) == len(self._queues):
            return
        for path in [path for path in self._queues if view.tree.get(path) is None]:
            self.mark_queues((path, parent_path(path) or ROOT))
        self.mark_queues(queue.path for queue in view.tree if queue.path not in self._queues)

    def copy(self, view: LedgerView, most: int) -> None:
        """Copy stale counters: at most ``most`` queues, and as many keys."""
        for _ in range(min(most, len(self._stale_queues))):
            path, _none = self._stale_queues.popitem()
            queue = view.tree.get(path)
            if queue is None:
                self._queues.pop(path, None)
            else:
                self._queues[path] = queue_row(queue)
        for _ in range(min(most, len(self._stale_held))):
            key, _none = self._stale_held.popitem()
            usage = view.book.get(key)
            if usage is None or not usage.held:
                self._held.pop(key, None)
            else:
                self._held[key] = usage.held.as_resource()

    def taken(self) -> tuple[Mapping[QueuePath, QueueRow], Mapping[Tracked, Resource]]:
        """Return all copies. None of them may be stale."""
        return dict(self._queues), dict(self._held)
