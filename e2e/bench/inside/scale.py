"""(p) The largest cluster in one process: memory, start, filter, cycles, and stalls of the event loop.

A world is filled by the events of a first list. Then pods come and go at a fixed rate: each is seen, asked
for with filter, bound, and an older one is deleted. A call's time begins when it is due, so that whatever
holds the loop up is in it. Each world is measured in a process of its own, the tenth first.
"""

import asyncio
import gc
import itertools
import json
import os
import resource
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts
from e2e.bench.worlds.report import percentiles, show
from e2e.bench.worlds.rig import Rig, filter_body, rig
from e2e.programs.compiled import is_compiled
from extender.host.garbage_collector import Pace, freeze_survivors

SECONDS = float(os.environ.get("PADDOCK_BENCH_SECONDS", "20"))
NAMES = 500
"""Nodes of a filter call."""

CEILINGS = {"memory_mb": 1024, "start_s": 30.0, "filter_p99_us": 500.0, "longest_stall_ms": 5.0}
TIMERS_EVERY = 0.1
"""Seconds between two rounds of timers, as the app has them."""


@dataclass(frozen=True)
class Size:
    """Nodes, running pods, queues, and pods that come and go each second."""

    nodes: int
    pods: int
    queues: int
    rate: int


SIZES = {"tenth": Size(1_500, 15_000, 500, 500), "whole": Size(15_000, 150_000, 5_000, 500)}


