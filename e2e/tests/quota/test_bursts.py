"""Many pods at once, with events late, cut or lost: the quota is exact and nothing is lost."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from e2e.cluster.client import Cluster
from e2e.stands.stand import Stand, eventually_equal

FIFTY = {"a": {"max": {"vcore": "50"}}}


async def test_a_burst_over_the_quota_with_late_bindings_and_a_late_watch(cluster: Cluster) -> None:
    """200 pods come over a quota of 50.

    Bindings take 200 ms longer, and Paddock sees everything 500 ms late.
    """
    async with Stand(cluster, FIFTY, proxied=True) as stand:
        stand.proxy.delay("POST", "/binding$", 0.2)
        stand.proxy.delay_watch("/api/v1/pods", 0.5)
        stand.proxy.cut_watches("/api/v1/pods")
        await cluster.add_nodes(5)
        await cluster.create_pods(cluster.pod(f"p{at}", queue="root.a") for at in range(200))
        await stand.pods.until(lambda: len(stand.pods.bound()) == 50, "50 are bound")
        await stand.pods.until(
            lambda: len(stand.pods.refused("QuotaExceeded")) == 150,
            "150 are refused",
        )
        calls = await stand.paddock.metric("paddock_verb_seconds_count", verb="filter")
        print(f"200 pods over a quota of 50: {calls / 200:.1f} filter calls per pod")
        await _drain(cluster, stand)
        await _settled(stand)
        assert stand.observer.rules.peaks["root.a"]["cpu"] == 50_000


async def test_refused_pods_are_left_alone_while_others_come_and_go(cluster: Cluster) -> None:
    """300 refused pods, 200 others: each refused pod's status is written at most twice."""
    tree = {"crowd": {"max": {"vcore": "1"}}, "busy": {"max": {"vcore": "40"}}}
    async with Stand(cluster, tree) as stand:
        await cluster.add_nodes(5)
        await cluster.create_pods(cluster.pod(f"crowd-{at}", queue="root.crowd") for at in range(301))
        await stand.pods.until(
            lambda: len(stand.pods.refused("QuotaExceeded")) == 300,
            "300 are refused",
        )
        crowd = [pod["metadata"]["uid"] for pod in stand.pods.waiting()]
        before, started = await _filter_refusals(stand), time.monotonic()
        for wave in range(10):
            await cluster.create_pods(
                cluster.pod(f"busy-{wave}-{at}", queue="root.busy", run_for=0.5) for at in range(20)
            )
            await stand.pods.until(lambda wave=wave: _finished(stand) >= 20 * wave, "waves go by")  # type: ignore[misc]
        await stand.pods.until(lambda: _finished(stand) == 200, "200 came and went", timeout=60)
        minutes = (time.monotonic() - started) / 60
        calls = await _filter_refusals(stand) - before
        print(
            f"300 refused pods while 200 came and went in {minutes * 60:.1f} s: "
            f"{calls / 300 / minutes:.1f} filter calls per refused pod and minute"
        )
        writes = [stand.observer.rules.status_writes(uid) for uid in crowd]
        print(f"status writes per refused pod: at most {max(writes)}")
        assert max(writes) <= 2
        await stand.audited()


async def test_paddock_killed_in_the_middle_of_a_burst(cluster: Cluster) -> None:
    async with Stand(cluster, FIFTY) as stand:
        await _burst_with(cluster, stand, stand.paddock.restart)


async def test_kube_scheduler_killed_in_the_middle_of_a_burst(cluster: Cluster) -> None:
    async with Stand(cluster, FIFTY) as stand:
        await _burst_with(cluster, stand, stand.scheduler.restart)


async def test_watches_cut_every_second_during_a_burst(cluster: Cluster) -> None:
    async with Stand(cluster, FIFTY, proxied=True) as stand:

        async def cut() -> None:
            stand.proxy.cut_watches_every(1.0)

        await _burst_with(cluster, stand, cut)
        assert await stand.paddock.metric("paddock_watch_interruptions_total") > 0


async def test_replies_lost_after_the_binding_was_made(cluster: Cluster) -> None:
    """A Binding that was sent is followed up: the pod is bound once and counted once."""
    async with Stand(cluster, FIFTY, proxied=True) as stand:
        await cluster.add_nodes(2)
        stand.proxy.drop_next("POST", "/binding$", n=5, after=True)
        stand.proxy.drop_next("POST", "/binding$", n=5)
        await cluster.create_pods(cluster.pod(f"p{at}", queue="root.a") for at in range(20))
        await stand.pods.until(lambda: len(stand.pods.bound()) == 20, "all are bound")
        await _settled(stand)


# -- steps ---------------------------------------------------------------------------------------------------


async def _burst_with(cluster: Cluster, stand: Stand, disturb: Callable[[], Awaitable[None]]) -> None:
    """Create 200 pods over a quota of 50, each running a moment, and break something when 20 are bound."""
    await cluster.add_nodes(5)
    creating = asyncio.create_task(
        cluster.create_pods((cluster.pod(f"p{at}", queue="root.a", run_for=0.3) for at in range(200)), most=8)
    )
    await stand.pods.until(lambda: len(stand.pods.bound()) + _finished(stand) >= 20, "20 are bound")
    await disturb()
    await creating
    await stand.pods.until(lambda: _finished(stand) == 200, "all 200 ran", timeout=90)
    stand.proxy.clear()
    await _settled(stand)


async def _drain(cluster: Cluster, stand: Stand) -> None:
    """Delete what runs until nothing is left: every refused pod gets its turn."""
    while stand.pods.pods:
        going = {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in stand.pods.bound()}
        await asyncio.gather(*(cluster.delete_pod(name) for name in going.values()))
        await stand.pods.until(
            lambda going=going: (
                not going.keys() & stand.pods.pods.keys()  # type: ignore[misc]
                and len(stand.pods.bound()) == min(50, len(stand.pods.pods))
            ),
            "the next ones run",
            timeout=60,
        )


async def _settled(stand: Stand) -> None:
    """Wait until Paddock has seen what the observer has, and nothing is reserved."""
    held = partial(stand.paddock.metric, "paddock_reservations")
    await eventually_equal(held, 0, "nothing is held", timeout=45)
    await stand.audited()


def _finished(stand: Stand) -> int:
    return sum(pod["status"]["phase"] == "Succeeded" for pod in stand.pods.pods.values())


async def _filter_refusals(stand: Stand) -> float:
    return await stand.paddock.metric("paddock_decisions_total", verb="filter", code="QuotaExceeded")
