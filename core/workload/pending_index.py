"""Pending asks of one leaf, by application and kind, in rank order."""

from collections.abc import Iterator

from core.ids import AppId
from core.resource import Resource
from core.workload.ask import Rank, Waiting
from core.workload.nodes.affinity import Constraints

Kind = tuple[Resource, Constraints]
"""Kind of asks that fit alike: the same size and the same constraints on nodes."""


class PendingIndex:
    """Index of a leaf. ``by_application``: asks of each application. ``sizes``: number of asks by size."""

    __slots__ = ("by_application", "sizes")

    def __init__(self) -> None:
        self.by_application: dict[AppId, dict[Kind, Waiting]] = {}
        self.sizes: dict[Resource, int] = {}

    def __bool__(self) -> bool:
        return bool(self.sizes)

    def __iter__(self) -> Iterator[tuple[AppId, Kind, Rank]]:
        for app_id, lines in self.by_application.items():
            for kind, waiting in lines.items():
                for rank in waiting:
                    yield app_id, kind, rank

    def has(self, app_id: AppId, kind: Kind, rank: Rank) -> bool:
        """True if the ask is in the index."""
        waiting = self.by_application.get(app_id, {}).get(kind)
        return waiting is not None and rank in waiting

    def add(self, app_id: AppId, kind: Kind, rank: Rank) -> None:
        """Add an ask."""
        lines = self.by_application.setdefault(app_id, {})
        waiting = lines.get(kind)
        if waiting is None:
            waiting = lines[kind] = Waiting()
        waiting.add(rank)
        size, _ = kind
        self.sizes[size] = self.sizes.get(size, 0) + 1

    def remove(self, app_id: AppId, kind: Kind, rank: Rank) -> None:
        """Remove an ask. Raises KeyError if it is not in the index."""
        lines = self.by_application[app_id]
        waiting = lines[kind]
        waiting.remove(rank)
        if not waiting:
            del lines[kind]
            if not lines:
                del self.by_application[app_id]
        size, _ = kind
        left = self.sizes[size] - 1
        if left:
            self.sizes[size] = left
        else:
            del self.sizes[size]