def _queue(path: str, cap: int | None, *, leaf: bool) -> QueueSpec:
    parent, _, _ = path.rpartition(".")
    return QueueSpec(
        path=path,  # type: ignore[arg-type]
        parent=parent or None,  # type: ignore[arg-type]
        is_leaf=leaf,
        max=Limit({"vcore": cap}) if cap else None,
        guaranteed=Resource({"vcore": cap // 10}) if cap and leaf else None,
        max_applications=0,
        properties={},
        submit_acl="*",
        admin_acl="",
    )


def leaves_of(size: Size) -> list[str]:
    """Paths of the leaves: 50 below each team."""
    teams = size.queues // 51
    return [f"root.t{team}.q{leaf}" for team in range(teams) for leaf in range(50)]


def partition_of(size: Size) -> PartitionSpec:
    """A root, teams, and 50 leaves each; no queue is ever full."""
    leaves = leaves_of(size)
    teams = sorted({path.rpartition(".")[0] for path in leaves})
    queues = [_queue("root", None, leaf=False)]
    queues += [_queue(path, 100_000_000, leaf=False) for path in teams]
    queues += [_queue(path, 10_000_000, leaf=True) for path in leaves]
    return PartitionSpec("default", tuple(queues))


def _node(at: int) -> NodeName:
    return NodeName(f"node-{at:05d}")


@dataclass
class Churn:
    """Pods that come and go in a world. ``took``: seconds of each filter call from when it was due."""

    wired: Rig
    size: Size
    versions: "itertools.count[int]" = field(default_factory=lambda: itertools.count(10))
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    running: deque[PodUid] = field(default_factory=deque)
    took: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)

    def facts(self, at: int) -> PodFacts:
        leaves = self._leaves
        return PodFacts(
            uid=PodUid(f"00000000-0000-4000-8000-{at:012d}"),
            namespace="default",
            name=f"pod-{at}",
            size=_SMALL,
            version=next(self.versions),
            scheduler_name="yunikorn",
            app_id=f"app-{at % (4 * len(leaves))}",
            queue=leaves[at % len(leaves)],
            labels={"app": f"{at % 1000}"},
        )

    def __post_init__(self) -> None:
        self._leaves = leaves_of(self.size)

    def fill(self) -> None:
        """Let the engine learn of everything, as at a start."""
        learn, size = self.wired.engine.learn, self.size
        learn(on.Configured(partition_of(size), LedgerSettings()))
        learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
        learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
        whole = Resource({"vcore": 32_000, "memory": 2**37, "pods": 110})
        for at in range(size.nodes):
            learn(on.ObjectObserved(on.NODES, NodeFacts(_node(at), whole)))
        learn(on.ObjectsListed(on.NODES, frozenset(map(_node, range(size.nodes)))))
        for _ in range(size.pods):
            at = next(self.numbers)
            facts = replace(self.facts(at), node=_node(at % size.nodes))
            self.running.append(facts.uid)
            learn(on.PodObserved(facts))
        learn(on.PodsListed(frozenset(self.running)))

    def one(self, due: float) -> None:
        """A pod comes, is asked for and bound, and the oldest one goes."""
        learn, at = self.wired.engine.learn, next(self.numbers)
        facts, first = self.facts(at), at * 37 % self.size.nodes
        learn(on.PodObserved(facts))
        names = [f"node-{(first + step) % self.size.nodes:05d}" for step in range(NAMES)]
        body = filter_body(facts.uid, facts.name, facts.queue, names, app=facts.app_id)
        began = time.perf_counter()
        answer = self.wired.verbs.filter(body)
        ended = time.perf_counter()
        assert answer.startswith(b'{"NodeNames"') or b"WaitingForTurn" in answer, answer[:300]
        self.took.append(ended - due)
        self.alone.append(ended - began)
        bound = replace(facts, node=NodeName(names[0]), version=next(self.versions))
        learn(on.PodObserved(bound))
        self.running.append(facts.uid)
        learn(on.PodDeleted(self.running.popleft()))


_SMALL = Resource({"vcore": 100, "memory": 2**28, "pods": 1})


async def _world(size: Size) -> dict[str, Any]:
    """Measure one world in this process."""
    pauses: list[tuple[int, float]] = []
    churn = Churn(rig(), size)
    before, began = _resident_mb(), time.perf_counter()
    churn.fill()
    freeze_survivors()
    start = time.perf_counter() - began
    with _watched_collections(pauses):
        stalls = await _churned(churn)
    learned = percentiles(churn.alone)
    return {
        "nodes": size.nodes,
        "pods": size.pods,
        "queues": size.queues,
        "rate": round(len(churn.took) / SECONDS, 1),
        "start_s": round(start, 2),
        "memory_mb": round(_peak_mb(), 1),
        "memory_of_an_empty_engine_mb": round(before, 1),
        "filter_alone_us": learned,
        "filter_from_due_us": percentiles(churn.took),
        "stalls_ms": _in_ms([late for late, _ in stalls]),
        "stalls_computing_ms": _in_ms([min(pair) for pair in stalls]),
        "collections_ms": _by_generation(pauses),
    }


Stall = tuple[float, float]
"""Seconds that one round of the loop was late, and seconds of CPU that this thread used meanwhile."""


def _in_ms(seconds: list[float]) -> dict[str, float]:
    return {name: round(each / 1e3, 2) for name, each in percentiles(seconds).items()}


async def _churned(churn: Churn) -> list[Stall]:
    """Run the churn beside timers and a watch of the loop, and return how late the loop was."""
    late: list[Stall] = []
    timers = asyncio.create_task(_timers(churn.wired))
    watching = asyncio.create_task(_watch_loop(late))
    apart, due = 1.0 / churn.size.rate, time.perf_counter()
    until = due + SECONDS
    while due < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        churn.one(due)
        due += apart
    timers.cancel()
    watching.cancel()
    return late


async def _timers(wired: Rig) -> None:
    pace = Pace()
    while True:
        wired.engine.pass_time()
        pace.follow(wired.engine.version)
        await asyncio.sleep(TIMERS_EVERY)


async def _watch_loop(late: list[Stall]) -> None:
    """Note by how much each round of 1 ms is late, and how much of that the host may have taken."""
    while True:
        began, computed = time.perf_counter(), time.thread_time()
        await asyncio.sleep(0.001)
        passed = time.perf_counter() - began - 0.001
        late.append((max(0.0, passed), time.thread_time() - computed))


class _watched_collections:  # noqa: N801 - a context manager that reads like a function
    """Notes the generation and seconds of each run of the garbage collector."""

    def __init__(self, pauses: list[tuple[int, float]]) -> None:
        self._pauses, self._began = pauses, 0.0

    def __enter__(self) -> None:
        gc.callbacks.append(self._note)

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._note)

    def _note(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self._pauses.append((info["generation"], time.perf_counter() - self._began))


def _by_generation(pauses: list[tuple[int, float]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for generation, each in itertools.groupby(sorted(pauses), key=lambda pair: pair[0]):
        seconds = [took for _, took in each]
        found[str(generation)] = {"runs": len(seconds), "longest": round(max(seconds) * 1e3, 2)}
    return found


def _resident_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _worlds() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in os.environ.get("PADDOCK_BENCH_SIZES", ",".join(SIZES)).split(","):
        done = subprocess.run(
            [sys.executable, "-m", __name__, name], stdout=subprocess.PIPE, text=True, check=True
        )
        yield name, json.loads(done.stdout.splitlines()[-1])


async def run() -> None:
    """Print the figures of both worlds, and the growth from a tenth to the whole."""
    found: dict[str, dict[str, Any]] = {}
    for name, figures in _worlds():
        found[name] = figures
        show(f"scale, {name}", core="compiled" if is_compiled() else "interpreted", **figures)
    if len(found) == len(SIZES):
        tenth, whole = found["tenth"], found["whole"]
        growth = {key: round(whole[key] / tenth[key], 2) for key in ("start_s", "memory_mb")}
        growth["filter_p99"] = round(whole["filter_alone_us"]["p99"] / tenth["filter_alone_us"]["p99"], 2)
        show("scale, growth from a tenth", **growth, ceilings=CEILINGS)


if __name__ == "__main__":
    import uvloop

    print(json.dumps(uvloop.run(_world(SIZES[sys.argv[1]]))))
