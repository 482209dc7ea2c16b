"""A node that is kept for a large pod while small ones, which go before it, want the room of each node."""

from e2e.cluster.client import message_of
from e2e.stands.course import RESERVED, Place, offset

BY_SIZE = {"root.large": {}, "root.small": offset(1000)}


async def until_kept(here: Place) -> str:
    """The node that is kept for ``large``, which wants the six cores of a whole one."""
    await here.cluster.create_pod("large", queue="root.large", cpu="6")
    await here.until_told("large")
    await here.pods.until(lambda: here.pods.note("large", RESERVED), "a node is kept for it")
    return here.pods.note("large", RESERVED)


async def until_small_ones_had_the_others(here: Place, node: str) -> None:
    """Six small ones want the two cores that are free on each of three nodes: two of them only when
    ``large`` is gone, for which ``node`` is kept."""
    small = [f"small-{at}" for at in range(6)]
    await here.cluster.create_pods(here.cluster.pod(name, queue="root.small") for name in small)
    await here.until_more("small", 4)
    await here.pods.until(
        lambda: sum("1 NodeReserved: " in message_of(here.named(name)) for name in small) == 2,
        "two are refused the kept node",
    )
    assert here.pods.note("large", RESERVED) == node
    await here.cluster.delete_pod("large")
    await here.until_bound(*small)
