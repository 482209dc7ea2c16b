"""Sums over two replicas: each thing counts once, before and after a failover."""

from pathlib import Path

import pytest

from e2e.cluster.client import Cluster
from e2e.programs.paddock import PaddockProcess
from e2e.programs.prometheus import Job, Prometheus
from e2e.stands.stand import LEASE, Stand

QUEUES = {"a": {"max": {"vcore": "4"}}}
ALLOCATED = 'yunikorn_queue_resource{queue="root.a", resource="vcore", state="allocated"}'
OWN = 'paddock_queue_allocated{queue="root.a", resource="vcore"}'
BOUND = 'yunikorn_scheduler_container_allocation_attempt_total{state="allocated"}'


def address_of(paddock: PaddockProcess) -> str:
    """Where its metrics are."""
    return f"127.0.0.1:{paddock.admin_port}"


@pytest.mark.rule("METRIC-1", "METRIC-2", "METRIC-16")
async def test_sums_count_each_thing_once_over_a_failover(cluster: Cluster, tmp_path: Path) -> None:
    """A host dies. The other one goes on when its series are gone, as after the end of a Lease."""
    async with Stand(cluster, QUEUES, lease=LEASE) as stand:
        await cluster.add_nodes(1, cpu="4")
        first, second = stand.paddock, await stand.stand_by()
        job = Job("paddock", "/metrics", [address_of(first), address_of(second)])
        async with Prometheus(tmp_path, job) as prometheus:
            await prometheus.until_scraped()
            await cluster.create_pod("p1", queue="root.a")
            await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "the first is bound")
            await expect(prometheus, leader=first, cores=1)
            assert await prometheus.value("count(process_resident_memory_bytes)") == 2

            await first.kill()
            await prometheus.until_value(f'up{{instance="{address_of(first)}"}}', 0)
            await prometheus.until(ALLOCATED, lambda found: not found)
            await stand.fail_over(second)
            await expect(prometheus, leader=second, cores=1)
            await cluster.create_pod("p2", queue="root.a")
            await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "the second is bound")
            await expect(prometheus, leader=second, cores=2)
            for each in (ALLOCATED, OWN, BOUND):
                assert await prometheus.value(f"max_over_time(count({each})[10m:1s])") == 1


async def expect(prometheus: Prometheus, *, leader: PaddockProcess, cores: int) -> None:
    """Wait until one instance leads, and sums over both are of so many pods with a core each."""
    await prometheus.until_value(f'sum(paddock_leading{{instance="{address_of(leader)}"}})', 1)
    await prometheus.until_value("sum(paddock_leading)", 1)
    await prometheus.until_value(f"sum({ALLOCATED})", cores * 1000)
    await prometheus.until_value(f"sum({OWN})", cores * 1000)
    await prometheus.until_value(f"sum({BOUND})", cores)
