"""Fair shares on the real control plane: three queues whose pods come and go, and their usage."""

import asyncio
import random
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest

from e2e.cluster.client import ApiFailure, Cluster, Object, is_terminal, node_of
from e2e.stands.course import Course, Place, place, say
from e2e.stands.stand import queue_of

# One after the other: each needs more of the machine than a share of it.
pytestmark = pytest.mark.xdist_group("shares")

GUARANTEES = {"root.three": 9, "root.two": 6, "root.one": 3}
SHARED = {path: {"resources": {"guaranteed": {"vcore": str(cores)}}} for path, cores in GUARANTEES.items()}
ALL_CORES = 216
"""Cores: so many that pods on their way to a node, which no sample counts, make little difference."""

NODES = 12
SAMPLES_APART = 0.5
MAKERS = 8
SLOWEST = 300.0
"""Seconds that a run may take on a busy machine; on four cores it takes a tenth."""


@dataclass(frozen=True)
class Churn:
    """Churn of pods. ``pods``: of all three queues. ``run_for``: seconds.

    ``waiting``: how many wait at any time for each core that a queue is guaranteed. All therefore wait
    equally long, and no queue comes first in kube-scheduler, where older pods go first.
    """

    pods: int
    waiting: int
    run_for: tuple[float, float]
    spec: Mapping[str, Any]


GATED = Churn(2_000, 30, (1.5, 4.5), {"schedulingGates": [{"name": "paddock.dev/queue"}]})
REFUSED = Churn(1_200, 5, (5.0, 15.0), {})
"""Fewer and slower pods: each waiting one costs calls, and a woken one waits out its back-off.

A freed slot stays empty for more than a second, and no sample counts the pod on its way to it. With pods of
6 s a fifth of all slots was empty on two cores, and one queue was 7% above its share. A mean over two
generations of pods is too short as well: chance alone took it past 5%. 1,200 pods take a minute.
"""


@pytest.mark.timeout(2 * SLOWEST)
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_usage_converges_to_the_ratio_of_the_guarantees(cluster: Cluster, seed: int) -> None:
    await _converges(cluster, GATED, seed)


@pytest.mark.timeout(2 * SLOWEST)
async def test_usage_converges_with_refusals(cluster: Cluster) -> None:
    await _converges(cluster, REFUSED, 1)


