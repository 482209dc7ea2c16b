"""Two Paddocks, of which the one whose host holds the Lease acts. It dies while a gang starts."""

import asyncio

import pytest

from e2e.cluster.client import Cluster
from e2e.stands.gangs import NOTED, REPLACES, Job, rally
from e2e.stands.stand import LEASE

EFFECTS = {
    "a placeholder is made": ("POST", "/pods$", '"name":"tg-'),
    "the start is noted": ("PATCH", "/pods/crash-0$", f'"{NOTED}":"Started"'),
    "a member is linked": ("PATCH", "/pods/crash-.$", f'"{REPLACES}":"'),
    "a placeholder is deleted": ("DELETE", "/pods/tg-", ""),
    "a member is nominated": ("PATCH", "/pods/crash-./status$", '"nominatedNodeName":"'),
}


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=[each.replace(" ", "-") for each in EFFECTS])
async def test_the_standby_goes_on_where_the_leader_died(
    cluster: Cluster, effect: tuple[str, str, str]
) -> None:
    """The standby has watched all the time, and made nothing of its own."""
    job = Job("crash", 3)
    async with rally(cluster, nodes=2, cores=2, proxied=True, lease=LEASE) as here:
        standby = await here.stand.stand_by()
        done = here.proxy.hold_next(*effect)
        await here.submit(job)
        await asyncio.wait_for(done.wait(), 20)
        await here.stand.fail_over(standby)
        here.follow(standby)
        await here.until_placed(job, job.size)
        await here.rivals(2)
        await here.until_started(job)
