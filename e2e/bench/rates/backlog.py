"""Slots that are freed while many pods wait: how full they stay, how soon they are taken, and the cost.

2,000 pods wait for ten leaves of 20 slots, and the pod that was bound first is deleted 50 times a second.
Each form is measured with Paddock and with an oracle that admits exactly the right pod at no cost. By
refusals another one admits whichever pod comes first.
kube-scheduler sets a bound of its own: it retries refused pods one after the other, after a back-off.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from e2e.bench.rates import usage
from e2e.bench.rates.creating import Batch, Client
from e2e.bench.rates.figures import Measured, medians, order_of, percentile, ratio, table
from e2e.bench.rates.raw import keep
from e2e.bench.rates.rounds import SETTLED, put_policies_in_force
from e2e.bench.rates.sides import GATED, PADDOCK, Side, configuration, install, paddock_of
from e2e.bench.rates.watching import Question, Seen, Watcher
from e2e.bench.worlds.oracle import Oracle, leaf_of
from e2e.bench.worlds.report import show
from e2e.cluster.client import Cluster
from e2e.programs.control_plane import ControlPlane
from e2e.programs.paddock import PaddockProcess

ORACLE, FIRST_COME = "oracle", "first come"
FORMS = ("plain", "direct", GATED)
ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "1"))
PODS = int(os.environ.get("PADDOCK_BENCH_PODS", "2000"))
FREED = int(os.environ.get("PADDOCK_BENCH_FREED", "600"))
ONLY = tuple(name for name in os.environ.get("PADDOCK_BENCH_SIDES", "").split(";") if name)
LEAVES, SLOTS, NODES = 10, 20, 100
A_SECOND = 50.0
"""Slots that are freed each second."""

MODE = "backlog"
SHARE, BOUND_P50, BOUND_P99 = "share of slots in use", "freed to bound p50 s", "freed to bound p99 s"
CALLS = "filter calls per bind"
_SHOWN = (
    SHARE,
    BOUND_P50,
    BOUND_P99,
    CALLS,
    "cpu kube-scheduler",
    "cpu paddock",
    "cpu oracle",
    "cpu kube-apiserver",
)


@dataclass(slots=True)
class Round:
    """Everything that runs on one side."""

    cluster: Cluster
    watcher: Watcher
    client: Client
    decider: PaddockProcess | Oracle
    side: Side

    @property
    def named(self) -> dict[int, str]:
        """Names of processes that their program does not tell."""
        return {self.watcher.pid: "watch", self.client.pid: "client", self.decider.pid: self.side.by}

    async def filter_calls(self) -> float:
        """Filter calls so far."""
        if isinstance(self.decider, Oracle):
            return await self.decider.filter_calls()
        return await self.decider.metric("paddock_verb_seconds_count", verb="filter")


async def run() -> None:
    """Print a table and one JSON line."""
    pairs = [(form, by) for form in FORMS for by in (ORACLE, FIRST_COME, PADDOCK)]
    named = {
        f"{form}, {by}": Side(f"{form}, {by}", form, by)
        for form, by in pairs
        if (form, by) != (GATED, FIRST_COME)
    }
    chosen = {name: side for name, side in named.items() if not ONLY or name in ONLY}
    measured: list[Measured] = []
    for at in range(ROUNDS):
        for name in order_of([*chosen], at):
            try:
                found = await measure(chosen[name], at)
            except (AssertionError, RuntimeError) as error:
                print(f"{name}, round {at}: {error}", file=sys.stderr, flush=True)
                continue
            measured.append(found)
            keep("backlog", measured, pods=PODS, freed=FREED, leaves=LEAVES, slots=SLOTS, nodes=NODES)
            print(f"{name}, round {at}: {found.figures[MODE]}, {found.more}", file=sys.stderr, flush=True)
    _show([*chosen.values()], measured)


async def measure(side: Side, at: int) -> Measured:
    """Run one side of a round and return its figures."""
    async with _running(side) as here:
        prefix, running = "b", LEAVES * SLOTS
        await here.client.create(Batch(here.cluster.namespace, prefix, PODS, LEAVES))
        await here.watcher.until(Question(prefix, added=PODS, bound=running), "all slots are taken")
        await asyncio.sleep(SETTLED)
        calls, before = await here.filter_calls(), usage.read(here.named)
        await _free(here, prefix)
        seen = await here.watcher.until(
            Question(prefix, bound=running + FREED, deleted=FREED), "all freed slots are taken"
        )
        used = usage.used(before, usage.read(here.named))
        calls = await here.filter_calls() - calls
        took = taken_after(seen)
        figures = {
            SHARE: round(share_in_use(seen, LEAVES * SLOTS), 4),
            BOUND_P50: round(percentile(took, 0.5), 4),
            BOUND_P99: round(percentile(took, 0.99), 4),
            CALLS: round(calls / FREED, 2),
            **{f"cpu {name}": each for name, each in used.milliseconds_each(FREED).items()},
        }
        more = {
            "others_cores": round(used.others, 3),
            "steal_s": round(used.stolen, 2),
            "peak_mb": usage.peaks(here.named),
        }
        return Measured(side.name, at, {MODE: figures}, disturbed=used.disturbed, more=more)


@asynccontextmanager
async def _running(side: Side) -> AsyncIterator[Round]:
    async with AsyncExitStack() as stack:
        control_plane = await stack.enter_async_context(ControlPlane())
        cluster = await stack.enter_async_context(Cluster(control_plane))
        cluster.namespace = await cluster.create_namespace()
        await cluster.add_nodes(NODES, cpu="32")
        leaves = {f"q{at}": {"max": {"vcore": str(SLOTS)}} for at in range(LEAVES)}
        await install(cluster, {"tenants": leaves})
        if side.gated:
            await put_policies_in_force(cluster)
        watcher = await stack.enter_async_context(Watcher(control_plane, cluster.namespace))
        client = await stack.enter_async_context(Client(control_plane))
        if side.by == PADDOCK:
            made: PaddockProcess | Oracle = paddock_of(cluster, stack)
        else:
            made = Oracle(control_plane, cluster.namespace, SLOTS, first_come=side.by == FIRST_COME)
            stack.push_async_callback(made.stop)
        await made.start()
        await control_plane.scheduler(configuration(side, made.url))
        yield Round(cluster, watcher, client, made, side)


async def _free(here: Round, prefix: str) -> None:
    """Delete the pod that was bound first, at a fixed rate, however long an answer takes."""
    freed: list[str] = []
    due: list[str] = []
    start = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for at in range(FREED):
            if not due:
                seen = await here.watcher.until(Question(prefix, bound=len(freed) + 1), "a pod is bound")
                due = [*seen.bound][len(freed) :]
            freed.append(due.pop(0))
            group.create_task(here.cluster.delete_pod(freed[-1]))
            await asyncio.sleep(max(0.0, start + (at + 1) / A_SECOND - time.monotonic()))


def taken_after(seen: Seen) -> list[float]:
    """Seconds from each freed slot to the Binding that took it: in each leaf first to first."""
    first = min(seen.deleted.values())
    found: list[float] = []
    for leaf in {leaf_of(name) for name in seen.deleted}:
        freed = sorted(at for name, at in seen.deleted.items() if leaf_of(name) == leaf)
        bound = sorted(at for name, at in seen.bound.items() if leaf_of(name) == leaf and at >= first)
        found += [taken - at for at, taken in zip(freed, bound, strict=False)]
    return found


def share_in_use(seen: Seen, slots: int) -> float:
    """The part of all slots that was taken between the first and the last deletion, on average."""
    first, last = min(seen.deleted.values()), max(seen.deleted.values())
    in_use = sum(
        max(0.0, min(last, seen.deleted.get(name, last)) - max(first, bound))
        for name, bound in seen.bound.items()
    )
    return in_use / (slots * (last - first))


def _show(chosen: Sequence[Side], measured: Sequence[Measured]) -> None:
    found = medians(measured)
    head = ("side", *(name.replace("cpu ", "CPU ms per bind: ") for name in _SHOWN), "share to the oracle's")
    rows = []
    for side in chosen:
        figures = found.get(side.name, {}).get(MODE, {})
        oracle = f"{side.form}, {ORACLE}"
        rows.append(
            (
                side.name,
                *(figures.get(name) for name in _SHOWN),
                ratio(measured, side.name, oracle, MODE, SHARE),
            )
        )
    print(table(head, rows), end="\n\n")
    show("backlog", pods=PODS, freed=FREED, disturbed=sum(each.disturbed for each in measured), medians=found)
