"""Start of preemption after a quota has shrunk below usage (QCP-1 to QCP-3)."""

from dataclasses import dataclass

from core.instants import has_come
from core.queues.queue import Queue
from core.resource import Amounts, Limit, is_zero, strictly_more, within


@dataclass(frozen=True, slots=True)
class QuotaTerms:
    """Quota of a queue in a document. ``delay``: ``quota.preemption.delay`` in seconds; 0 for off."""

    max: Limit | None
    delay: float


def start_after(
    old: QuotaTerms,
    new: QuotaTerms,
    *,
    start: float | None,
    allocated: Amounts,
    running: bool,
    now: float,
) -> float | None:
    """Time at which preemption may begin after a document was applied. None for never (QCP-2, DIV-17).

    ``start``: time at which it was to begin so far. ``running``: True if it is under way, which changes
    nothing.
    """
    if running:
        return start
    if not new.delay or is_zero(new.max) or within(new.max, allocated):
        return None
    if start is not None:
        return start + new.delay - old.delay
    switched_on = new.max == old.max and not old.delay
    lowered = strictly_more(old.max, new.max) or _lowered_below_use(old.max, new.max, allocated)
    return now + new.delay if switched_on or lowered else None


def _lowered_below_use(old: Limit | None, new: Limit | None, allocated: Amounts) -> bool:
    """True if a type was lowered below its usage. A first max counts as lowered (DIV-17)."""
    used = dict(allocated.items())
    for name, cap in new.items() if new is not None else ():
        before = old.get(name) if old is not None else None
        if (before is None or cap < before) and used.get(name, 0) > cap:
            return True
    return False


def start_after_growth(
    terms: QuotaTerms, *, start: float | None, allocated: Amounts, switched_on: bool, now: float
) -> float | None:
    """Start as from `start_after`, for usage that grew without admission: a recovery or a resize (QCP-2)."""
    if start is not None or not (switched_on and terms.delay) or is_zero(terms.max):
        return start
    return start if within(terms.max, allocated) else now + terms.delay


def is_due(queue: Queue, start: float | None, *, now: float) -> bool:
    """True if a queue's preemption begins now (QCP-3). Never for dynamic queues (QCP-1)."""
    if start is None or queue.dynamic or not has_come(start, now=now):
        return False
    return not is_zero(queue.max) and not within(queue.max, queue.allocated)


def terms_of(queue: Queue) -> QuotaTerms:
    """Current terms of a queue."""
    return QuotaTerms(queue.max, queue.properties.quota_preemption_delay)
