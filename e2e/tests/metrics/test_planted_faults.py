"""Every alert of ``manifests/monitoring`` fires in a real Prometheus once its fault is planted.

Played: the API server and kube-scheduler's calls. Waits and thresholds of time are shortened; otherwise the
expressions are the shipped ones. A broken law and wrong counters cannot be provoked, so both are planted in
the server. Needs `prometheus` and fails without it.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from core.ids import QueuePath
from e2e.programs.prometheus import Job, Prometheus, Series
from e2e.stands.played_world import PlayedWorld, played_world
from e2e.tests.metrics.test_alerts import SPEC
from tests.extender.app_bench import CONFIG_MAPS, LEASES

SHORTER = (
    (r"\[15m\]", "[10s]"),
    (r"> 7200$", "> 1"),
    (r"> 60$", "> 0"),
    (r"> 50$", "> 0"),
    (r"> 5$", "> 0.1"),
)
"""Times and numbers of events that no test can wait for."""

LEADING = {"PaddockNotLeading", "PaddockNotReady", "PaddockConfigurationMissing"}
"""Alerts of a server that does not lead, or has no document."""


def shortened() -> dict[str, Any]:
    """The shipped groups without waits."""
    text = yaml.safe_dump({"groups": SPEC["groups"]}, width=10_000)
    groups: dict[str, Any] = yaml.safe_load(text)
    for rule in (rule for group in groups["groups"] for rule in group["rules"]):
        rule.pop("for", None)
        for pattern, shorter in SHORTER:
            rule["expr"] = re.sub(pattern, shorter, rule["expr"])
    return groups


def queues(*, max_of_a: int = 2, delay: str = "1h") -> str:
    """``a`` is full with two pods. ``b`` has a guarantee that it does not use.

    ``delay``: time after which a lowered max is enforced.
    """
    properties = f"{{quota.preemption.delay: {delay}}}"
    a = f"{{name: a, properties: {properties}, resources: {{max: {{vcore: {max_of_a}}}}}}}"
    b = "{name: b, resources: {guaranteed: {vcore: 5}}}"
    root = f"{{name: root, submitacl: '*', queues: [{a}, {b}]}}"
    preemption = "preemption: {quotapreemptionenabled: true}"
    return f"partitions: [{{name: default, {preemption}, queues: [{root}]}}]\n"


@asynccontextmanager
async def alarmed(folder: Path) -> AsyncIterator[tuple[PlayedWorld, Prometheus]]:
    """A world whose server is not started, and a Prometheus that scrapes it every second."""
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(played_world(folder))
        job = Job("paddock", "/metrics", [f"127.0.0.1:{world.server.admin}"])
        prometheus = Prometheus(folder, job, rules=shortened())
        yield world, await stack.enter_async_context(prometheus)


async def firing(prometheus: Prometheus) -> set[str]:
    found = await prometheus.ask('ALERTS{alertstate="firing"}')
    return {each.labels["alertname"] for each in found}


async def until_fires(prometheus: Prometheus, alert: str) -> None:
    def is_there(found: list[Series]) -> bool:
        return bool(found)

    await prometheus.until(f'ALERTS{{alertname="{alert}", alertstate="firing"}}', is_there)


async def _refuse_often(world: PlayedWorld) -> None:
    """kube-scheduler asks again and again."""
    for _ in range(60):
        await world.try_pod("waits", queue="root.a", app="waits")
        await asyncio.sleep(0.05)


async def _lower_the_max(world: PlayedWorld) -> None:
    world.server.configure(queues(max_of_a=1))


async def _evict(world: PlayedWorld) -> None:
    """The lowered max is enforced after a shorter delay: Paddock evicts a pod."""
    world.server.configure(queues(max_of_a=1, delay="1s"))


async def _break_a_law(world: PlayedWorld) -> None:
    assert world.server.app is not None
    world.server.app.metrics.breaches.inc()


async def _miscount(world: PlayedWorld) -> None:
    """A counter of the ledger is changed past its owner, and an audit is asked for."""
    assert world.server.app is not None
    queue = world.server.app.engine.view.tree.get(QueuePath("root.b"))
    assert queue is not None
    assert queue.guaranteed is not None
    queue.allocated.add(queue.guaranteed)
    await world.server.get("/debug/audit")


async def _silence_a_watch(world: PlayedWorld) -> None:
    world.server.api.fail_next(500, path="/api/v1/nodes", times=10**6)
    world.server.api.cut()


async def _refuse_a_document(world: PlayedWorld) -> None:
    world.server.configure("partitions: 7")


async def _lose_the_document(world: PlayedWorld) -> None:
    world.server.api.delete(CONFIG_MAPS, "yunikorn-configs", "paddock-system")


FAULTS: dict[str, Callable[[PlayedWorld], Awaitable[None]]] = {
    "PaddockRefusedOften": _refuse_often,
    "PaddockOverMax": _lower_the_max,
    "PaddockManyEvictions": _evict,
    "PaddockConfigurationRefused": _refuse_a_document,
    "PaddockConfigurationMissing": _lose_the_document,
    "PaddockBreach": _break_a_law,
    "PaddockDrift": _miscount,
    "PaddockWatchStale": _silence_a_watch,
}
"""Alert, and what is planted so that it fires. Each fault stays while the next ones are planted."""

FROM_THE_START = {"PaddockQueueNearMax", "PaddockGuaranteeStarved", "PaddockPodsWaitLong"}
"""Alerts of a queue that is full, and of one that gets nothing."""


async def test_each_alert_fires_once_its_fault_is_planted(tmp_path: Path) -> None:
    async with alarmed(tmp_path) as (world, prometheus):
        server = world.server
        server.configure(queues())
        await server.started()
        await prometheus.until_scraped()
        await prometheus.until('sum(paddock_leading) == 1 unless on () ALERTS{alertstate="firing"}', bool)
        assert await firing(prometheus) == set()
        for name in ("p1", "p2"):
            world.pod(name, queue="root.a", app=name, node="n1", created="2026-01-01T00:00:00Z")
        world.pod("waits", queue="root.a", app="waits", created="2026-01-01T00:00:00Z")
        world.pod("starves", queue="root.b", app="starves", created="2026-01-01T00:00:00Z")
        for alert in sorted(FROM_THE_START):
            await until_fires(prometheus, alert)
        assert await firing(prometheus) == FROM_THE_START
        for alert, plant in FAULTS.items():
            assert alert not in await firing(prometheus), alert
            await plant(world)
            await until_fires(prometheus, alert)


async def test_the_alerts_of_a_server_that_cannot_work_fire(tmp_path: Path) -> None:
    """Another host holds the Lease, and there is no document."""
    async with alarmed(tmp_path) as (world, prometheus):
        world.server.api.apply(
            LEASES, {"metadata": {"name": "x"}, "spec": {"holderIdentity": "another-host_1"}}
        )
        world.server.start(overrides={"lease": "kube-system/x"})
        await prometheus.until_scraped()
        for alert in sorted(LEADING):
            await until_fires(prometheus, alert)


def test_every_alert_is_played() -> None:
    alerts = {rule["alert"] for group in SPEC["groups"] for rule in group["rules"]}
    assert alerts == {*FAULTS, *FROM_THE_START, *LEADING}


def test_waits_are_shortened_and_nothing_else_is_left_of_them() -> None:
    for group in shortened()["groups"]:
        for rule in group["rules"]:
            assert "for" not in rule
            assert not re.search(r"\[\d+[mh]\]|7200", rule["expr"]), rule
