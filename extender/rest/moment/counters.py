"""Counters of queues, users and groups, copied when an application in them may have changed."""

from collections.abc import Iterable, Mapping

from core.ids import ROOT, QueuePath, parent_path
from core.ledger.view import LedgerView
from core.queues.users.limits import Tracked
from core.resource import Resource
from extender.rest.moment.rows import AppRow
from extender.rest.projection.queues import QueueRow, queue_row


class Counters:
    """Copies, and which of them are stale.

    A counter changes only with a pod of an application in that queue. So a row of an application that is
    made anew marks its queue, the queues above, and its user and group in them.
    """

    def __init__(self) -> None:
        self._queues: dict[QueuePath, QueueRow] = {}
        self._held: dict[Tracked, Resource] = {}
        self._stale_queues: dict[QueuePath, None] = {}
        self._stale_held: dict[Tracked, None] = {}

    @property
    def stale(self) -> int:
        """Number of stale copies."""
        return len(self._stale_queues) + len(self._stale_held)

    def mark_root(self) -> None:
        """Mark the root, whose max is the size of the cluster."""
        self._stale_queues[ROOT] = None

    def mark_application(self, row: AppRow) -> None:
        """Mark the counters that an application is a part of."""
        self._stale_queues.update(dict.fromkeys(row.chain))
        self._stale_held.update(dict.fromkeys(row.tracked()))

    def mark_queues(self, paths: Iterable[QueuePath]) -> None:
        """Mark queues that are known, or were."""
        self._stale_queues.update(dict.fromkeys(paths))

    def mark_held(self, keys: Iterable[Tracked]) -> None:
        """Mark keys of usage that are known, or were."""
        self._stale_held.update(dict.fromkeys(keys))

    def known(self) -> tuple[list[QueuePath], list[Tracked]]:
        """Queues and keys that have a copy."""
        return list(self._queues), list(self._held)

    def mark_removed(self, view: LedgerView) -> None:
        """Mark queues that came or went without a word: an empty one is removed after its application."""
        if len(view.tree) == len(self._queues):
            return
        for path in [path for path in self._queues if view.tree.get(path) is None]:
            self.mark_queues((path, parent_path(path) or ROOT))
        self.mark_queues(queue.path for queue in view.tree if queue.path not in self._queues)

    def copy(self, view: LedgerView, most: int) -> None:
        """Copy at most that many queues, and as many keys."""
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
        """All copies, none of which is stale."""
        return dict(self._queues), dict(self._held)