async def _converges(cluster: Cluster, churn: Churn, seed: int) -> None:
    """Let pods of all three queues come and go on a full cluster, with some of each always waiting."""
    async with place(cluster, SHARED, nodes=NODES, cores=ALL_CORES // NODES) as here:
        blockers = await here.fill(ALL_CORES)
        feed = Feed(here, churn, random.Random(seed))
        await feed.begin()
        calls, held, began = await here.calls(), await here.held(), time.monotonic()
        async with _sampled(here, feed) as samples:
            for name in blockers:
                # On a busy machine the guaranteed queues have preempted some by now.
                with suppress(ApiFailure):
                    await cluster.delete_pod(name)
            await asyncio.wait_for(feed.run(), SLOWEST)
        took, bound = time.monotonic() - began, len(here.course.bound) - ALL_CORES
        calls, held = await here.calls() - calls, await here.held() - held
        print(f"seed {seed}: {bound} of {churn.pods} pods in {took:.1f} s")
        print(f"filter calls per bound pod {calls / bound:.1f}, WaitingForTurn {held / bound:.1f}")
        say("in a churn, freed to bound", _gaps(here.course))
        say("in a churn, last woken to bound", _woken_to_bound(here.course))
        _assert_shares(samples[len(samples) // 3 :])
        await feed.until_all_have_ended()


class Feed:
    """A source of pods: some of each queue, then another one of a queue for each that is bound.

    ``waiting``: how many of each queue are not bound.
    """

    def __init__(self, here: Place, churn: Churn, chance: random.Random) -> None:
        self._here = here
        self._churn = churn
        self._chance = chance
        self._made = 0
        self.waiting: Counter[str] = Counter()
        self._bound: set[str] = set()
        self._ended: set[str] = set()
        self._wanted: asyncio.Queue[str] = asyncio.Queue()
        self._over = asyncio.Event()
        here.pods.listeners.append(self._on_pod)

    async def begin(self) -> None:
        """Create the first pods of each queue, in some order."""
        paths = [path for path, cores in GUARANTEES.items() for _ in range(cores * self._churn.waiting)]
        self._chance.shuffle(paths)
        await self._here.cluster.create_pods(self._next(path) for path in paths)

    async def run(self) -> None:
        """Create pods until the last one was made."""
        await asyncio.gather(*(self._follow() for _ in range(MAKERS)))

    async def _follow(self) -> None:
        while self._made < self._churn.pods:
            path = await self._wanted.get()
            if self._made < self._churn.pods:
                await self._here.cluster.create(self._next(path))

    async def until_all_have_ended(self) -> None:
        await asyncio.wait_for(self._over.wait(), SLOWEST)

    def _next(self, path: str) -> Object:
        self._made += 1
        self.waiting[path] += 1
        run_for = self._chance.uniform(*self._churn.run_for)
        spec = self._churn.spec
        return self._here.cluster.pod(f"p{self._made}", queue=path, run_for=run_for, spec=spec)

    def _on_pod(self, kind: str, pod: Object) -> None:
        path, name = queue_of(pod), pod["metadata"]["name"]
        if path not in GUARANTEES:
            return
        if node_of(pod) and name not in self._bound:
            self._bound.add(name)
            self.waiting[path] -= 1
            self._wanted.put_nowait(path)
        if is_terminal(pod) or kind == "DELETED":
            self._ended.add(name)
            if len(self._ended) == self._churn.pods:
                self._over.set()


@dataclass(frozen=True)
class Sample:
    """A sample: millicores that each queue holds, and how many of its pods wait."""

    held: Mapping[str, int]
    waiting: Mapping[str, int]


@asynccontextmanager
async def _sampled(here: Place, feed: Feed) -> AsyncIterator[list[Sample]]:
    """Take samples until the end of the block."""
    found: list[Sample] = []

    async def sample() -> None:
        while True:
            usage = here.stand.observer.rules.usage
            held = {path: usage(path).get("cpu", 0) for path in GUARANTEES}
            found.append(Sample(held, dict(feed.waiting)))
            await asyncio.sleep(SAMPLES_APART)

    task = asyncio.create_task(sample())
    try:
        yield found
    finally:
        task.cancel()


def _gaps(course: Course) -> list[float]:
    """Times from each freed slot to the Binding that took it, first to first."""
    bindings = sorted(course.bound.values())[ALL_CORES:]
    return [bound - freed for freed, bound in zip(course.freed, bindings, strict=False)]


def _woken_to_bound(course: Course) -> list[float]:
    before = {
        name: [woken for woken in course.woken.get(name, ()) if woken <= at]
        for name, at in course.bound.items()
    }
    return [course.bound[name] - woken[-1] for name, woken in before.items() if woken]


def _assert_shares(samples: Sequence[Sample]) -> None:
    """Assert that each share is within 5% of the guarantees' ratio while all queues could use more.

    A queue without waiting pods takes less than its share: a slow machine may fall behind with them.
    """
    wanting = [each for each in samples if min(each.waiting.values()) > 0]
    assert len(wanting) > len(samples) / 2, f"all wait in {len(wanting)} of {len(samples)} samples only"
    samples = wanting
    means = {path: statistics.fmean(each.held[path] for each in samples) for path in GUARANTEES}
    total, wanted = sum(means.values()), sum(GUARANTEES.values())
    off = {path: means[path] / total / (GUARANTEES[path] / wanted) - 1 for path in GUARANTEES}
    shown = {path: f"{means[path] / 1000:.2f} ({off[path]:+.1%})" for path in GUARANTEES}
    fewest = min(min(each.waiting.values()) for each in samples)
    cores = f"{total / 1000:.1f} of {ALL_CORES} cores"
    print(f"mean of {len(samples)} samples: {shown}, {cores}; at least {fewest} wait")
    assert all(abs(each) <= 0.05 for each in off.values()), shown
