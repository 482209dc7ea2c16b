"""`make soak`: bounded churn on the real control plane, with Paddock's memory, stalls and audit drift.

Pods come and go in five queues, half of them behind Paddock's gate. Gangs start, and a guaranteed queue
preempts pods of another. Tenants delete waiting pods, and maxima are edited. The soak fails if the observer
sees a broken quota, if the audit finds drift, or if a pod is never served. After a minute it also fails
without an opened gate, a gang or an eviction. Memory and stalls are printed and not judged, as they depend on
the machine. A connection that drops is no failure, for the same reason, but a Paddock that ends is.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aiohttp

from e2e.cluster.client import ApiFailure, Cluster, Object, is_terminal
from e2e.cluster.reconnecting import DROPPED
from e2e.programs.control_plane import ControlPlane
from e2e.stands.gangs import GATE, GROUP, PLACEHOLDER, Job
from e2e.stands.stand import Stand, Tree, queue_of
from e2e.verdict import judged

LEAVES = ("batch", "burst", "web", "jobs")
LENT = "lent"
"""The queue that uses what others leave, and whose pods are evicted for ``web``."""
WIDE: Tree = {
    "batch": {"max": {"vcore": "12"}},
    "burst": {"max": {"vcore": "6"}},
    "web": {"guaranteed": {"vcore": "12"}, "properties": {"preemption.delay": "1s"}},
    "jobs": {},
    LENT: {},
}
NARROW: Tree = {**WIDE, "batch": {"max": {"vcore": "8"}}}
NODES, CORES = 4, 8
GATED: Object = {"schedulingGates": [{"name": GATE}]}

AT_A_TIME = 120
"""Pods that may exist at once: the subject is churn, not a backlog."""
LENT_AT_A_TIME = 28
GANG_EVERY, EDIT_EVERY, AUDIT_EVERY, MEMORY_EVERY = 4.0, 10.0, 5.0, 1.0
PRINT_EVERY = 600.0
EXPECTED_AFTER = 60.0
"""Seconds after which every kind of work must have been seen."""
PROBE_EVERY = 0.05
DRAINED_IN = 300.0
GANG_TIMEOUT = 60
"""Seconds after which a gang that lost placeholders goes on without them; well below `DRAINED_IN`."""


@dataclass
class Figures:
    """Figures of a soak. ``memory``: in MiB; ``stalls``: seconds that `/livez` took."""

    memory: list[float] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)
    drifts: list[object] = field(default_factory=list)
    audits: int = 0
    created: int = 0
    finished: int = 0
    work: dict[str, float] = field(default_factory=dict)

    def now(self, minutes: float) -> str:
        """Memory and audits so far."""
        return (
            f"{minutes:.0f} min: {self.memory[-1]:.1f} MiB, {self.created} pods created, "
            f"{len(self.drifts)} differences in {self.audits} audits"
        )

    def broken(self, seconds: float) -> Iterator[str]:
        """Faults, a sentence each. ``seconds``: length of the soak."""
        if self.drifts:
            yield f"the audit found {len(self.drifts)} differences, first {self.drifts[0]}"
        if not self.audits:
            yield "no audit was answered"
        for name, count in self.work.items():
            if seconds >= EXPECTED_AFTER and not count:
                yield f"no {name} were seen"

    def lines(self, minutes: float, bindings: int) -> Iterator[str]:
        third = max(1, len(self.memory) // 3)
        early, late = statistics.median(self.memory[:third]), statistics.median(self.memory[-third:])
        yield f"{minutes:.1f} min: {self.created} pods created, {bindings} bound, {self.finished} finished"
        yield (
            f"memory: {early:.1f} MiB in the first third, {late:.1f} MiB in the last, "
            f"{max(self.memory):.1f} MiB at most"
        )
        if len(self.stalls) > 1:
            p99 = statistics.quantiles(self.stalls, n=100)[98]
            yield f"/livez: p99 {p99 * 1000:.0f} ms, longest {max(self.stalls) * 1000:.0f} ms"
        yield ", ".join(f"{name}: {count:g}" for name, count in self.work.items())
        yield f"audit: {len(self.drifts)} differences in {self.audits} audits"


class Soak:
    """Churn on a stand until it is stopped, and `Figures` of it."""

    def __init__(self, stand: Stand, rng: random.Random) -> None:
        self.stand, self.cluster, self.pods = stand, stand.cluster, stand.pods
        self.figures = Figures()
        self._rng = rng
        self._finished: asyncio.Queue[Object] = asyncio.Queue()
        self._seen: set[str] = set()
        self.pods.listeners.append(self._on_pod)

    def _on_pod(self, kind: str, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        if kind != "DELETED" and is_terminal(pod) and uid not in self._seen:
            self._seen.add(uid)
            self._finished.put_nowait(pod)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run everything that goes on beside the churn. A failure in it fails the soak."""
        async with asyncio.TaskGroup() as tasks:
            beside = [
                tasks.create_task(each)
                for each in (
                    self._collect(),
                    _every(MEMORY_EVERY, self._note_memory),
                    _every(AUDIT_EVERY, self._note_audit),
                    self._print(),
                    self._probe(),
                )
            ]
            yield
            for task in beside:
                task.cancel()

    # -- churn -----------------------------------------------------------------------------------------------

    async def churn(self, seconds: float) -> None:
        """Create, delete and edit for some time, then wait until all pods are served."""
        until = time.monotonic() + seconds
        edits, gangs = time.monotonic() + EDIT_EVERY, time.monotonic()
        narrow = False
        while (now := time.monotonic()) < until:
            if now >= edits:
                narrow, edits = not narrow, now + EDIT_EVERY
                await self.stand.configure(NARROW if narrow else WIDE)
            if len(self.pods.pods) < AT_A_TIME:
                if now >= gangs:
                    gangs = now + GANG_EVERY
                    await self._submit_gang()
                await self._submit_some()
            await self._lend()
            await self._give_up_one()
            await asyncio.sleep(0.05)

    async def _submit_some(self) -> None:
        rng, numbers = self._rng, range(self.figures.created, self.figures.created + self._rng.randint(1, 12))
        self.figures.created += len(numbers)
        await self.cluster.create_pods(
            self.cluster.pod(
                f"p{at}",
                queue=f"root.{leaf}",
                app=f"{leaf}-{at % 7}",
                cpu=rng.choice(("500m", "1", "2")),
                run_for=rng.uniform(0.1, 2.0),
                spec=rng.choice(({}, GATED)),
            )
            for at in numbers
            for leaf in [rng.choice(LEAVES)]
        )

    async def _lend(self) -> None:
        """Keep the nodes full of pods that run for long, so that a guarantee takes an eviction."""
        there = sum(queue_of(pod) == f"root.{LENT}" for pod in self.pods.pods.values())
        if there < LENT_AT_A_TIME:
            self.figures.created += 1
            await self.cluster.create_pod(
                f"{LENT}-{self.figures.created}",
                queue=f"root.{LENT}",
                run_for=self._rng.uniform(10.0, 40.0),
            )

    async def _submit_gang(self) -> None:
        """Submit a gang. One that loses a placeholder to a preemption times out before the soak ends."""
        size = self._rng.randint(2, 4)
        job = Job(f"gang-{self.figures.created}", size, run_for=1.0, timeout=GANG_TIMEOUT)
        self.figures.created += job.size
        first, *others = job.manifests(self.cluster)
        await self.cluster.create(first)
        await self.cluster.create_pods(others)

    async def _give_up_one(self) -> None:
        """Delete a waiting pod now and then, but never a gang's, whose others would wait for it."""
        waiting = [pod for pod in self.pods.waiting() if not _is_of_gang(pod)]
        if waiting and self._rng.random() < 0.1:
            await self._delete(self._rng.choice(waiting))
            self.figures.finished += 1

    async def _collect(self) -> None:
        """Delete what has finished, so that the API server does not grow."""
        while True:
            await self._delete(await self._finished.get())
            self.figures.finished += 1

    async def _delete(self, pod: Object) -> None:
        with suppress(ApiFailure):
            await self.cluster.delete_pod(pod["metadata"]["name"])

    async def drained(self) -> None:
        """Wait until every pod was served."""
        await self.stand.configure(WIDE)
        await self.pods.until(lambda: not self.pods.pods, "all pods were served", timeout=DRAINED_IN)
        await self.stand.audited()

    # -- what is measured ------------------------------------------------------------------------------------

    async def note_work(self) -> None:
        """How often each kind of work was done."""
        metric = self.stand.paddock.metric
        self.figures.work = {
            "gates opened": await metric("paddock_effects_total", effect="OpenGate", outcome="done"),
            "evictions": await metric("paddock_effects_total", effect="EvictPod", outcome="done"),
            "placeholders": await metric("paddock_effects_total", effect="CreatePlaceholder", outcome="done"),
        }

    async def _print(self) -> None:
        began = time.monotonic()
        while True:
            await asyncio.sleep(PRINT_EVERY)
            print(f"soak: {self.figures.now((time.monotonic() - began) / 60)}", flush=True)

    async def _note_memory(self) -> None:
        paddock = self.stand.paddock
        assert paddock.running, f"Paddock ended:\n{paddock.tail()}"
        self.figures.memory.append(paddock.resident_mib)

    async def _note_audit(self) -> None:
        """Note an audit. A busy machine may answer too late, and the next audit is soon."""
        status, text = await self.stand.paddock.get("/debug/audit")
        if status == 200:
            self.figures.audits += 1
            self.figures.drifts += json.loads(text)["drifts"]

    async def _probe(self) -> None:
        """Measure how long the event loop makes a caller wait."""
        url = f"http://127.0.0.1:{self.stand.paddock.admin_port}/livez"
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
            while True:
                began = time.perf_counter()
                # A late answer is a stall. A dropped connection is not: `_note_memory` sees Paddock's end.
                with suppress(*DROPPED):
                    async with session.get(url) as answer:
                        await answer.read()
                self.figures.stalls.append(time.perf_counter() - began)
                await asyncio.sleep(PROBE_EVERY)


