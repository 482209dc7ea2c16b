"""Counters of asks that have turns: how many of each priority, and the amounts that they will use.

For the order of queues and applications, such an ask counts as placed (PRI-2, SORT-7).
"""

from core.ids import AppId
from core.resource import Resource, Tally


class Promised:
    """Turns of one application: number of asks by priority, and the amounts that they will use."""

    __slots__ = ("asked", "used")

    def __init__(self) -> None:
        self.asked: dict[int, int] = {}
        self.used = Tally()

    def __bool__(self) -> bool:
        return bool(self.asked)

    def add(self, priority: int, size: Resource) -> None:
        """Count a turn in."""
        self.asked[priority] = self.asked.get(priority, 0) + 1
        self.used.add(size)

    def take_back(self, priority: int, size: Resource) -> None:
        """Count out a turn that was counted in before."""
        _count_down(self.asked, priority)
        self.used.subtract(size)

    def copy(self) -> "Promised":
        """Copy that changes by itself."""
        twin = Promised()
        twin.asked.update(self.asked)
        twin.used.add(self.used)
        return twin


class Promises:
    """Turns of one leaf. ``asked``: number of asks by priority.

    ``applications``: the same per application.
    """

    __slots__ = ("applications", "asked")

    def __init__(self) -> None:
        self.asked: dict[int, int] = {}
        self.applications: dict[AppId, Promised] = {}

    def __bool__(self) -> bool:
        return bool(self.applications)

    def add(self, app: AppId, priority: int, size: Resource) -> None:
        """Count a turn in."""
        self.asked[priority] = self.asked.get(priority, 0) + 1
        self.applications.setdefault(app, Promised()).add(priority, size)

    def take_back(self, app: AppId, priority: int, size: Resource) -> None:
        """Count out a turn that was counted in before."""
        _count_down(self.asked, priority)
        promised = self.applications[app]
        promised.take_back(priority, size)
        if not promised:
            del self.applications[app]

    def copy(self) -> "Promises":
        """Copy that changes by itself."""
        twin = Promises()
        twin.asked.update(self.asked)
        twin.applications.update((app_id, promised.copy()) for app_id, promised in self.applications.items())
        return twin


NO_TURNS = Promised()
"""Turns of an application without any. Read only."""

NO_PROMISES = Promises()
"""Promises of a leaf without turns. Read only."""


def unpromised(asked: dict[int, int], promised: dict[int, int]) -> list[int]:
    """Priorities of asks that do not all have a turn."""
    return [each for each, count in asked.items() if count > promised.get(each, 0)]


def _count_down(counts: dict[int, int], priority: int) -> None:
    counts[priority] -= 1
    if not counts[priority]:
        del counts[priority]
