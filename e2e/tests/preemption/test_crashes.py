"""Paddock killed after each effect of a preemption in turn: the notes on the objects are enough to go on.

The proxy carries an effect out and holds its answer. Then the process is killed.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from e2e.cluster.client import Cluster
from e2e.stands.course import RESERVED, say
from e2e.stands.crashes import (
    EFFECTS,
    MARKED,
    NOMINATED,
    QUEUES,
    Effect,
    create_rivals,
    evictions,
    until_done,
    until_over,
)
from e2e.stands.preemption import Contest, contest
from e2e.stands.stand import eventually, eventually_equal


@asynccontextmanager
async def _crash(cluster: Cluster, effect: Effect, *, grace: int, cores: int = 2) -> AsyncIterator[Contest]:
    """Kill Paddock after ``effect`` and leave it stopped.

    Three pods of one core hold a node. A pod of several cores is owed their capacity.
    """
    async with contest(cluster, QUEUES, nodes=1, cores=3, proxied=True) as here:
        await until_done(here, effect, grace=grace, cores=cores)
        await here.stand.paddock.kill()
        if effect == NOMINATED:
            await here.stand.scheduler.start()
        here.stand.proxy.clear()
        yield here


@pytest.mark.parametrize("grace", [0, 3], ids=["at-once", "with-grace"])
@pytest.mark.parametrize("effect", EFFECTS.values(), ids=[each.replace(" ", "-") for each in EFFECTS])
async def test_the_preemptor_gets_the_node_and_no_pod_is_evicted_twice(
    cluster: Cluster, effect: Effect, grace: int
) -> None:
    """The victims take their time, and others want the capacity that they leave."""
    async with _crash(cluster, effect, grace=grace) as here:
        await create_rivals(here)
        before = evictions(here)
        await here.stand.paddock.start()
        ready = time.monotonic()
        await here.until_bound("poor")
        # It was bound before the crash if only its record was left to take off.
        say("after a crash, ready to bound", [max(0.0, here.course.bound["poor"] - ready)])
        await until_over(here, before)


async def test_a_request_under_way_at_the_crash_meets_the_one_of_the_next_process(cluster: Cluster) -> None:
    """Both may succeed, and no other pod is evicted."""
    async with contest(cluster, QUEUES, nodes=1, cores=3, proxied=True) as here:
        proxy, path = here.stand.proxy, "/pods/rich-1/eviction$"
        proxy.freeze(path)
        await until_done(here, EFFECTS["a victim is evicted"], grace=0)

        async def asked() -> int:
            return proxy.count("POST", path)

        await eventually(asked, "the other eviction is requested")
        await here.stand.paddock.kill()
        proxy.answer_held()
        await create_rivals(here)
        before = evictions(here)
        assert before["rich-1"] == (0, 1)
        await here.stand.paddock.start()
        await eventually_equal(asked, 2, "the next process requests it, too", timeout=30)
        proxy.thaw()
        await here.until_bound("poor")
        await until_over(here, before)


async def test_the_capacity_is_released_when_the_preemptor_is_deleted_meanwhile(cluster: Cluster) -> None:
    """The only victim is marked but not evicted: it stays, and its mark is taken off."""
    async with _crash(cluster, MARKED, grace=0, cores=1) as here:
        await here.pods.until(lambda: here.pods.note("poor", RESERVED) == "n1", "its node is on the ask")
        await cluster.delete_pod("poor")
        await here.stand.paddock.start()
        await here.until_unmarked()
        await cluster.create_pod("rival", queue="root.rich", cpu="500m")
        await here.until_refused_by_scheduler("rival")
        assert here.exits.left == []
        assert here.stand.proxy.count("POST", "/eviction$") == 0
