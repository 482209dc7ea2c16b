"""A side of a round: a new control plane, a warm-up, and pods created meanwhile and before."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from e2e.bench.rates import usage
from e2e.bench.rates.creating import GATED, Batch, Client
from e2e.bench.rates.figures import Measured, percentile, rate_between, rate_until
from e2e.bench.rates.sides import PADDOCK, Decider, Side, configuration, decider, install, policies
from e2e.bench.rates.watching import Question, Seen, Watcher
from e2e.cluster.client import Cluster
from e2e.programs.control_plane import ControlPlane, Scheduler
from e2e.stands.stand import eventually

NODES, LEAVES = 500, 50
WARMED = 4 * LEAVES
SETTLED = 1.0
"""Seconds after the last Binding whose CPU still counts, since reports and watches come later."""

FULL = 20
MEANWHILE, BEFORE = "created meanwhile", "created before"


@dataclass(frozen=True, slots=True)
class Size:
    """How much a round does. ``waiting``: gated pods that wait in full queues all the time."""

    pods: int = 2_000
    nodes: int = NODES
    waiting: int = 0


@dataclass(slots=True)
class Round:
    """Everything that runs on one side."""

    size: Size
    side: Side
    cluster: Cluster
    watcher: Watcher
    client: Client
    scheduler: Scheduler
    decider: Decider | None
    #: Seconds of CPU until the decider was ready, before there was any pod.
    start_cpu: float

    @property
    def named(self) -> dict[int, str]:
        """Names of processes that their program does not tell."""
        found = {self.watcher.pid: "watch", self.client.pid: "client"}
        if self.decider is not None and self._decides():
            found[self.decider.pid] = self.side.by
        return found

    def _decides(self) -> bool:
        try:
            return self.decider is not None and self.decider.pid > 0
        except AssertionError:
            return False

    def batch(self, prefix: str, count: int) -> Batch:
        return Batch(self.cluster.namespace, prefix, count, LEAVES)

    async def start_last(self) -> None:
        """Start what decides last: Paddock where it opens gates, else kube-scheduler."""
        if self.side.gated:
            assert self.decider is not None
            await self.decider.start()
        else:
            await self.scheduler.start()

    async def stop_last(self) -> None:
        if self.side.gated:
            assert self.decider is not None
            await self.decider.stop()
        else:
            await self.scheduler.stop()


async def measure(side: Side, at: int, size: Size) -> Measured:
    """Run one side of a round and return its figures."""
    async with _running(side, size) as here:
        await _warm_up(here)
        meanwhile, first = await _meanwhile(here)
        await _delete(here, "m")
        before, second = await _before(here)
        await _see_that_they_waited(here)
        peak = usage.peaks(here.named)
        return Measured(
            side=side.name,
            round=at,
            figures={MEANWHILE: meanwhile, BEFORE: before},
            disturbed=first.disturbed or second.disturbed,
            more={
                "peak_mb": peak,
                "start_cpu_s": here.start_cpu,
                "others_cores": [round(each.others, 3) for each in (first, second)],
                "steal_s": [round(each.stolen, 2) for each in (first, second)],
            },
        )


@asynccontextmanager
async def _running(side: Side, size: Size) -> AsyncIterator[Round]:
    async with AsyncExitStack() as stack:
        control_plane = await stack.enter_async_context(ControlPlane())
        cluster = await stack.enter_async_context(Cluster(control_plane))
        cluster.namespace = await cluster.create_namespace()
        await cluster.add_nodes(size.nodes, cpu="32")
        if side.form:
            await install(cluster, tree(), form=side.form)
        if side.gated:
            await put_policies_in_force(cluster)
        watcher = await stack.enter_async_context(Watcher(control_plane, cluster.namespace))
        client = await stack.enter_async_context(Client(control_plane))
        made, url = decider(side, cluster, stack)
        start_cpu = 0.0
        if made is not None:
            await made.start()
            start_cpu = usage.read({made.pid: side.by}).own[side.by]
        scheduler = await control_plane.scheduler(configuration(side, url))
        here = Round(size, side, cluster, watcher, client, scheduler, made, start_cpu)
        await _let_wait(here)
        yield here


def tree() -> dict[str, object]:
    """Leaves whose quotas fit, and leaves with room for one pod. A quota of nothing would be no quota."""
    return {
        "tenants": {f"q{at}": {"max": {"vcore": "1000"}} for at in range(LEAVES)},
        "full": {f"q{at}": {"max": {"vcore": "1"}} for at in range(FULL)},
    }


async def put_policies_in_force(cluster: Cluster) -> None:
    """Create the policy of the gated form, and wait until it changes pods."""
    labels = {"metadata": {"labels": {"paddock.dev/gate": "true"}}}
    await cluster.patch(f"/api/v1/namespaces/{cluster.namespace}", labels)
    for thing in policies():
        await cluster.apply(thing)
    await eventually(cluster.is_mutated, "the policies are in force", timeout=30)


async def _let_wait(here: Round) -> None:
    count = here.size.waiting
    if count:
        namespace = here.cluster.namespace
        await here.client.create(Batch(namespace, "x", count, FULL, GATED, parent="root.full"))
        opened = FULL if here.side.by == PADDOCK else 0
        await here.watcher.until(Question("x", added=count, bound=opened), "all that wait are there")


async def _see_that_they_waited(here: Round) -> None:
    """Raise AssertionError if pods were bound that should have waited. Beside a loop all of them are."""
    if here.size.waiting:
        seen = await here.watcher.until(Question("x"), "what has been seen")
        assert len(seen.bound) <= FULL, f"{len(seen.bound)} pods were bound that should wait"


async def _warm_up(here: Round) -> None:
    """Bind some pods of each leaf, and leave the first one."""
    await here.client.create(here.batch("w", WARMED))
    seen = await here.watcher.until(Question("w", bound=WARMED), "the pods of the warm-up are bound")
    rest = [name for name in seen.added if int(name.rpartition("-")[2]) >= LEAVES]
    await here.client.delete(here.cluster.namespace, rest)
    await here.watcher.until(Question("w", deleted=len(rest)), "the pods of the warm-up are gone")
    await asyncio.sleep(SETTLED)


async def _meanwhile(here: Round) -> tuple[dict[str, float], usage.Used]:
    count = here.size.pods
    before = usage.read(here.named)
    began = await here.client.create(here.batch("m", count))
    seen = await here.watcher.until(Question("m", bound=count), "all pods are bound")
    used = await _used_since(before, here)
    times = seen.times()
    latencies = [each.bound - each.added for each in times]
    return {
        "pods/s": round(rate_until(began, times), 1),
        "p50 s": round(percentile(latencies, 0.5), 3),
        "p99 s": round(percentile(latencies, 0.99), 3),
        **_cpu(used, count),
    }, used


async def _before(here: Round) -> tuple[dict[str, float], usage.Used]:
    count = here.size.pods
    await here.stop_last()
    await here.client.create(here.batch("b", count))
    await here.watcher.until(Question("b", added=count), "all pods are there")
    await asyncio.sleep(SETTLED)
    before, began = usage.read(here.named), time.monotonic()
    starting = asyncio.create_task(here.start_last())
    seen = await here.watcher.until(Question("b", bound=count), "all pods are bound")
    await starting
    used = await _used_since(before, here)
    times = seen.times()
    return {
        "pods/s": round(rate_between(times), 1),
        "pods/s from the start": round(rate_until(began, times), 1),
        **_cpu(used, count),
    }, used


async def _used_since(before: usage.Reading, here: Round) -> usage.Used:
    await asyncio.sleep(SETTLED)
    return usage.used(before, usage.read(here.named))


def _cpu(used: usage.Used, count: int) -> dict[str, float]:
    each = used.milliseconds_each(count)
    # Where all cores are full, a rate is the cores divided by this.
    return {**{f"cpu {name}": value for name, value in each.items()}, "cpu all": round(sum(each.values()), 3)}


async def _delete(here: Round, prefix: str) -> None:
    seen: Seen = await here.watcher.until(Question(prefix), "")
    await here.client.delete(here.cluster.namespace, [*seen.added])
    await here.watcher.until(Question(prefix, deleted=len(seen.added)), "all are gone")
    await asyncio.sleep(SETTLED)
