"""The pending asks of one leaf, by application and kind, in rank order."""

from collections.abc import Iterator

from core.ids import AppId
from core.resource import Resource
from core.workload.ask import Rank, Waiting
from core.workload.nodes.affinity import Constraints

Kind = tuple[Resource, Constraints]
"""Asks of one kind fit alike: the same size, and the same to say of nodes."""


class PendingIndex:
    """``by_application``: each application's asks; ``sizes``: number of asks by size."""

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
        waiting = self.by_application.get(app_id, {}).get(kind)
        return waiting is not None and rank in waiting

    def add(self, app_id: AppId, kind: Kind, rank: Rank) -> None:
        lines = self.by_application.setdefault(app_id, {})
        waiting = lines.get(kind)
        if waiting is None:
            waiting = lines[kind] = Waiting()
        waiting.add(rank)
        size, _ = kind
        self.sizes[size] = self.sizes.get(size, 0) + 1

    def remove(self, app_id: AppId, kind: Kind, rank: Rank) -> None:
        """Raises KeyError when the ask is not in it."""
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
