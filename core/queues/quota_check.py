"""Check of an ask: applications, user, group, queue, in that order (QUO-7, QUO-8, QUO-13, UGM-8).

Used for answers to kube-scheduler and by cycles. `Extra` is what a cycle counts on top.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from core.ids import AppId, QueuePath
from core.quantity import amount_text
from core.queues.closing import closed_in
from core.queues.headroom import Shortfall, shortfall
from core.queues.queue import Queue
from core.queues.users.limits import Claimant, Limits, Tracked, UsageBook, entry_for
from core.reasons import Code, Refusal
from core.resource import Limit, Resource, Tally, first_excess

_QUOTA = {"user": Code.USER_QUOTA_EXCEEDED, "group": Code.GROUP_QUOTA_EXCEEDED}
_APPLICATIONS = {
    "user": Code.USER_MAX_APPLICATIONS_REACHED,
    "group": Code.GROUP_MAX_APPLICATIONS_REACHED,
}
_NOTHING = Tally()
_Place = TypeVar("_Place")


@dataclass(slots=True)
class Extra:
    """Amounts given away that the counters do not show yet. Each addition needs one subtraction."""

    queues: dict[QueuePath, Tally] = field(default_factory=dict)
    people: dict[Tracked, Tally] = field(default_factory=dict)
    started: dict[QueuePath | Tracked, dict[AppId, int]] = field(default_factory=dict)

    def add(self, chain: Sequence[Queue], claimant: Claimant, size: Resource) -> None:
        """Count an ask in."""
        for queue in chain:
            _give(self.queues, queue.path, size)
            for tracked in claimant.tracked(queue.path):
                _give(self.people, tracked, size)
        for place in _places(chain, claimant):
            times = self.started.setdefault(place, {})
            times[claimant.application] = times.get(claimant.application, 0) + 1

    def take_back(self, chain: Sequence[Queue], claimant: Claimant, size: Resource) -> None:
        """Count an ask out."""
        for queue in chain:
            _take(self.queues, queue.path, size)
            for tracked in claimant.tracked(queue.path):
                _take(self.people, tracked, size)
        for place in _places(chain, claimant):
            times = self.started[place]
            times[claimant.application] -= 1
            if not times[claimant.application]:
                del times[claimant.application]
            if not times:
                del self.started[place]

    def shared(self) -> "Extra":
        """Copy that shares the counters of each place; see `copy_at`."""
        return Extra(dict(self.queues), dict(self.people), dict(self.started))

    def copy_at(self, place: QueuePath | Tracked) -> None:
        """Copy the counters of a place, so that they are shared no more."""
        started = self.started.get(place)
        if started is not None:
            self.started[place] = dict(started)
        if isinstance(place, Tracked):
            if place in self.people:
                self.people[place] = self.people[place].copy()
        elif place in self.queues:
            self.queues[place] = self.queues[place].copy()

    def of(self, queue: Queue) -> Tally:
        """Amounts given away in a queue. Read only."""
        return self.queues.get(queue.path, _NOTHING)


def _give(tallies: dict[_Place, Tally], place: _Place, size: Resource) -> None:
    tally = tallies.get(place)
    if tally is None:
        tallies[place] = Tally(size)
    else:
        tally.add(size)


def _take(tallies: dict[_Place, Tally], place: _Place, size: Resource) -> None:
    tally = tallies.get(place)
    if tally is None:
        # Other asks that held nothing have removed the entry.
        return
    tally.subtract(size)
    if not tally:
        del tallies[place]


def _places(chain: Sequence[Queue], claimant: Claimant) -> Iterator[QueuePath | Tracked]:
    """Places in which an application counts as running: queues, its user and its group."""
    for queue in chain:
        yield queue.path
        yield from claimant.tracked(queue.path)


@dataclass(init=False, slots=True)
class QuotaCheck:
    """Data that the check reads besides the queues."""

    limits: Final[Limits]
    book: Final[UsageBook]

    def __init__(self, limits: Limits, book: UsageBook) -> None:
        self.limits = limits
        self.book = book

    def refusal(
        self,
        chain: Sequence[Queue],
        claimant: Claimant,
        size: Resource,
        *,
        extra: Extra | None = None,
        with_root: bool = True,
    ) -> Refusal | None:
        """First reason why an ask must wait, or None. ``chain``: from the leaf to the root.

        ``with_root``: True if a full cluster is such a reason. Cost: O(depth).
        """
        return self.personal_refusal(chain, claimant, size, extra=extra) or _queues(
            chain if with_root else chain[:-1], size, extra
        )

    def personal_refusal(
        self, chain: Sequence[Queue], claimant: Claimant, size: Resource, *, extra: Extra | None = None
    ) -> Refusal | None:
        """Refusal without the headroom of queues: a reason that no eviction can change. Else None."""
        return self._applications(chain, claimant, extra) or (
            self._people(chain, claimant, size, extra) if self.limits else None
        )

    def excess(self, chain: Sequence[Queue], claimant: Claimant, size: Resource) -> Refusal | None:
        """First limit that is exceeded in a resource of ``size``, which is counted there. Else None.

        The check for a pod with a reservation, whose capacity others may have taken by force (QUO-8). Pending
        pods that were never admitted do not count, because they are refused instead (F-7).
        """
        for tracked, name in passed_limits(self.limits, self.book, chain, claimant, size):
            entry = entry_for(self.limits, tracked)
            if entry is not None and entry.max is not None:
                return Refusal(_QUOTA[tracked.kind], _subject(tracked), _bound(entry.max, name))
        for queue, name in passed_queues(chain, size, bypassed=False):
            return Refusal(Code.QUOTA_EXCEEDED, queue.path, Shortfall(queue, name).limit)
        return None

    def _applications(
        self, chain: Sequence[Queue], claimant: Claimant, extra: Extra | None
    ) -> Refusal | None:
        if claimant.started:
            return None
        closed = closed_in(chain)
        if closed is not None:
            return refusal_of_closed(closed)
        for queue in chain:
            most = queue.max_applications
            if most and count_running(queue.running, queue.path, claimant, extra) >= most:
                return Refusal(Code.MAX_APPLICATIONS_REACHED, queue.path, f"max applications={most}")
        return self._people_applications(chain, claimant, extra) if self.limits else None

    def _people_applications(
        self, chain: Sequence[Queue], claimant: Claimant, extra: Extra | None
    ) -> Refusal | None:
        for kind in _APPLICATIONS:
            for queue in chain:
                for tracked in claimant.tracked(queue.path):
                    if tracked.kind == kind and self._too_many(tracked, claimant, extra):
                        most = entry_for(self.limits, tracked)
                        bound = f"max applications={most.max_applications if most is not None else 0}"
                        return Refusal(_APPLICATIONS[kind], _subject(tracked), bound)
        return None

    def _too_many(self, tracked: Tracked, claimant: Claimant, extra: Extra | None) -> bool:
        entry = entry_for(self.limits, tracked)
        if entry is None or not entry.max_applications:
            return False
        usage = self.book.get(tracked)
        running = usage.applications if usage is not None else set()
        return count_running(running, tracked, claimant, extra) >= entry.max_applications

    def _people(
        self, chain: Sequence[Queue], claimant: Claimant, size: Resource, extra: Extra | None
    ) -> Refusal | None:
        """Refusal by limits, of the user before the group (FORMAT-10), or None."""
        for kind in _QUOTA:
            for queue in chain:
                for tracked in claimant.tracked(queue.path):
                    if tracked.kind == kind:
                        refusal = self._person(tracked, size, extra)
                        if refusal is not None:
                            return refusal
        return None

    def _person(self, tracked: Tracked, size: Resource, extra: Extra | None) -> Refusal | None:
        entry = entry_for(self.limits, tracked)
        if entry is None or entry.max is None:
            return None
        usage = self.book.get(tracked)
        held = usage.held if usage is not None else _NOTHING
        more = extra.people.get(tracked, _NOTHING) if extra is not None else _NOTHING
        name = first_excess(entry.max, size, held, more, size)
        return (
            None
            if name is None
            else Refusal(_QUOTA[tracked.kind], _subject(tracked), _bound(entry.max, name))
        )


def passed_queues(
    chain: Sequence[Queue], size: Resource, *, bypassed: bool = True
) -> Iterator[tuple[Queue, str]]:
    """Queues above their max in a resource of ``size``, each with that resource.

    ``bypassed``: whether pending pods that were never admitted count (F-7). Without the root, whose max is
    the cluster's size and no quota. Cost: O(depth).
    """
    for queue in chain:
        if queue.max is not None and not queue.is_root:
            less = _NOTHING if bypassed else negated(queue.bypassed)
            name = first_excess(queue.max, size, queue.allocated, queue.reserved, less)
            if name is not None:
                yield queue, name


def refusal_of_closed(queue: Queue) -> Refusal:
    """Refusal of an application that has not begun to run. Its text stays while the queue is closed."""
    return Refusal(Code.QUEUE_CLOSED, queue.path, "is closed to applications that do not run yet")


def negated(tally: Tally) -> Tally:
    """Amounts that subtract a tally from a sum."""
    return Tally(tally.as_resource().times(-1)) if tally else _NOTHING


def passed_limits(
    limits: Limits, book: UsageBook, chain: Sequence[Queue], claimant: Claimant, size: Resource
) -> Iterator[tuple[Tracked, str]]:
    """Limits of users and groups that are exceeded in a resource of ``size``, users first."""
    if not limits:
        return
    tracked = [each for queue in chain for each in claimant.tracked(queue.path)]
    for each in sorted(tracked, key=lambda each: each.kind != "user"):
        entry, usage = entry_for(limits, each), book.get(each)
        if entry is not None and entry.max is not None and usage is not None:
            name = first_excess(entry.max, size, usage.held)
            if name is not None:
                yield each, name


def _queues(chain: Sequence[Queue], size: Resource, extra: Extra | None) -> Refusal | None:
    short = shortfall(chain, size, extra=extra.queues if extra is not None else None)
    return None if short is None else Refusal(Code.QUOTA_EXCEEDED, short.queue.path, short.limit)


def count_running(
    running: set[AppId], place: QueuePath | Tracked, claimant: Claimant, extra: Extra | None
) -> int:
    """Number of other applications that run, or are about to. ``running``: those that run in a place."""
    count = len(running) - (claimant.application in running)
    for app_id in extra.started.get(place, ()) if extra is not None else ():
        count += app_id not in running and app_id != claimant.application
    return count


def _subject(tracked: Tracked) -> str:
    return f"{tracked.kind} {tracked.name[:64]} in {tracked.path}"


def _bound(limit: Limit, name: str) -> str:
    return f"max {name}={amount_text(name, limit.get(name) or 0)}"
