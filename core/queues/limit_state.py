"""Every limit on an ask with its figures: bound, used, needed, short (QUO-7, QUO-8, QUO-13, UGM-8).

`core.queues.quota_check` answers with the first limit that holds an ask. This module lists all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from core.ids import QueuePath
from core.queues.queue import Queue
from core.queues.quota_check import Extra, QuotaCheck, count_running
from core.queues.users.limits import Claimant, Tracked, entry_for
from core.resource import Counted, Resource, Tally

_NOTHING = Tally()


class LimitKind(StrEnum):
    """Owner of a limit."""

    CLUSTER = "cluster"
    """Sum of the nodes, which is the max of the root (QUO-1)."""
    QUEUE = "queue"
    USER = "user"
    GROUP = "group"


class LimitKey(NamedTuple):
    """Key of one bound.

    ``name``: of a user or a user group; empty for others. ``resource``: empty for a number of applications.
    """

    kind: LimitKind
    path: QueuePath
    name: str = ""
    resource: str = ""


@dataclass(frozen=True, slots=True)
class LimitState:
    """A limit with its figures for one ask, in base units, or in applications."""

    key: LimitKey
    bound: int
    #: Amounts allocated, reserved, and held by turns.
    used: int
    needed: int

    @property
    def free(self) -> int:
        """Amount that is left; negative above a limit that was lowered."""
        return self.bound - self.used

    @property
    def short(self) -> int:
        """Amount that is missing; 0 if the limit does not hold the ask."""
        return max(0, self.needed - self.free)


def limits_of_ask(
    check: QuotaCheck,
    chain: Sequence[Queue],
    claimant: Claimant,
    size: Resource,
    *,
    extra: Extra | None = None,
) -> Iterator[LimitState]:
    """All limits on an ask, in the order in which `QuotaCheck.refusal` checks them.

    ``extra``: usage to count on top. Cost: O(depth).
    """
    counted = extra or Extra()
    if not claimant.started:
        yield from _applications(check, chain, claimant, counted)
    for kind in (LimitKind.USER, LimitKind.GROUP):
        for tracked in _tracked(check, chain, claimant, kind):
            yield from _of_person(check, tracked, size, counted)
    for queue in chain:
        yield from _of_queue(queue, size, counted.of(queue))


def _applications(
    check: QuotaCheck, chain: Sequence[Queue], claimant: Claimant, extra: Extra
) -> Iterator[LimitState]:
    for queue in chain:
        if queue.max_applications:
            used = count_running(queue.running, queue.path, claimant, extra)
            yield LimitState(LimitKey(LimitKind.QUEUE, queue.path), queue.max_applications, used, 1)
    for kind in (LimitKind.USER, LimitKind.GROUP):
        for tracked in _tracked(check, chain, claimant, kind):
            entry, usage = entry_for(check.limits, tracked), check.book.get(tracked)
            if entry is not None and entry.max_applications:
                running = usage.applications if usage is not None else set()
                used = count_running(running, tracked, claimant, extra)
                key = LimitKey(kind, tracked.path, tracked.name)
                yield LimitState(key, entry.max_applications, used, 1)


def _tracked(
    check: QuotaCheck, chain: Sequence[Queue], claimant: Claimant, kind: LimitKind
) -> Iterator[Tracked]:
    for queue in chain if check.limits else ():
        yield from (each for each in claimant.tracked(queue.path) if each.kind == kind)


def _of_person(check: QuotaCheck, tracked: Tracked, size: Resource, extra: Extra) -> Iterator[LimitState]:
    entry, usage = entry_for(check.limits, tracked), check.book.get(tracked)
    if entry is None or entry.max is None:
        return
    held, more = usage.held if usage is not None else _NOTHING, extra.people.get(tracked, _NOTHING)
    for name, amount in size.items():
        cap = entry.max.get(name)
        if amount > 0 and cap is not None:
            key = LimitKey(LimitKind(tracked.kind), tracked.path, tracked.name, name)
            yield LimitState(key, cap, _sum(name, held, more), amount)


def _of_queue(queue: Queue, size: Resource, extra: Tally) -> Iterator[LimitState]:
    kind = LimitKind.CLUSTER if queue.is_root else LimitKind.QUEUE
    for name, amount in size.items():
        cap = queue.max.get(name) if queue.max is not None else None
        if cap is None and queue.is_root:
            cap = 0  # No node offers the type, so it does not fit.
        if amount > 0 and cap is not None:
            used = _sum(name, queue.allocated, queue.reserved, extra)
            yield LimitState(LimitKey(kind, queue.path, "", name), cap, used, amount)


def _sum(name: str, *parts: Counted) -> int:
    return sum(part.get(name) for part in parts)
