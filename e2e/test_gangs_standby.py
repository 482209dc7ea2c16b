"""Two Paddocks, of which the one whose Lease says so acts; it dies while a gang comes together."""

import asyncio
import socket

import pytest

from e2e.cluster import Cluster
from e2e.ganging import NOTED, REPLACES, Job, Rally, rally
from e2e.paddock import PaddockProcess
from e2e.permitting import allow
from e2e.stand import eventually

OURS, ANOTHERS = f"{socket.gethostname()}_1", "another_1"

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
    """It has watched all the time, and made nothing of its own."""
    job = Job("crash", 3)
    async with rally(cluster, nodes=2, cores=2, proxied=True) as here:
        leader, standby = await _two(here)
        scheduler = await here.stand.another_scheduler(leader)
        done = here.proxy.hold_next(*effect)
        await here.submit(job)
        await asyncio.wait_for(done.wait(), 20)
        await leader.kill()
        await scheduler.kill()
        here.proxy.clear()
        await _hold(cluster, "second", OURS)
        await eventually(lambda: standby.metric("paddock_leading"), "the standby leads")
        here.follow(standby)
        await here.stand.another_scheduler(standby)
        await here.until_placed(job, job.size)
        await here.rivals(2)
        await here.until_started(job)


async def _two(here: Rally) -> tuple[PaddockProcess, PaddockProcess]:
    """Instead of the one of the place. Both run on one host, so each looks at a Lease of its own."""
    cluster = here.cluster
    await here.stand.scheduler.kill()
    await here.paddock.stop()
    # The shipped role lets Paddock read the one Lease of its overlay.
    paddock = {"kind": "User", "name": "paddock"}
    await allow(cluster, paddock, ["get"], "leases", groups=["coordination.k8s.io"])
    await _hold(cluster, "first", OURS)
    await _hold(cluster, "second", ANOTHERS)
    leader = await here.stand.paddock_of_lease(f"{cluster.namespace}/first", proxied=True)
    standby = await here.stand.paddock_of_lease(f"{cluster.namespace}/second", proxied=False)
    await eventually(lambda: leader.metric("paddock_leading"), "the first one leads")
    assert await standby.metric("paddock_leading") == 0
    return leader, standby


async def _hold(cluster: Cluster, name: str, holder: str) -> None:
    await cluster.apply(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"namespace": cluster.namespace, "name": name},
            "spec": {"holderIdentity": holder},
        }
    )
