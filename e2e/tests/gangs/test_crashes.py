"""Paddock or kube-scheduler killed while a gang is made, started, replaced or ended: the end is the same.

The proxy carries an effect out and holds its answer. Then the process is killed.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from e2e.cluster.client import Cluster
from e2e.stands.gangs import GATE, NOTED, PLACED_WITHIN, REPLACES, Job, Rally, rally

CORES = 4
"""Cores of the cluster, one more than a gang of three takes."""

LEASE = 16.0
"""Seconds until another replica of kube-scheduler leads, by default."""

Effect = tuple[str, str, str]
"""An effect: method, path and body of the call that asks for it."""

STARTS: dict[str, Effect] = {
    "a placeholder is made": ("POST", "/pods$", '"name":"tg-'),
    "a placeholder is bound": ("POST", "/pods/tg-[^/]*/binding$", ""),
    "the start is noted": ("PATCH", "/pods/crash-0$", f'"{NOTED}":"Started"'),
    "a member is linked": ("PATCH", "/pods/crash-.$", f'"{REPLACES}":"'),
    "a placeholder is deleted": ("DELETE", "/pods/tg-", ""),
    "a member is nominated": ("PATCH", "/pods/crash-./status$", '"nominatedNodeName":"'),
    "a member is bound": ("POST", "/pods/crash-./binding$", ""),
}
WOKEN: Effect = ("PATCH", "/pods/crash-.$", '"paddock.dev/wake":"')
OPENED: Effect = ("PATCH", "/pods/crash-.$", GATE)
TIME_OUTS: dict[str, Effect] = {
    "the end is noted": ("PATCH", "/pods/crash-0$", f'"{NOTED}":"'),
    "a placeholder is deleted": ("DELETE", "/pods/tg-", ""),
}
MARKED: Effect = ("PATCH", "/pods/crash-./status$", '"phase":"Failed"')


def _named(effects: dict[str, Effect]) -> list[str]:
    return [each.replace(" ", "-") for each in effects]


@asynccontextmanager
async def _crash(cluster: Cluster, job: Job, effect: Effect, *, gated: bool = False) -> AsyncIterator[Rally]:
    """Kill Paddock after ``effect`` and start it again, with two other pods that want the one core left."""
    async with rally(cluster, nodes=2, cores=2, gated=gated, proxied=True) as here:
        done = here.proxy.hold_next(*effect)
        await here.submit(job)
        await asyncio.wait_for(done.wait(), 20 + job.timeout)
        await here.paddock.kill()
        here.proxy.clear()
        if len(here.placed(job)) < min(job.size, CORES):
            # Pods that come before them take what they have not taken yet.
            await here.paddock.start()
            await here.until_placed(job, min(job.size, CORES))
        await here.rivals(2)
        if not here.paddock.running:
            await here.paddock.start()
        yield here


@pytest.mark.parametrize("effect", [*STARTS.values(), WOKEN], ids=[*_named(STARTS), "a-member-is-woken"])
async def test_a_gang_starts_though_paddock_crashes(cluster: Cluster, effect: Effect) -> None:
    """Nothing is made or replaced twice (GANG-20)."""
    job = Job("crash", 3)
    async with _crash(cluster, job, effect) as here:
        await here.until_started(job)


@pytest.mark.parametrize("effect", [*STARTS.values(), OPENED], ids=[*_named(STARTS), "a-gate-is-opened"])
async def test_a_gang_behind_gates_starts_though_paddock_crashes(cluster: Cluster, effect: Effect) -> None:
    job = Job("crash", 3)
    async with _crash(cluster, job, effect, gated=True) as here:
        await here.until_started(job)


@pytest.mark.parametrize("effect", TIME_OUTS.values(), ids=_named(TIME_OUTS))
async def test_a_soft_gang_gives_up_though_paddock_crashes(cluster: Cluster, effect: Effect) -> None:
    job = Job("crash", 6, timeout=PLACED_WITHIN)
    async with _crash(cluster, job, effect) as here:
        await here.until_no_holders()
        await here.pods.until(lambda: len(here.pods.bound()) == 4, "all cores are taken by real pods")
        assert len(here.log.of(job)) == job.size
        for name in (*here.rival_names(2), *job.names[:3]):
            await cluster.delete_pod(name)
        await here.until_bound(*job.names[3:])


@pytest.mark.parametrize(
    "effect", [*TIME_OUTS.values(), MARKED], ids=[*_named(TIME_OUTS), "a-member-is-marked"]
)
async def test_a_hard_gang_fails_though_paddock_crashes(cluster: Cluster, effect: Effect) -> None:
    job = Job("crash", 6, style="Hard", timeout=PLACED_WITHIN)
    async with _crash(cluster, job, effect) as here:
        await here.until_ended(*job.names)
        assert {here.log.ended[name] for name in job.names} == {("Failed", "ResourceReservationTimeout")}
        await here.until_no_holders()
        assert not {*job.names} & {*here.log.nodes}
        await here.until_used(0)
        await here.until_bound(*here.rival_names(2))


@pytest.mark.parametrize("gated", [False, True], ids=["refusals", "gates"])
@pytest.mark.parametrize("at", ["a placeholder is bound", "a placeholder is deleted", "a member is bound"])
async def test_a_gang_starts_though_the_scheduler_crashes(cluster: Cluster, at: str, gated: bool) -> None:
    job = Job("crash", 3)
    async with rally(cluster, nodes=2, cores=2, gated=gated, proxied=True) as here:
        done = here.proxy.hold_next(*STARTS[at])
        await here.submit(job)
        await asyncio.wait_for(done.wait(), 20)
        await here.stand.scheduler.kill()
        here.proxy.clear()
        if len(here.placed(job)) == job.size:
            await here.rivals(2)
        await here.stand.scheduler.start()
        await here.until_placed(job, job.size)
        await here.rivals(2)
        await here.until_started(job)


async def test_members_keep_their_capacity_until_a_scheduler_is_back(cluster: Cluster) -> None:
    """The outage lasts longer than the Lease of a dead replica, after which the next one leads."""
    job = Job("crash", 4)
    async with rally(cluster, nodes=2, cores=2, proxied=True) as here:
        done = here.proxy.hold_next(*STARTS["a placeholder is deleted"])
        await here.submit(job)
        await asyncio.wait_for(done.wait(), 20)
        await here.stand.scheduler.kill()
        here.proxy.clear()
        await here.until_no_holders()
        killed_at = time.monotonic()
        await here.rivals(2)
        await here.pods.until(lambda: time.monotonic() - killed_at >= LEASE, "the Lease is over")
        await here.stand.scheduler.start()
        await here.until_bound(*job.names)
        here.assert_taken_over(job)
        await here.until_gang(job, "Started", 4, 4, 0)
        await here.until_refused_by_scheduler(*here.rival_names(2))
