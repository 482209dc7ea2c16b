"""Explanations of pods that wait: CPU in all, the longest step, and the share of "none found", in process.

5,000 nodes, 50,000 pods, 1,000 queues. Each explanation is of another pod. In world ``limits``,
limits of queues bind. In ``nodes``, pods fit on no node. In ``burst``, thousands of them have turns as well.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from core.decisions.explanation.explaining import explain_pod
from core.decisions.explanation.values import Remedy
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from core.workload.pod import NamespaceFacts, PodFacts
from e2e.bench.worlds.report import percentiles, show
from extender.host.garbage_collector import freeze_survivors
from tests.builders import START, make_node, make_partition, make_pod, make_queue

NODES, PODS, TENANTS, LEAVES = 5_000, 50_000, 50, 20
CPU = 16_000
WORLDS = os.environ.get("PADDOCK_BENCH_WORLDS", "limits nodes burst").split()
EXPLAINED = int(os.environ.get("PADDOCK_BENCH_EXPLANATIONS", "200"))

_SHARES = {"limits": 0.9, "nodes": 2.0, "burst": 2.0}
"""Max of all leaves together, as a part of the cluster."""


def queues(share: float) -> list[QueueSpec]:
    """Tenants with a max and a guarantee, and leaves with a max."""
    found, whole = [], NODES * CPU
    for tenant in range(TENANTS):
        cap, due = {"vcore": int(whole * share * 0.95) // TENANTS}, {"vcore": whole // TENANTS // 2}
        found.append(make_queue(f"root.t{tenant}", leaf=False, max=cap, guaranteed=due))
        limit = {"vcore": int(whole * share) // (TENANTS * LEAVES)}
        found += [make_queue(f"root.t{tenant}.q{leaf}", max=limit) for leaf in range(LEAVES)]
    return found


def pods(chance: random.Random, leaves: list[str]) -> Iterator[PodFacts]:
    """Pods of all leaves, of which the first four fifths run."""
    for number in range(PODS):
        runs, leaf = number < PODS * 4 // 5, leaves[number % len(leaves)]
        yield make_pod(
            f"p{number}",
            cpu=chance.choice((1000, 1900, 2000) if runs else (500, 1000, 2000, 4000, 8000)),
            memory=1 << 30,
            queue=leaf,
            app=f"{leaf}-{number % 7}",
            node=f"n{number % NODES}" if runs else "",
            created=START - chance.randint(0, 1000),
            priority=chance.choice((0, 0, 0, 5)),
        )


def world(name: str, chance: random.Random) -> Ledger:
    """A ledger after the cycles for all pods."""
    ledger, specs = Ledger(), queues(_SHARES[name])
    ledger.apply(on.Configured(make_partition(*specs), LedgerSettings()), now=START)
    for number in range(NODES):
        node = make_node(f"n{number}", cpu=CPU, memory=64 << 30, pods=110)
        ledger.apply(on.ObjectObserved(on.NODES, node), now=START)
    names = frozenset(NodeName(f"n{number}") for number in range(NODES))
    ledger.apply(on.ObjectsListed(on.NODES, names), now=START)
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")), now=START)
    ledger.apply(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})), now=START)
    ledger.apply(on.PodsListed(frozenset()), now=START)
    for pod in pods(chance, [spec.path for spec in specs if spec.is_leaf]):
        ledger.apply(on.PodObserved(pod), now=START)
    settle(ledger)
    if name != "burst":
        bind(ledger)
    return ledger


def settle(ledger: Ledger) -> None:
    """Run cycles until none is wanted."""
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START)


def bind(ledger: Ledger) -> None:
    """Have all pods run that have turns, and those that get one then."""
    while turns := dict(ledger.view.turns):
        for uid, turn in turns.items():
            record = ledger.view.pod(uid)
            if record is not None:
                ledger.apply(on.PodObserved(replace(record.facts, node=turn.node)), now=START)
        settle(ledger)


class Explained(NamedTuple):
    """CPU seconds of an explanation and of its longest step, cycles played, and what was found."""

    total: float
    longest: float
    trials: int
    remedy: Remedy | None


def explained(ledger: Ledger, uid: PodUid) -> Explained:
    """Explain a pod.

    The server gives way after each step that ends later than half a millisecond, so a slice is little longer.
    """
    steps, began, longest = explain_pod(ledger.view, uid, now=START), time.thread_time(), 0.0
    last = began
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value
            break
        now = time.thread_time()
        longest, last = max(longest, now - last), now
    total, remedies = time.thread_time() - began, found.remedies if found is not None else None
    return Explained(
        total, longest, remedies.trials if remedies else 0, remedies.remedy if remedies else None
    )


async def run() -> None:
    """Print the figures of each world."""
    for name in WORLDS:
        chance = random.Random(1)
        ledger = world(name, chance)
        freeze_survivors()
        waiting = [uid for uid in ledger.view.waiting if not ledger.view.has_turn(uid)]
        figures = [explained(ledger, uid) for uid in chance.sample(waiting, min(EXPLAINED, len(waiting)))]
        show(
            f"explanations, {name}",
            waiting=len(waiting),
            total_us=percentiles([each.total for each in figures]),
            longest_step_us=percentiles([each.longest for each in figures]),
            trials=dict(Counter(each.trials for each in figures)),
            outcomes=dict(Counter(str(each.remedy) for each in figures)),
        )
