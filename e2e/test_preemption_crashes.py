"""Paddock killed after each effect of a preemption in turn: what is on the objects is enough to go on.

The proxy carries an effect out and keeps its answer back; then the process is killed.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from e2e.cluster import Cluster
from e2e.course import say
from e2e.preempting import PREEMPTED_FOR, RESERVED, TRIGGERED, Contest, contest, queue

QUEUES = {"root.poor": queue(guaranteed=2), "root.rich": queue()}

EFFECTS = {
    "the ask is marked": ("PATCH", "/pods/poor$", f'"{TRIGGERED}":"'),
    "a victim is marked": ("PATCH", "/pods/rich-2$", f'"{PREEMPTED_FOR}":"'),
    "a victim is evicted": ("POST", "/pods/rich-2/eviction$", ""),
    "the other victim is marked": ("PATCH", "/pods/rich-1$", f'"{PREEMPTED_FOR}":"'),
    "the other victim is evicted": ("POST", "/pods/rich-1/eviction$", ""),
    "the node is nominated": ("PATCH", "/pods/poor/status$", '"nominatedNodeName":"'),
    "the record is taken off": ("PATCH", "/pods/poor$", f'"{RESERVED}":null'),
}
"""The newest two of three victims go, each as soon as it can."""

MARKED = EFFECTS["a victim is marked"]
NOMINATED = EFFECTS["the node is nominated"]


@asynccontextmanager
async def _crash(
    cluster: Cluster, effect: tuple[str, str, str], *, grace: int, cores: int = 2
) -> AsyncIterator[Contest]:
    """Three pods of one core hold a node; one of so many cores is owed its room. At the block Paddock was
    killed after ``effect``, and is not running."""
    async with contest(cluster, QUEUES, nodes=1, cores=3, proxied=True) as here:
        await here.run("rich", 3, queue="root.rich", grace=grace)
        done = here.stand.proxy.hold_next(*effect)
        if effect == NOMINATED:
            # It may come for the room by itself, and be faster.
            await here.stand.scheduler.kill()
        await cluster.create_pod("poor", queue="root.poor", cpu=str(cores))
        await asyncio.wait_for(done.wait(), 20)
        await here.stand.paddock.kill()
        if effect == NOMINATED:
            await here.stand.scheduler.start()
        here.stand.proxy.clear()
        yield here


@pytest.mark.parametrize("grace", [0, 3], ids=["at-once", "with-grace"])
@pytest.mark.parametrize("effect", EFFECTS.values(), ids=[each.replace(" ", "-") for each in EFFECTS])
async def test_the_preemptor_gets_the_node_and_nobody_is_evicted_twice(
    cluster: Cluster, effect: tuple[str, str, str], grace: int
) -> None:
    """Also while its victims take their time, and others want the room that they leave."""
    async with _crash(cluster, effect, grace=grace) as here:
        rivals = [f"rival-{at}" for at in range(3)]
        await cluster.create_pods(cluster.pod(name, queue="root.rich") for name in rivals)
        await here.stand.paddock.start()
        ready = time.monotonic()
        await here.until_bound("poor")
        # It was bound before the crash when what was left to do is to take its record off.
        say("after a crash, ready to bound", [max(0.0, here.course.bound["poor"] - ready)])
        await here.until_unmarked()
        assert sorted(here.exits.left) == ["rich-1", "rich-2"]
        proxy = here.stand.proxy
        evictions = {name: proxy.accepted("POST", f"/pods/{name}/eviction$") for name in here.exits.left}
        assert evictions == {"rich-1": 1, "rich-2": 1}
        assert not {*rivals} & {*here.course.bound}


async def test_the_room_is_released_when_the_preemptor_is_gone_meanwhile(cluster: Cluster) -> None:
    """Its one victim is marked but not evicted: it stays, and nothing says any more that it must go."""
    async with _crash(cluster, MARKED, grace=0, cores=1) as here:
        assert here.note("poor", RESERVED) == "n1"
        await cluster.delete_pod("poor")
        await here.stand.paddock.start()
        await here.until_unmarked()
        await cluster.create_pod("rival", queue="root.rich", cpu="500m")
        await here.until_told("rival")
        assert here.exits.left == []
        assert here.stand.proxy.count("POST", "/eviction$") == 0
