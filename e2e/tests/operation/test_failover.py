"""Two Paddocks, of which one acts: it is killed in the middle of a preemption, and the other finishes it.

The standby had its first list before anything was written. Each has a kube-scheduler of its own.
"""

import time

import pytest

from e2e.cluster.client import Cluster
from e2e.stands.course import place, say
from e2e.stands.crashes import EFFECTS, QUEUES, Effect, create_rivals, evictions, until_done, until_over
from e2e.stands.node_reservation import BY_SIZE, until_reserved, until_small_ones_had_the_others
from e2e.stands.preemption import contest
from e2e.stands.stand import LEASE, eventually


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=[each.replace(" ", "-") for each in EFFECTS])
async def test_the_other_one_finishes_what_was_begun(cluster: Cluster, effect: Effect) -> None:
    """Others want the capacity that the victims leave."""
    async with contest(cluster, QUEUES, nodes=1, cores=3, proxied=True, lease=LEASE) as here:
        second = await here.stand.stand_by()
        await until_done(here, effect, grace=3)
        began = time.monotonic()
        await here.stand.fail_over(second)
        await create_rivals(here)
        before = evictions(here)
        await here.until_bound("poor")
        say("from the crash of the host to bound", [max(0.0, here.course.bound["poor"] - began)])
        await until_over(here, before)


@pytest.mark.smoke("failover")
async def test_a_node_stays_reserved(cluster: Cluster) -> None:
    """Six small pods want the two cores that are free on each of three nodes, one of which is reserved."""
    async with place(cluster, BY_SIZE, nodes=3, cores=6, lease=LEASE) as here:
        second = await here.stand.stand_by()
        await here.fill(12)
        node = await until_reserved(here)
        await here.stand.fail_over(second)
        await eventually(lambda: second.metric("paddock_leading"), "the second one leads")
        await until_small_ones_had_the_others(here, node)
