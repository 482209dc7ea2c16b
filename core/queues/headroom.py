"""Headroom of a queue, under its own limits and those above it. Pure.

``chain`` is always the queue and its ancestors up to the root. Units: millicores for ``vcore``, the base unit
for everything else. A resource that no queue on the chain caps is absent: unlimited.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.ids import QueuePath
from core.quantity import amount_text
from core.queues.queue import Queue
from core.resource import UNLIMITED, Limit, Resource, Tally, first_excess

_NOTHING = Tally()


@dataclass(frozen=True, slots=True)
class Shortfall:
    """First limit that an ask would break: its queue and its resource."""

    queue: Queue
    resource: str

    @property
    def limit(self) -> str:
        """Limit as a refusal names it, without usage."""
        amount = self.queue.max.get(self.resource) if self.queue.max is not None else None
        if amount is None:
            return f"has no {self.resource}"
        return f"max {self.resource}={amount_text(self.resource, amount)}"


def headroom(chain: Iterable[Queue]) -> Limit:
    """Capacity left for new asks in a queue, under its own max and every ancestor's (QUO-3).

    The capacity left in one queue is ``max - allocated - reserved``. The answer is the smallest of them per
    resource. Negative values say how far a queue is above a max that was lowered.
    """
    left = UNLIMITED
    for queue in chain:
        if queue.max is not None:
            left = left.tightest(_own_headroom(queue, queue.max))
    return left


def max_headroom(chain: Iterable[Queue]) -> Limit:
    """Headroom without the cluster's size: what would be left if nodes were added (QUO-4)."""
    return headroom(queue for queue in chain if not queue.is_root)


def _own_headroom(queue: Queue, cap: Limit) -> Limit:
    return cap.minus(queue.allocated.as_resource()).minus(queue.reserved.as_resource())


def shortfall(
    chain: Sequence[Queue], size: Resource, *, extra: Mapping[QueuePath, Tally] | None = None
) -> Shortfall | None:
    """First limit that admitting ``size`` would break, from the leaf up, or None (QUO-7, QUO-8).

    Only requested types count, so a queue above its memory still takes an ask without memory. Below the root,
    an undefined type is unlimited. At the root, a type that no node offers does not fit. ``extra``: usage to
    count on top, per queue. Cost: O(depth).
    """
    for queue in chain:
        excess = _excess(queue, size, extra.get(queue.path) if extra is not None else None)
        if excess is not None:
            return Shortfall(queue, excess)
    return None


def _excess(queue: Queue, size: Resource, extra: Tally | None) -> str | None:
    cap = queue.max
    if queue.is_root:
        unknown = _unknown_type(cap, size)
        if unknown is not None:
            return unknown
    if cap is None:
        return None
    return first_excess(cap, size, queue.allocated, queue.reserved, extra or _NOTHING, size)


def _unknown_type(cap: Limit | None, size: Resource) -> str | None:
    for name, amount in size.by_name().items():
        if amount > 0 and (cap is None or name not in cap):
            return name
    return None


def effective_max(chain: Iterable[Queue]) -> Limit | None:
    """Smallest max per resource on the path, including the root's. None if none is set (QUO-5)."""
    caps = [queue.max for queue in chain if queue.max is not None]
    if not caps:
        return None
    tightest = UNLIMITED
    for cap in caps:
        tightest = tightest.tightest(cap)
    return tightest


def configured_max(chain: Iterable[Queue]) -> Limit | None:
    """Smallest max per resource on the path without the root: the document alone (QUO-5)."""
    return effective_max(queue for queue in chain if not queue.is_root)


def fair_max(chain: Sequence[Queue]) -> Limit | None:
    """Cluster size, overlaid from the root down by each queue's own max (QUO-6).

    A child's value wins even if it is larger. None without nodes. Only a denominator of shares.
    """
    overlaid = chain[-1].max
    if overlaid is None:
        return None
    for queue in reversed(chain[:-1]):
        if queue.max is not None:
            overlaid = queue.max.filled(overlaid)
    return overlaid


def actual_guaranteed(chain: Sequence[Queue]) -> Limit | None:
    """Smallest guarantee per resource on the path. None if none is set (QUO-11)."""
    tightest: Limit | None = None
    for queue in chain:
        if queue.guaranteed is not None:
            own = Limit(dict(queue.guaranteed.items()))
            tightest = own if tightest is None else tightest.tightest(own)
    return tightest
