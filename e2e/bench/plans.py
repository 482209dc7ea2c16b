"""(e) Preemption plans in process: 5,000 full nodes of 30 pods each, 200 queues, a different ask each time.

Every node runs pods of six queues. Half of all pods are protected by LAW-2, LAW-5, LAW-6 or their queue's
policy (PRE-2), or, for asks of fenced tenants, by LAW-7. About half of the asks get a plan. A verb may have
to wait for a plan as long as its longest slice.
"""

import itertools
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from core.decisions.preemption.planning import Planning
from core.decisions.preemption.receipts import Plan
from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts
from e2e.bench.worlds.report import percentiles, show
from extender.host.garbage_collector import freeze_survivors, unfreeze

NODES, PODS_PER_NODE, QUEUES_PER_NODE = 5_000, 30, 6
TENANTS, LEAVES = 20, 10
PLANS = int(os.environ.get("PADDOCK_BENCH_PLANS", "400"))
NOW = 1_000_000.0
GIB, DISK = 2**30, "example.com/disk"

ASKS, ROOMY, TIGHT, IMPORTANT, CLOSED, ROOMY_TOO = range(6)
"""Leaves of every tenant.

One asks and runs nothing. Others are below their guarantee (LAW-5), just above it (LAW-2), with important
pods (LAW-6), or with policy ``disabled`` (PRE-2). The remaining ones are open.
"""

FENCED = range(5)
"""Tenants whose asks may preempt in their own leaves only (LAW-7)."""

Held = dict[QueuePath, Resource]


def leaf_of(tenant: int, leaf: int) -> QueuePath:
    return QueuePath(f"root.t{tenant}.l{leaf}")


def document(held: Held) -> PartitionSpec:
    """The queue document. ``held``: usage of each leaf."""
    return PartitionSpec("default", tuple(_queues(held)))


def _queues(held: Held) -> Iterator[QueueSpec]:
    yield _queue("root", leaf=False)
    for tenant in range(TENANTS):
        fence = {"preemption.policy": "fence"} if tenant in FENCED else {}
        yield _queue(f"root.t{tenant}", leaf=False, **fence)
        for leaf in range(LEAVES):
            path = leaf_of(tenant, leaf)
            used = held.get(path, Resource({}))
            closed = {"preemption.policy": "disabled"} if leaf == CLOSED else {}
            yield _queue(path, guaranteed=_guarantee(leaf, used), **closed)


def _guarantee(leaf: int, used: Resource) -> Resource | None:
    match leaf:
        case 0:
            return Resource({"vcore": 100_000, "memory": 400 * GIB, DISK: 1_000})
        case 1 | 5:
            return used.times(2)
        case 2:
            return used - Resource({"vcore": 100, "memory": 2**20, DISK: 1, "pods": 1})
        case _:
            return None


def _queue(
    path: str, *, leaf: bool = True, guaranteed: Resource | None = None, **properties: str
) -> QueueSpec:
    parent = path.rpartition(".")[0]
    return QueueSpec(
        path=QueuePath(path),
        parent=QueuePath(parent) if parent else None,
        is_leaf=leaf,
        max=None,
        guaranteed=guaranteed or None,
        max_applications=0,
        properties=properties,
        submit_acl="*",
        admin_acl="",
    )


def pod(name: str, queue: QueuePath, size: Resource, **facts: object) -> PodFacts:
    values = {"version": 1, "scheduler_name": "yunikorn", "app_id": f"{queue}-app", "queue": queue, **facts}
    return PodFacts(PodUid(name), "default", name, size, **values)  # type: ignore[arg-type]


def build(rng: random.Random, learn: Callable[[on.Event], object]) -> None:
    """Fill nodes to the last bit: the size of a node is the sum of its pods."""
    held, number = Held(), itertools.count()
    learn(on.Configured(document({}), LedgerSettings()))
    learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
    running = [(tenant, leaf) for tenant in range(TENANTS) for leaf in range(1, LEAVES)]
    for at in range(NODES):
        name, total = NodeName(f"n{at:04}"), Resource({})
        chosen = rng.sample(running, QUEUES_PER_NODE)
        for place in range(PODS_PER_NODE):
            tenant, leaf = chosen[place % QUEUES_PER_NODE]
            running_pod = _running(rng, f"p{next(number)}", leaf_of(tenant, leaf), leaf, name)
            learn(on.PodObserved(running_pod))
            total += running_pod.size
            path = leaf_of(tenant, leaf)
            held[path] = held.get(path, Resource({})) + running_pod.size
        learn(on.ObjectObserved(on.NODES, NodeFacts(name, total)))
    learn(on.Configured(document(held), LedgerSettings()))


