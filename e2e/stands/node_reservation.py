"""A node reserved for a large pod, while smaller pods that come first want every free core."""

from e2e.cluster.client import message_of
from e2e.stands.course import RESERVED, Place, offset

BY_SIZE = {"root.large": {}, "root.small": offset(1000)}


async def until_reserved(here: Place) -> str:
    """Wait for the node that is reserved for ``large``, which needs the six cores of a whole one."""
    await here.cluster.create_pod("large", queue="root.large", cpu="6")
    await here.until_refused_by_scheduler("large")
    await here.pods.until(lambda: here.pods.note("large", RESERVED), "a node is kept for it")
    return here.pods.note("large", RESERVED)


async def until_small_ones_had_the_others(here: Place, node: str) -> None:
    """Let six small pods take the two cores that are free on each of three nodes.

    Two of them get theirs only after ``large``, for which ``node`` is reserved, is deleted.
    """
    small = [f"small-{at}" for at in range(6)]
    await here.cluster.create_pods(here.cluster.pod(name, queue="root.small") for name in small)
    await here.until_more("small", 4)
    await here.pods.until(
        lambda: sum("1 NodeReserved: " in message_of(here.pods.named(name)) for name in small) == 2,
        "two are refused the kept node",
    )
    assert here.pods.note("large", RESERVED) == node
    await here.cluster.delete_pod("large")
    await here.until_bound(*small)
