"""Checks of YuniKorn at submit: may a queue take a gang (GANG-6, GANG-7)? Pure."""

from core.ids import QueuePath
from core.quantity import amount_text
from core.queues.properties import SORT_POLICY, SortPolicy
from core.queues.queue import Queue
from core.reasons import Code, Refusal
from core.resource import Resource
from core.workload.gangs.gang import Gang

MAX_PODS = "paddock.gang.maxPods"
"""Setting that bounds the number of pods that one annotation makes Paddock create."""


def refusal_of_gang(leaf: Queue, gang: Gang) -> Refusal | None:
    """Reason why a leaf cannot take a gang, or None. Neither usage nor the cluster's size counts.

    Size comes before order (FORMAT-10). An unset policy and ``stateaware`` order by age.
    """
    return refusal_of_size(leaf, gang.total) or _not_fifo(leaf)


def refusal_of_count(path: QueuePath, gang: Gang, *, most: int) -> Refusal | None:
    """Refusal of a gang of more than ``most`` pods, whatever the queue (GANG-6), or None."""
    pods = gang.total.get("pods")
    if pods <= most:
        return None
    return Refusal(Code.GANG_TOO_LARGE, path, f"{MAX_PODS}={most}, below the gang's {pods}")


def refusal_of_size(leaf: Queue, total: Resource) -> Refusal | None:
    """Refusal of pods that start together and exceed a max even when the queues are empty, or None.

    The nearest queue below the root whose max is too small refuses (GANG-6). A type that a max does not name
    is unlimited. The text names the gang's own amount, which never changes.
    """
    for queue in leaf.chain:
        if queue.is_root or queue.max is None:
            continue
        for name, amount in total.items():
            cap = queue.max.get(name)
            if amount > 0 and cap is not None and amount > cap:
                bound, wanted = amount_text(name, cap), amount_text(name, amount)
                return Refusal(
                    Code.GANG_TOO_LARGE, queue.path, f"max {name}={bound}, below the gang's {wanted}"
                )
    return None


def _not_fifo(leaf: Queue) -> Refusal | None:
    """Refusal of a gang in a fair leaf, or None (GANG-7).

    Shares change while placeholders come, so a fair leaf could alternate between two gangs.
    """
    policy = leaf.properties.sort_policy
    if policy is not SortPolicy.FAIR:
        return None
    return Refusal(Code.GANG_NOT_FIFO, leaf.path, f"{SORT_POLICY}={policy.value}")
