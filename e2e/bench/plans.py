"""(e) Preemption plans: 5,000 nodes, all full, with 30 pods each of 200 queues; in process.

Half of the pods on every node are protected by a law: LAW-2, LAW-5, LAW-6, LAW-7 or their queue's policy.
Every ask is different, and about half of them get a plan. The longest slice is what a verb may have to wait.
"""

import gc
import itertools
import os
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

from core.decisions.preemption import Planning
from core.decisions.receipts import Plan
from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Resource
from core.workload.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts
from e2e.bench.report import show

NODES, PODS_PER_NODE, TENANTS, LEAVES = 5_000, 30, 20, 10
PLANS = int(os.environ.get("PADDOCK_BENCH_PLANS", "400"))
NOW = 1_000_000.0
PER_POD = {"vcore": 1000, "memory": 4 * 2**30, "example.com/disk": 10, "pods": 1}
ALL_PODS = NODES * PODS_PER_NODE
PROTECTED = {
    1: "LAW-5: its guarantee is above what it uses",
    2: "LAW-2: no pod fits into what it has above its guarantee",
    3: "LAW-6: its pods are more important than any ask",
    4: "PRE-2: its policy is disabled",
}
"""Leaves of every tenant by number. 0 asks and runs nothing, 5 to 9 are open."""


def scaled(amounts: dict[str, int], factor: float) -> Resource:
    return Resource({name: int(amount * factor) for name, amount in amounts.items()})


def queues() -> Iterator[QueueSpec]:
    yield spec("root", leaf=False)
    in_a_leaf = ALL_PODS / TENANTS / 8
    for tenant in range(TENANTS):
        yield spec(f"root.t{tenant}", leaf=False)
        for leaf in range(LEAVES):
            guaranteed = {0: 40.0, 1: in_a_leaf * 9, 2: None}.get(leaf)
            properties = {"preemption.policy": "disabled"} if leaf == 4 else {}
            yield spec(
                f"root.t{tenant}.l{leaf}",
                guaranteed=None if guaranteed is None else scaled(PER_POD, guaranteed),
                properties=properties,
            )


def spec(
    path: str,
    *,
    leaf: bool = True,
    guaranteed: Resource | None = None,
    properties: dict[str, str] | None = None,
) -> QueueSpec:
    parent = path.rpartition(".")[0]
    return QueueSpec(
        QueuePath(path),
        QueuePath(parent) if parent else None,
        leaf,
        None,
        guaranteed,
        0,
        properties or {},
        "*",
        "",
    )


def pod(
    uid: str, queue: str, size: Resource, *, node: str = "", priority: int = 0, created: float = 0.0
) -> PodFacts:
    return PodFacts(
        PodUid(uid),
        "default",
        uid,
        size,
        version=1,
        created=created,
        scheduler_name="yunikorn",
        priority=priority,
        node=NodeName(node),
        app_id=f"{queue}-app-{hash(uid) % 7}",
        queue=queue,
    )


def build(rng: random.Random) -> Ledger:
    """Nodes are filled to the last bit: their size is the sum of their pods."""
    ledger = Ledger()
    document = list(queues())
    ledger.apply(on.Configured(PartitionSpec("default", tuple(document)), LedgerSettings()), now=NOW)
    ledger.apply(on.NamespaceObserved(NamespaceFacts("default")), now=NOW)
    running = [(tenant, leaf) for tenant in range(TENANTS) for leaf in range(1, LEAVES)]
    held: dict[str, Resource] = {}
    number = itertools.count()
    for at in range(NODES):
        name, total = f"n{at:04}", Resource({})
        chosen = rng.sample(running, 6)
        for place in range(PODS_PER_NODE):
            tenant, leaf = chosen[place % 6]
            queue = f"root.t{tenant}.l{leaf}"
            size = Resource(
                {**PER_POD, "vcore": rng.choice((500, 1000, 2000)), "memory": rng.choice((1, 2, 4)) * 2**30}
            )
            priority = 1000 if leaf == 3 else rng.choice((0, 0, 10))
            ledger.apply(
                on.PodObserved(
                    pod(
                        f"p{next(number)}",
                        queue,
                        size,
                        node=name,
                        priority=priority,
                        created=float(rng.randrange(10_000)),
                    )
                ),
                now=NOW,
            )
            total += size
            held[queue] = held.get(queue, Resource({})) + size
        ledger.apply(on.NodeObserved(NodeFacts(NodeName(name), total)), now=NOW)
    ledger.apply(
        on.Configured(PartitionSpec("default", tuple(tight(document, held))), LedgerSettings()), now=NOW
    )
    return ledger


def tight(document: list[QueueSpec], held: dict[str, Resource]) -> Iterator[QueueSpec]:
    """Leaves 2 are guaranteed all that they use but a bit."""
    bit = Resource({"vcore": 100, "memory": 2**20, "example.com/disk": 1})
    for each in document:
        if each.path.endswith(".l2"):
            yield replace(each, guaranteed=held[each.path] - bit)
        else:
            yield each


def asks(rng: random.Random) -> Iterator[PodFacts]:
    """Different sizes and queues; every other one wants more than any node can be given."""
    for number in itertools.count():
        large = number % 2
        size = Resource(
            {
                "vcore": rng.randrange(27_000, 34_000) if large else rng.randrange(200, 6_000),
                "memory": rng.randrange(2**28, 2**33),
                "example.com/disk": rng.randrange(1, 30),
                "pods": 1,
            }
        )
        tenant = rng.randrange(TENANTS)
        yield replace(
            pod(f"ask{number}", f"root.t{tenant}.l0", size, priority=rng.choice((0, 5, 20))),
            created=NOW - 100,
        )


def planned(ledger: Ledger, ask: PodFacts) -> tuple[bool, float, float, str]:
    """Whether a plan was found, what it took in all, its longest slice, and what it says."""
    ledger.apply(on.PodObserved(ask), now=NOW)
    planning = Planning(ledger.snapshot, ask.uid, now=NOW)
    total = longest = 0.0
    result = None
    while result is None:
        start = time.perf_counter()
        result = planning.slice()
        took = time.perf_counter() - start
        total, longest = total + took, max(longest, took)
    ledger.apply(on.PodDeleted(ask.uid), now=NOW)
    found = isinstance(result, Plan)
    return found, total, longest, "" if isinstance(result, Plan) else f"{result.stop} ({result.law})"


async def run() -> None:
    rng = random.Random(7)
    ledger = build(rng)
    gc.collect()
    gc.freeze()
    took: dict[bool, list[float]] = {True: [], False: []}
    slices: list[float] = []
    stops: dict[str, int] = {}
    for ask in itertools.islice(asks(rng), PLANS):
        found, total, longest, stop = planned(ledger, ask)
        took[found].append(total * 1000)
        slices.append(longest * 1000)
        stops[stop] = stops.get(stop, 0) + 1
    gc.unfreeze()
    print(
        took
        and {
            k: (len(v), statistics.median(v), sorted(v)[int(len(v) * 0.99)], max(v))
            for k, v in took.items()
            if v
        },
        max(slices),
        stops,
    )