def _is_of_gang(pod: Object) -> bool:
    notes = pod["metadata"].get("annotations") or {}
    return PLACEHOLDER in notes or notes.get("yunikorn.apache.org/task-group-name") == GROUP


async def _every(seconds: float, do: Callable[[], Awaitable[None]]) -> None:
    while True:
        await do()
        await asyncio.sleep(seconds)


async def soak(seconds: float, seed: int) -> list[str]:
    """Run the soak and print its figures. Returns what was broken."""
    print(f"soak: {seconds:g} s, seed {seed}", flush=True)
    async with ControlPlane() as control_plane, Cluster(control_plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        async with Stand(cluster, WIDE) as stand:
            await cluster.add_nodes(NODES, cpu=str(CORES), pods=1000)
            here, began = Soak(stand, random.Random(seed)), time.monotonic()
            async with here.running():
                await here.churn(seconds)
                await here.note_work()
                await here.drained()
            minutes = (time.monotonic() - began) / 60
            for line in here.figures.lines(minutes, stand.observer.rules.bindings):
                print(f"soak: {line}", flush=True)
    return [*here.figures.broken(seconds)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    return judged("soak", lambda: asyncio.run(soak(chosen.seconds, chosen.seed)))


if __name__ == "__main__":
    sys.exit(main())
