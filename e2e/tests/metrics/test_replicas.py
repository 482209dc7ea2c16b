"""Sums over two replicas: each thing counts once, before and after a failover.

Paddock is scraped on loopback, and at its REST port over TLS. There Prometheus is a service account to which
the shipped ClusterRole `paddock-metrics` is bound, and nothing else.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.cluster.client import Cluster
from e2e.programs.prometheus import Job, Prometheus
from e2e.stands.front_door import account
from e2e.stands.scraping import OnLoopback, Scraping
from e2e.stands.stand import eventually

QUEUES = {"a": {"max": {"vcore": "4"}}}
LEASE = "kube-system/paddock-scheduler"
ALLOCATED = 'yunikorn_queue_resource{queue="root.a", resource="vcore", state="allocated"}'
OWN = 'paddock_queue_allocated{queue="root.a", resource="vcore"}'
BOUND = 'yunikorn_scheduler_container_allocation_attempt_total{state="allocated"}'


@pytest.mark.parametrize("kind", [OnLoopback, Scraping], ids=["on loopback", "over TLS with a token"])
@pytest.mark.rule("METRIC-1", "METRIC-2", "METRIC-16")
async def test_sums_count_each_thing_once_over_a_failover(
    cluster: Cluster, tmp_path: Path, kind: Callable[[Cluster, Path], Scraping]
) -> None:
    """A host dies. The other one goes on when its series are gone, as after the end of a Lease."""
    scraping = kind(cluster, tmp_path)
    async with scraping.stand(QUEUES, lease=LEASE) as stand:
        await cluster.add_nodes(1, cpu="4")
        first, second = stand.paddock, await stand.stand_by()
        leader, standby = (scraping.address_of(each, number) for number, each in enumerate((first, second)))
        job = Job("paddock", "/metrics", [leader, standby], await scraping.further())
        async with Prometheus(tmp_path, job) as prometheus:
            await prometheus.until_scraped()
            await cluster.create_pod("p1", queue="root.a")
            await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "the first is bound")
            await expect(prometheus, leader=leader, cores=1)
            assert await prometheus.value("count(process_resident_memory_bytes)") == 2

            await first.kill()
            await prometheus.until_value(f'up{{instance="{leader}"}}', 0)
            await prometheus.until(ALLOCATED, lambda found: not found)
            await stand.fail_over(second)
            await expect(prometheus, leader=standby, cores=1)
            await cluster.create_pod("p2", queue="root.a")
            await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "the second is bound")
            await expect(prometheus, leader=standby, cores=2)
            for each in (ALLOCATED, OWN, BOUND):
                assert await prometheus.value(f"max_over_time(count({each})[10m:1s])") == 1


async def expect(prometheus: Prometheus, *, leader: str, cores: int) -> None:
    """Wait until one instance leads, and sums over both are of so many pods with a core each."""
    await prometheus.until_value(f'sum(paddock_leading{{instance="{leader}"}})', 1)
    await prometheus.until_value("sum(paddock_leading)", 1)
    await prometheus.until_value(f"sum({ALLOCATED})", cores * 1000)
    await prometheus.until_value(f"sum({OWN})", cores * 1000)
    await prometheus.until_value(f"sum({BOUND})", cores)


async def test_a_scrape_without_the_right_reads_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """As an account to which no role is bound, and without a token."""
    scraping = Scraping(cluster, tmp_path)
    async with scraping.stand(QUEUES):
        right = await scraping.further()
        idle = tmp_path / "idle"
        await asyncio.to_thread(idle.write_text, await account(cluster, "idle"))
        target = [f"127.0.0.1:{scraping.ports['rest']}"]
        jobs = (
            Job("right", "/metrics", target, right),
            Job("idle", "/metrics", target, {**right, "authorization": {"credentials_file": str(idle)}}),
            Job("none", "/metrics", target, {**right, "authorization": None}),
            Job("yunikorn", "/ws/v1/metrics", target, right),
            Job("audit", "/debug/audit", target, right),
        )
        async with Prometheus(tmp_path, *jobs) as prometheus:
            await prometheus.until_value('up{job="right"}', 1)
            await prometheus.until_value('up{job="yunikorn"}', 1)
            for name in ("idle", "none", "audit"):
                await prometheus.until_value(f'up{{job="{name}"}}', 0)
                assert await prometheus.ask(f'{{job="{name}", __name__=~"paddock_.*|yunikorn_.*"}}') == []

            async def is_refused() -> bool:
                found = await prometheus.complaints()
                return any("403" in each for each in found) and any("401" in each for each in found)

            await eventually(is_refused, "Prometheus is told why")
