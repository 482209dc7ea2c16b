"""Usage of queues with pods removed or added, to try a plan. Never changes a queue."""

from collections.abc import Mapping

from core.ids import QueuePath
from core.queues.queue import Queue
from core.resource import ZERO, Counted, Resource

Usage = Mapping[str, int]


class WhatIf:
    """Hypothetical usage of queues. Amounts as in `Queue`; an absent name is zero.

    Pods chosen as victims count as evicted everywhere (PRE-21). On the path of the asking leaf, promises
    count as usage: reservations, and asks with victims (DIV-14). Elsewhere only running pods count, so that
    no promise makes a pod a victim. ``own``: promises to the ask itself, which are not counted twice.
    """

    __slots__ = ("_base", "_changed", "_own", "_path")

    def __init__(self, path: tuple[Queue, ...] = (), own: Resource = ZERO) -> None:
        self._path = path
        self._own = own
        self._base: dict[QueuePath, dict[str, int]] = {}
        self._changed: dict[QueuePath, dict[str, int]] = {}

    def used(self, queue: Queue) -> Usage:
        """Usage of a queue. Read only."""
        changed = self._changed.get(queue.path)
        return self._before(queue) if changed is None else changed

    def before(self) -> "WhatIf":
        """Usage without any changes. Cached reads are shared."""
        return self._over({})

    def fork(self) -> "WhatIf":
        """Copy that changes by itself."""
        return self._over({path: dict(used) for path, used in self._changed.items()})

    def remove(self, leaf: Queue, size: Resource) -> None:
        """Take a pod out of a leaf and of every queue above it."""
        self._shift(leaf, size, -1)

    def place(self, leaf: Queue, size: Resource) -> None:
        """Put a pod into a leaf and into every queue above it."""
        self._shift(leaf, size, 1)

    def _over(self, changed: dict[QueuePath, dict[str, int]]) -> "WhatIf":
        other = WhatIf(self._path, self._own)
        other._base = self._base
        other._changed = changed
        return other

    def _shift(self, leaf: Queue, size: Resource, sign: int) -> None:
        changed = self._changed
        for queue in leaf.chain:
            used = changed.get(queue.path)
            if used is None:
                used = changed[queue.path] = dict(self._before(queue))
            for name, amount in size.items():
                used[name] = used.get(name, 0) + sign * amount

    def _before(self, queue: Queue) -> dict[str, int]:
        base = self._base.get(queue.path)
        if base is None:
            base = self._base[queue.path] = self._read(queue)
        return base

    def _read(self, queue: Queue) -> dict[str, int]:
        used = dict(queue.allocated.items())
        parts: list[tuple[int, Counted]] = [(-1, queue.preempting)]
        if queue in self._path:
            parts += [(1, queue.reserved), (1, queue.triggered), (-1, self._own)]
        for sign, part in parts:
            for name, amount in part.items():
                used[name] = used.get(name, 0) + sign * amount
        return used
