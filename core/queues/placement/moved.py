"""Placement of an application that an administrator moved: the queue of the order, or none (ACT-33). Pure."""

from collections.abc import Sequence

from core.ids import RECOVERY_QUEUE, QueuePath
from core.queues.placement.rules import Chosen, Tree
from core.queues.queue import Queue
from core.queues.users.access import may_submit
from core.reasons import Code, Refusal


def decide_moved(tree: Tree, path: QueuePath, *, forced: bool) -> Chosen | Refusal:
    """Queue of a moved application. No rule of the document counts for it.

    ``forced``: True if a pod of it is on a node, so that it must count somewhere (PL-10).
    """
    queue = tree.get(path)
    if queue is not None and queue.is_leaf and not queue.draining:
        return Chosen(queue.path)
    if forced:
        return Chosen(RECOVERY_QUEUE)
    return Refusal(Code.PLACEMENT_FAILED, path, "takes no application that was moved to it")


def may_use(queue: Queue, user: str, groups: Sequence[str]) -> bool:
    """True if a user may submit to a queue (ACL-5)."""
    texts = ((each.spec.submit_acl, each.spec.admin_acl) for each in queue.chain)
    return may_submit(texts, user, tuple(groups))
