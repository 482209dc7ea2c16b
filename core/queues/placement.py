"""Which queue an application runs in."""

from core.ids import DEFAULT_QUEUE, RECOVERY_QUEUE, QueuePath
from core.queues.queue import Queue
from core.queues.tree import QueueTree
from core.reasons import Code, Refusal


def decide_placement(tree: QueueTree, requested: str) -> QueuePath | Refusal:
    """The named queue, else ``root.default`` if there is one, else a refusal (PL-1, PL-4, PL-9).

    ``requested``: what the pod named, or empty. A name that does not start with ``root.`` is one level
    below the root, its dots replaced (PL-4). The recovery queue, which has no quota, cannot be named (PL-12).
    """
    named = tree.get(_qualified(requested)) if requested else None
    if named is not None and named.path == RECOVERY_QUEUE:
        named = None
    if named is not None and _accepts(named):
        return named.path
    fallback = tree.get(DEFAULT_QUEUE)
    if fallback is not None and _accepts(fallback):
        return fallback.path
    return _refusal(requested, named)


def _qualified(name: str) -> str:
    return name if name.startswith("root.") else "root." + name.replace(".", "_dot_")


def _accepts(queue: Queue) -> bool:
    return queue.is_leaf and not queue.draining


def _refusal(requested: str, named: Queue | None) -> Refusal:
    if named is None:
        subject = f"no queue {requested[:64]}" if requested else "no queue named"
        return Refusal(Code.PLACEMENT_FAILED, subject)
    if named.draining:
        return Refusal(Code.QUEUE_DRAINING, named.path)
    return Refusal(Code.QUEUE_NOT_LEAF, named.path)