def _running(rng: random.Random, name: str, path: QueuePath, leaf: int, node: NodeName) -> PodFacts:
    size = Resource(
        {
            "vcore": rng.choice((500, 1000, 2000)),
            "memory": rng.choice((1, 2, 4)) * GIB,
            DISK: rng.choice((5, 10)),
            "pods": 1,
        }
    )
    priority = 1000 if leaf == IMPORTANT else rng.choice((0, 0, 10))
    return pod(name, path, size, node=node, priority=priority, created=float(rng.randrange(10_000)))


def asks(rng: random.Random) -> Iterator[PodFacts]:
    """Asks of different sizes, queues and priorities. Every other one wants more than most nodes can give."""
    for number in itertools.count():
        vcore = rng.randrange(30_000, 40_000) if number % 2 else rng.randrange(200, 6_000)
        size = Resource(
            {
                "vcore": vcore,
                "memory": rng.randrange(2**28, 8 * GIB),
                DISK: rng.randrange(1, 40),
                "pods": 1,
            }
        )
        path = leaf_of(rng.randrange(TENANTS), ASKS)
        yield pod(f"ask{number}", path, size, priority=rng.choice((0, 5, 20)), created=NOW - 100)


def planned(ledger: Ledger, ask: PodFacts) -> tuple[str, float, float]:
    """Make a plan for an ask: the result, the total time and the longest slice, in seconds of processor time.

    On a shared machine the wall clock would count the work of others.
    """
    ledger.apply(on.PodObserved(ask), now=NOW)
    planning = Planning(ledger.view, ask.uid, now=NOW)
    total = longest = 0.0
    result = None
    while result is None:
        start = time.thread_time()
        result = planning.slice()
        took = time.thread_time() - start
        total, longest = total + took, max(longest, took)
    ledger.apply(on.PodDeleted(ask.uid), now=NOW)
    return "found" if isinstance(result, Plan) else f"{result.stop} ({result.law})", total, longest


def protected_share(ledger: Ledger) -> float:
    """The share of pods that no ask from outside a fence may evict."""
    pods = [record for record in ledger.view.pods() if record.node]
    spared = tuple(f".l{leaf}" for leaf in (ROOMY, TIGHT, IMPORTANT, CLOSED, ROOMY_TOO))
    return sum(record.facts.queue.endswith(spared) for record in pods) / len(pods)


def fill_quotas(ledger: Ledger) -> None:
    """Give nodes free capacity, but lower each tenant's max to its usage, so that only quotas are short."""
    held = {queue.path: Resource(dict(queue.allocated.items())) for queue in ledger.view.tree}
    queues = (
        replace(each, max=Limit(dict(held[each.path].items()))) if each.path.count(".") == 1 else each
        for each in _queues(held)
    )
    ledger.apply(on.Configured(PartitionSpec("default", tuple(queues)), LedgerSettings()), now=NOW)
    roomy = Resource({"vcore": 10**6, "memory": 2**45, DISK: 10**4, "pods": 1000})
    ledger.apply(on.ObjectObserved(on.NODES, NodeFacts(NodeName("empty"), roomy)), now=NOW)


async def run() -> None:
    rng = random.Random(7)
    ledger = Ledger()
    build(rng, lambda event: ledger.apply(event, now=NOW))
    wanted = asks(rng)
    freeze_survivors()
    _measure("plans", ledger, wanted, protected=round(protected_share(ledger), 2))
    fill_quotas(ledger)
    freeze_survivors()
    _measure("plans where only quotas are short", ledger, wanted)
    unfreeze()


def _measure(name: str, ledger: Ledger, wanted: Iterator[PodFacts], **figures: object) -> None:
    took: dict[bool, list[float]] = {True: [], False: []}
    slices: list[float] = []
    outcomes: Counter[str] = Counter()
    for ask in itertools.islice(wanted, PLANS):
        outcome, total, longest = planned(ledger, ask)
        outcomes[outcome] += 1
        took[outcome == "found"].append(total)
        slices.append(longest)
    show(
        name,
        nodes=NODES,
        pods=NODES * PODS_PER_NODE,
        **figures,
        outcomes=dict(outcomes),
        found_us=percentiles(took[True]) if took[True] else {},
        refused_us=percentiles(took[False]) if took[False] else {},
        longest_slice_us=percentiles(slices),
    )
