"""Priority of a queue: the best that is pending below it, after offsets and fences (PRI).

Updated ask by ask. Each change costs O(depth) times the number of different priorities.
"""

from core.queues.properties import QueueProperties
from core.queues.queue import NO_PRIORITY, Queue

HIGHEST = 2**31 - 1


def exported(raw: int, properties: QueueProperties, *, is_root: bool = False) -> int:
    """Priority that a queue exports to its parent (PRI-4), clamped at each level.

    Unchanged at the root (PRI-8).
    """
    if raw == NO_PRIORITY or is_root:
        return raw
    if properties.priority_fence:
        return properties.priority_offset
    return max(NO_PRIORITY, min(HIGHEST, raw + properties.priority_offset))


def ask_comes(leaf: Queue, priority: int) -> None:
    """Count a new pending ask."""
    leaf.asked[priority] = leaf.asked.get(priority, 0) + 1
    if priority > leaf.raw_priority:
        _set_raw(leaf, priority)


def ask_goes(leaf: Queue, priority: int) -> None:
    """Count out an ask that was placed or deleted."""
    _lose(leaf.asked, priority)
    if priority == leaf.raw_priority and priority not in leaf.asked:
        _set_raw(leaf, raw_priority(leaf))


def child_goes(parent: Queue, child: Queue) -> None:
    """Count out a removed child (PRI-5)."""
    if child.priority != NO_PRIORITY:
        _lose(parent.shown, child.priority)
        _set_raw(parent, raw_priority(parent))


def raw_priority(queue: Queue) -> int:
    """Best priority of pending asks in the queue and of its children's exports (PRI-3)."""
    best = NO_PRIORITY
    for counts in (queue.asked, queue.shown):
        for priority in counts:
            if priority > best:
                best = priority
    return best


def recompute(queue: Queue) -> None:
    """Recompute a queue after a change of properties. Its children must be up to date (PRI-5)."""
    queue.shown.clear()
    for child in queue.children.values():
        if child.priority != NO_PRIORITY:
            queue.shown[child.priority] = queue.shown.get(child.priority, 0) + 1
    queue.raw_priority = raw_priority(queue)
    queue.priority = exported(queue.raw_priority, queue.properties, is_root=queue.is_root)


def _set_raw(queue: Queue, raw: int) -> None:
    """Set the raw priority, and update queues above as far as it makes a difference."""
    queue.raw_priority = raw
    before, queue.priority = queue.priority, exported(raw, queue.properties, is_root=queue.is_root)
    parent = queue.parent
    if parent is None or queue.priority == before:
        return
    if before != NO_PRIORITY:
        _lose(parent.shown, before)
    if queue.priority != NO_PRIORITY:
        parent.shown[queue.priority] = parent.shown.get(queue.priority, 0) + 1
    best = raw_priority(parent)
    if best != parent.raw_priority:
        _set_raw(parent, best)


def _lose(counts: dict[int, int], priority: int) -> None:
    counts[priority] -= 1
    if not counts[priority]:
        del counts[priority]
