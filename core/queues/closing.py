"""Closed queues, in which no further application begins to run (ACT-10). Pure."""

from collections.abc import Mapping, Sequence

from core.ids import QueuePath
from core.instants import has_come
from core.queues.queue import Closure, Queue

Closures = Mapping[QueuePath, Closure]
"""Closed queues by path. A path need not exist now: a queue that returns is closed again."""


def closed_in(chain: Sequence[Queue]) -> Queue | None:
    """First closed queue from a leaf to the root, or None. Cost: O(depth)."""
    for queue in chain:
        if queue.closed is not None:
            return queue
    return None


def in_force(closures: Closures, *, now: float) -> Closures:
    """Closures whose time is not over."""
    return {
        path: closure
        for path, closure in closures.items()
        if closure.until is None or not has_come(closure.until, now=now)
    }
