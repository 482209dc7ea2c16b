"""The pending asks of one leaf, by application and size, in rank order."""

from collections.abc import Iterator

from core.ids import AppId
from core.resource import Resource
from core.workload.ask import Rank, Waiting


class Lineup:
    """``lanes``: each application's asks; ``sizes``: number of asks by size, since equal asks fit alike."""

    __slots__ = ("lanes", "sizes")

    def __init__(self) -> None:
        self.lanes: dict[AppId, dict[Resource, Waiting]] = {}
        self.sizes: dict[Resource, int] = {}

    def __bool__(self) -> bool:
        return bool(self.sizes)

    def __iter__(self) -> Iterator[tuple[AppId, Resource, Rank]]:
        for app_id, lines in self.lanes.items():
            for size, waiting in lines.items():
                for rank in waiting:
                    yield app_id, size, rank

    def has(self, app_id: AppId, size: Resource, rank: Rank) -> bool:
        waiting = self.lanes.get(app_id, {}).get(size)
        return waiting is not None and rank in waiting

    def add(self, app_id: AppId, size: Resource, rank: Rank) -> None:
        self.lanes.setdefault(app_id, {}).setdefault(size, Waiting()).add(rank)
        self.sizes[size] = self.sizes.get(size, 0) + 1

    def remove(self, app_id: AppId, size: Resource, rank: Rank) -> None:
        """Raises KeyError when the ask is not in it."""
        lines = self.lanes[app_id]
        lines[size].remove(rank)
        if not lines[size]:
            del lines[size]
        if not lines:
            del self.lanes[app_id]
        self.sizes[size] -= 1
        if not self.sizes[size]:
            del self.sizes[size]
