"""Two Paddocks, of which one acts: it is killed in the middle of a preemption, and the other one finishes it.

The one that stands by had its first list before anything was written. Each has a kube-scheduler of its own.
"""

import asyncio
import time

import pytest

from e2e.cluster import Cluster, message_of
from e2e.course import Place, offset, place, say
from e2e.preempting import RESERVED, contest
from e2e.stand import LEASE, eventually
from e2e.test_preemption_crashes import EFFECTS, NOMINATED, QUEUES


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=[each.replace(" ", "-") for each in EFFECTS])
async def test_the_other_one_finishes_what_was_begun(cluster: Cluster, effect: tuple[str, str, str]) -> None:
    """Others want the room that the victims leave."""
    async with contest(cluster, QUEUES, nodes=1, cores=3, proxied=True, lease=LEASE) as here:
        second = await here.stand.stand_by()
        await here.run("rich", 3, queue="root.rich", grace=3)
        done = here.stand.proxy.hold_next(*effect)
        if effect == NOMINATED:
            # It may come for the room by itself, and be faster.
            await here.stand.scheduler.kill()
        await cluster.create_pod("poor", queue="root.poor", cpu="2")
        await asyncio.wait_for(done.wait(), 20)
        rivals = [f"rival-{at}" for at in range(3)]
        began = time.monotonic()
        await here.stand.fail_over(second)
        await cluster.create_pods(cluster.pod(name, queue="root.rich") for name in rivals)
        await here.until_bound("poor")
        say("from the crash of the host to bound", [max(0.0, here.course.bound["poor"] - began)])
        await here.until_unmarked()
        assert sorted(here.exits.left) == ["rich-1", "rich-2"]
        proxy = here.stand.proxy
        evictions = {name: proxy.accepted("POST", f"/pods/{name}/eviction$") for name in here.exits.left}
        assert evictions == {"rich-1": 1, "rich-2": 1}
        assert not {*rivals} & {*here.course.bound}


async def test_a_node_stays_kept(cluster: Cluster) -> None:
    """Six small ones want the two cores that are free on each of three nodes; one of these is kept."""
    queues = {"root.large": {}, "root.small": offset(1000)}
    async with place(cluster, queues, nodes=3, cores=6, lease=LEASE) as here:
        second = await here.stand.stand_by()
        await here.fill(12)
        await cluster.create_pod("large", queue="root.large", cpu="6")
        await here.until_told("large")
        await here.pods.until(lambda: _kept_for(here, "large") != "", "a node is kept for it")
        node = _kept_for(here, "large")
        await here.stand.fail_over(second)
        await eventually(lambda: second.metric("paddock_leading"), "the second one leads")
        small = [f"small-{at}" for at in range(6)]
        await cluster.create_pods(cluster.pod(name, queue="root.small") for name in small)
        await here.until_more("small", 4)
        await here.pods.until(
            lambda: sum("1 NodeReserved: " in message_of(here.named(name)) for name in small) == 2,
            "two are refused the kept node",
        )
        assert _kept_for(here, "large") == node
        await cluster.delete_pod("large")
        await here.until_bound(*small)


def _kept_for(here: Place, name: str) -> str:
    return str((here.named(name)["metadata"].get("annotations") or {}).get(RESERVED, ""))
