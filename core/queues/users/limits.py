"""Limits of users and groups: the document's entries, and current usage (UGM-1 to UGM-12).

Usage is recorded per name and queue path. It is a function of what the pods hold. So the ledger moves it
together with the queues' own counters, and recomputes it at a reload.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from core.ids import AppId, QueuePath
from core.queues.spec import LimitSpec, QueueSpec
from core.resource import UNLIMITED, Limit, Resource, Tally

ANY = "*"


@dataclass(frozen=True, slots=True)
class _Level:
    """Entries of one queue by name, in the document's order."""

    users: Mapping[str, LimitSpec]
    groups: Mapping[str, LimitSpec]


class Limits:
    """Limits of a partition, by queue path (UGM-2)."""

    def __init__(self, queues: Iterable[QueueSpec] = ()) -> None:
        self._levels = {queue.path: _level(queue.limits) for queue in queues if queue.limits}

    def __bool__(self) -> bool:
        return bool(self._levels)

    def of_user(self, path: QueuePath, user: str) -> LimitSpec | None:
        """Entry that names the user, else the wildcard's (UGM-1), or None."""
        level = self._levels.get(path)
        if level is None:
            return None
        return level.users.get(user) or level.users.get(ANY)

    def of_group(self, path: QueuePath, group: str) -> LimitSpec | None:
        """Entry of exactly that name (UGM-6), or None."""
        level = self._levels.get(path)
        return level.groups.get(group) if level is not None else None

    def with_entry(self, path: QueuePath, old: LimitSpec, new: LimitSpec) -> "Limits":
        """Limits with one entry of a queue replaced, for all that it names."""
        level, changed = self._levels[path], Limits()
        own = _Level(
            {name: new if each is old else each for name, each in level.users.items()},
            {name: new if each is old else each for name, each in level.groups.items()},
        )
        changed._levels = {**self._levels, path: own}
        return changed

    def group_for(self, paths: Iterable[QueuePath], groups: Sequence[str]) -> str:
        """Group that an application counts for; empty for none (UGM-5). ``paths``: from its leaf up."""
        for path in paths:
            level = self._levels.get(path)
            if level is not None and level.groups:
                named = next((name for name in level.groups if name != ANY and name in groups), None)
                if named is not None:
                    return named
                if ANY in level.groups:
                    return ANY
        return ""


def _level(entries: Iterable[LimitSpec]) -> _Level:
    users: dict[str, LimitSpec] = {}
    groups: dict[str, LimitSpec] = {}
    for entry in entries:
        for user in entry.users:
            users.setdefault(user, entry)
        for group in entry.groups:
            groups.setdefault(group, entry)
    return _Level(users, groups)


class Tracked(NamedTuple):
    """Key of usage: a user or a group, in one queue and below it."""

    kind: str
    name: str
    path: QueuePath


@dataclass(init=False, slots=True)
class Usage:
    """Amounts held, and the applications that hold or held them while they live."""

    held: Tally
    applications: set[AppId]

    def __init__(self, held: Tally | None = None, applications: set[AppId] | None = None) -> None:
        self.held = Tally() if held is None else held
        self.applications = set() if applications is None else applications


@dataclass(init=False, slots=True)
class Claimant:
    """Claimant of quota: an application with its user and the group it counts for, empty for none.

    ``started``: True if something of it was admitted already, so that no limit on applications applies
    (QUO-13).
    """

    application: Final[AppId]
    user: Final[str]
    group: Final[str]
    started: Final[bool]

    def __init__(self, application: AppId, user: str, group: str, started: bool) -> None:
        self.application = application
        self.user = user
        self.group = group
        self.started = started

    def tracked(self, path: QueuePath) -> tuple[Tracked, ...]:
        """Keys of its user and its group in a queue."""
        return _tracked(self.user, self.group, path)


@lru_cache(maxsize=8192)
def _tracked(user: str, group: str, path: QueuePath) -> tuple[Tracked, ...]:
    mine = Tracked("user", user, path)
    return (mine, Tracked("group", group, path)) if group else (mine,)


class UsageBook:
    """Usage of all users and groups. Empty entries are removed (UGM-9)."""

    def __init__(self) -> None:
        self._entries: dict[Tracked, Usage] = {}

    def __iter__(self) -> Iterator[tuple[Tracked, Usage]]:
        return iter(self._entries.items())

    def get(self, tracked: Tracked) -> Usage | None:
        """Usage of a user or group, or None."""
        return self._entries.get(tracked)

    def add(self, claimant: Claimant, paths: Iterable[QueuePath], size: Resource) -> None:
        """Count a size in, on every path."""
        for path in paths:
            for tracked in claimant.tracked(path):
                self._entry(tracked).held.add(size)

    def subtract(self, claimant: Claimant, paths: Iterable[QueuePath], size: Resource) -> None:
        """Count a size out, on every path."""
        for path in paths:
            for tracked in claimant.tracked(path):
                self._entries[tracked].held.subtract(size)
                self._drop_empty(tracked)

    def start(self, claimant: Claimant, paths: Iterable[QueuePath]) -> None:
        """Note that an application has started (UGM-8)."""
        for path in paths:
            for tracked in claimant.tracked(path):
                self._entry(tracked).applications.add(claimant.application)

    def stop(self, claimant: Claimant, paths: Iterable[QueuePath]) -> None:
        """Note that an application has ended."""
        for path in paths:
            for tracked in claimant.tracked(path):
                if tracked in self._entries:
                    self._entries[tracked].applications.discard(claimant.application)
                    self._drop_empty(tracked)

    def _entry(self, tracked: Tracked) -> Usage:
        entry = self._entries.get(tracked)
        if entry is None:
            entry = self._entries[tracked] = Usage()
        return entry

    def _drop_empty(self, tracked: Tracked) -> None:
        usage = self._entries[tracked]
        if not (usage.applications or usage.held):
            del self._entries[tracked]


def headroom_for(limits: Limits, book: UsageBook, claimant: Claimant, paths: Sequence[QueuePath]) -> Limit:
    """Headroom under the limits of a user and a group, on every level of the path (UGM-4, UGM-6, UGM-7)."""
    left = UNLIMITED
    for path in paths:
        for tracked in claimant.tracked(path):
            limit = entry_for(limits, tracked)
            if limit is not None and limit.max is not None:
                usage = book.get(tracked)
                held = usage.held.as_resource() if usage is not None else Resource({})
                left = left.tightest(limit.max.minus(held))
    return left


def entry_for(limits: Limits, tracked: Tracked) -> LimitSpec | None:
    """Limit of a user or group in a queue, or None."""
    if tracked.kind == "user":
        return limits.of_user(tracked.path, tracked.name)
    return limits.of_group(tracked.path, tracked.name)
