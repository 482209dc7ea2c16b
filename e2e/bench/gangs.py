"""100 gangs of 20 with task groups on 500 nodes, against the same 2,000 pods without gangs, in one run.

The placeholders are bound first. At the beginning there is one pod of each gang, which is no member. The
members are created when all 2,000 placeholders have their nodes.

Printed are pods per second from the first member bound to the last, and calls of the API that Paddock made
per member. Printed, too, are kube-scheduler's filter calls and the time of a replacement. A replacement lasts
from the link written on a member to its node, as one watch shows both. Then come the same gangs with all
their pods at once, which wait for their placeholders. Both run with refusals and with gates.
"""

import asyncio
import itertools
import os
import statistics
import time
from collections.abc import Mapping
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from e2e.bench.worlds.arena import GATED, Arena, arena, extenders
from e2e.bench.worlds.report import percentiles, show
from e2e.cluster.client import Object, node_of
from e2e.cluster.watching import PodCache
from e2e.stands.gangs import REPLACES, Job, is_holder

GANGS, SIZE, QUEUES = 100, 20, 50
MEMBERS = GANGS * SIZE
CPU = "100m"
ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "2"))

KINDS: Mapping[str, Mapping[str, Any]] = {"refused": {}, "gated": GATED}


class Course:
    """Times in seconds of members' links and Bindings, and of placeholders' Bindings, from one watch."""

    def __init__(self, pods: PodCache) -> None:
        self.holders: set[str] = set()
        self.linked: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.taken: set[str] = set()
        pods.listeners.append(self._note)

    def _note(self, _kind: str, pod: Object) -> None:
        name, now = pod["metadata"]["name"], time.perf_counter()
        if is_holder(pod):
            if node_of(pod):
                self.holders.add(name)
            return
        linked = REPLACES in (pod["metadata"].get("annotations") or {})
        if linked:
            self.linked.setdefault(name, now)
        if node_of(pod) and not name.startswith("first") and name not in self.bound:
            self.bound[name] = now
            if linked:
                self.taken.add(name)

    @property
    def rate(self) -> float:
        """Members a second, from the first to the last."""
        times = sorted(self.bound.values())
        return (len(times) - 1) / (times[-1] - times[0])

    @property
    def take_overs(self) -> list[float]:
        return [self.bound[name] - self.linked[name] for name in self.taken]


async def run() -> None:
    """Print pods bound per second, calls per member and the times in microseconds."""
    rounds = itertools.count()
    async with arena({f"q{at}": {"max": {"vcore": "1000"}} for at in range(QUEUES)}) as here:
        called = [*extenders(here.url, ("filter", "preempt")), *extenders(here.url, ("bind",))]
        scheduler = await here.scheduler(called)
        for kind, spec in KINDS.items():
            plain: list[float] = []
            after: list[dict[str, Any]] = []
            at_once: list[dict[str, Any]] = []
            for _ in range(ROUNDS):
                plain.append(await _plain(here, spec))
                after.append(await _gangs(here, next(rounds), spec, first_alone=True))
                at_once.append(await _gangs(here, next(rounds), spec, first_alone=False))
            _show(kind, plain, after, at_once)
        await scheduler.stop()


def _show(kind: str, plain: list[float], after: list[dict[str, Any]], at_once: list[dict[str, Any]]) -> None:
    show(
        f"gangs with placeholders, {kind}",
        unit="pods/s",
        gangs=GANGS,
        of=SIZE,
        rounds=ROUNDS,
        without_gangs=[round(each, 1) for each in plain],
        ratio=round(
            statistics.median(
                each["members a second"] / alone for each, alone in zip(after, plain, strict=True)
            ),
            3,
        ),
        placeholders_first=after,
        all_at_once=at_once,
    )


async def _plain(here: Arena, spec: Mapping[str, Any]) -> float:
    """Run the same pods as applications without gangs."""
    cluster = here.cluster
    async with PodCache(cluster, cluster.namespace) as pods:
        course = Course(pods)
        creating = asyncio.create_task(
            cluster.create_pods(
                (
                    cluster.pod(f"p{at}", cpu=CPU, queue=f"root.q{at % QUEUES}", spec=spec)
                    for at in range(MEMBERS)
                ),
                most=64,
            )
        )
        await pods.until(lambda: len(course.bound) == MEMBERS, "all are bound", timeout=120)
        await creating
        await here.delete_pods(pods)
    return course.rate


async def _gangs(here: Arena, number: int, spec: Mapping[str, Any], *, first_alone: bool) -> dict[str, Any]:
    """Run one round with gangs, and return its figures.

    ``first_alone``: members come when all placeholders have their nodes.
    """
    cluster = here.cluster
    jobs = [
        Job(f"r{number}-{at}", SIZE, queue=f"root.q{at % QUEUES}", cpu=CPU, spec=spec) for at in range(GANGS)
    ]
    async with PodCache(cluster, cluster.namespace) as pods:
        course, found = Course(pods), dict[str, Any]()
        started = time.perf_counter()
        if first_alone:
            await cluster.create_pods((job.outsider(cluster) for job in jobs), most=64)
            await pods.until(lambda: len(course.holders) == MEMBERS, "placeholders are bound", timeout=120)
            found["placeholders a second"] = round(MEMBERS / (time.perf_counter() - started), 1)
        before = await _counts(here)
        members = (member for job in jobs for member in job.manifests(cluster))
        creating = asyncio.create_task(cluster.create_pods(members, most=64))
        await pods.until(lambda: len(course.bound) == MEMBERS, "all members are bound", timeout=240)
        await creating
        found["members a second"] = round(course.rate, 1)
        found["seconds in all"] = round(time.perf_counter() - started, 1)
        found["per member"] = _differences(before, await _counts(here))
        found["taken over"] = len(course.taken)
        found["take-over"] = percentiles(course.take_overs)
        await here.delete_pods(pods)
    return found


async def _counts(here: Arena) -> dict[str, float]:
    """Calls so far: those of the effector by kind, and filter calls."""
    _, text = await here.paddock.get("/metrics")
    counts = {"filter calls": await here.filter_calls()}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == "paddock_effects_total":
                kind = sample.labels["effect"]
                counts[kind] = counts.get(kind, 0.0) + sample.value
    return counts


def _differences(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    made = {kind: (count - before.get(kind, 0.0)) / MEMBERS for kind, count in after.items()}
    whole = sum(each for kind, each in made.items() if kind != "filter calls")
    return {kind: round(each, 2) for kind, each in sorted(made.items()) if each} | {"calls": round(whole, 2)}
