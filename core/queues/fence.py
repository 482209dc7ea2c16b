"""Fences: how far the search for victims goes, and an ask's priority on the way (PRE-2, PRE-6)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.ids import QueuePath
from core.queues.headroom import effective_max
from core.queues.properties import PreemptionPolicy
from core.queues.queue import Queue
from core.queues.whatif import WhatIf
from core.resource import Resource, within


class Bound(StrEnum):
    """Reason why the way up ends."""

    ROOT = "root"
    FENCE = "fence"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Fence:
    """End of an ask's way up. ``root``: victims come from below it.

    ``entering`` and ``leaving``: the ask's priority in each queue on the way up, before and after that
    queue's own offset or fence.
    """

    root: Queue
    bound: Bound
    entering: Mapping[QueuePath, int]
    leaving: Mapping[QueuePath, int]


@dataclass(frozen=True, slots=True)
class Reach:
    """A leaf in which victims may be searched.

    ``priority``: the ask's priority, translated to this leaf. ``fair_game``: True if a priority fence around
    the leaf is low enough, so that no priority inside counts.
    """

    leaf: Queue
    priority: int
    fair_game: bool

    def allows(self, priority: int) -> bool:
        """True if a pod of that priority may be a victim."""
        return self.fair_game or priority <= self.priority


def fence_of(ask: Queue, *, priority: int, size: Resource, usage: WhatIf) -> Fence:
    """Go up from the ask's leaf to the end of the search (PRE-6).

    A queue that cannot take the ask without breaking a max is a fence too, because the capacity must come
    from inside.
    """
    entering: dict[QueuePath, int] = {}
    leaving: dict[QueuePath, int] = {}
    worth = priority
    for queue in ask.chain:
        entering[queue.path] = worth
        properties = queue.properties
        worth = properties.priority_offset + (0 if properties.priority_fence else worth)
        leaving[queue.path] = worth
        bound = _bound(queue, size, usage)
        if bound is not None:
            return Fence(queue, bound, entering, leaving)
    raise AssertionError("the root ends every way up")


def _bound(queue: Queue, size: Resource, usage: WhatIf) -> Bound | None:
    if queue.is_root:
        return Bound.ROOT
    if queue.properties.preemption is PreemptionPolicy.FENCE:
        return Bound.FENCE
    cap = effective_max(queue.chain)
    if cap and not within(cap, Resource(usage.used(queue)) + size):
        return Bound.MAX
    return None


def reach(fence: Fence, ask: Queue, *, shared_ancestor: bool = False) -> Iterator[Reach]:
    """Every leaf below the fence's root except the ask's own, in name order (LAW-3, LAW-7).

    ``shared_ancestor``: True if a common ancestor's offset or fence changes the ask's priority for its
    siblings, as in YuniKorn. Otherwise only queues between the two do (DIV-6).
    """
    worth = fence.leaving if shared_ancestor else fence.entering
    yield from _down(fence.root, worth[fence.root.path], False, ask, worth)


def _down(
    queue: Queue, priority: int, fair_game: bool, ask: Queue, worth: Mapping[QueuePath, int]
) -> Iterator[Reach]:
    if queue is ask:
        return
    if queue.is_leaf:
        yield Reach(queue, priority, fair_game)
    for path in sorted(queue.children):
        child = queue.children.get(path)
        if child is None:
            continue  # Removed between two slices of a search.
        offset = child.properties.priority_offset
        if path in worth:
            yield from _down(child, worth[path], fair_game, ask, worth)
        elif not child.properties.priority_fence:
            yield from _down(child, priority - offset, fair_game, ask, worth)
        elif offset <= priority:
            yield from _down(child, priority, True, ask, worth)
