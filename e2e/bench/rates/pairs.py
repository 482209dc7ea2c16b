"""(a) Pods bound per second beside Paddock and beside an echo, in short turns on one control plane.

The sides of `throughput` come minutes after each other, and a machine may be slower by then. Here they take
turns of a second each. Both have a kube-scheduler of their own, and those whose turn it is not are stopped
by a signal, so that they use no CPU.
"""

import asyncio
import os
import signal
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar

from e2e.bench.rates import usage
from e2e.bench.rates.creating import Batch, Client
from e2e.bench.rates.figures import Measured, rate_between, rate_until, ratio, ratio_by_cpu
from e2e.bench.rates.raw import keep
from e2e.bench.rates.rounds import BEFORE, LEAVES, MEANWHILE, NODES, SETTLED, WARMED, tree
from e2e.bench.rates.sides import (
    ECHO,
    PADDOCK,
    WATCHING,
    Decider,
    Side,
    configuration,
    decider,
    install,
    sides,
)
from e2e.bench.rates.watching import Question, Watcher
from e2e.bench.worlds.report import show
from e2e.cluster.client import Cluster, Object
from e2e.programs.compiled import is_compiled
from e2e.programs.control_plane import ControlPlane, Scheduler

H = TypeVar("H")

FORMS = tuple(name for name in os.environ.get("PADDOCK_BENCH_FORMS", "plain;direct").split(";") if name)
PAIRS = int(os.environ.get("PADDOCK_BENCH_PAIRS", "20"))
PODS = int(os.environ.get("PADDOCK_BENCH_PODS", "300"))
NAMES = {ECHO: "beside-echo", PADDOCK: "yunikorn"}
"""Names of the schedulers. Paddock manages only the pods of its own."""


@dataclass(frozen=True, slots=True)
class Half:
    """Side of the pairs, with its programs."""

    name: str
    decider: Decider
    scheduler: Scheduler

    def send(self, number: signal.Signals) -> None:
        """Stop both programs, or let them go on."""
        os.kill(self.decider.pid, number)
        self.scheduler.send(number)


@dataclass(frozen=True, slots=True)
class Stage:
    """Processes that both sides share."""

    namespace: str
    watcher: Watcher
    client: Client
    named: dict[int, str]

    def batch(self, half: Half, prefix: str, count: int) -> Batch:
        return Batch(self.namespace, prefix, count, LEAVES, scheduler=NAMES[half.name])

    async def delete(self, prefix: str, spared: int = 0) -> None:
        """Delete the pods of a batch but the first ``spared`` ones."""
        seen = await self.watcher.until(Question(prefix), "")
        names = [name for name in seen.added if int(name.rpartition("-")[2]) >= spared]
        await self.client.delete(self.namespace, names)
        await self.watcher.until(Question(prefix, deleted=len(names)), "all are gone")


async def run() -> None:
    """Print a JSON line for each form."""
    measured: list[Measured] = []
    for form in FORMS:
        await _take_turns(form, measured)
        _show(form, [each for each in measured if each.more["form"] == form])


async def _take_turns(form: str, measured: list[Measured]) -> None:
    async with AsyncExitStack() as stack:
        control_plane = await stack.enter_async_context(ControlPlane())
        cluster = await stack.enter_async_context(Cluster(control_plane))
        cluster.namespace = await cluster.create_namespace()
        await cluster.add_nodes(NODES, cpu="32")
        await install(cluster, tree(), form=form)
        watcher = await stack.enter_async_context(Watcher(control_plane, cluster.namespace))
        client = await stack.enter_async_context(Client(control_plane))
        halves = [await _half(each, cluster, stack) for each in _sides_of(form)]
        named = {each.decider.pid: each.name for each in halves} | {
            watcher.pid: "watch",
            client.pid: "client",
        }
        stage = Stage(cluster.namespace, watcher, client, named)
        # Programs that are stopped do not end when they are asked to.
        stack.callback(lambda: [each.send(signal.SIGCONT) for each in halves])
        for each in halves:
            await _warm_up(stage, each)
        for at in range(PAIRS):
            for half, other in in_order(halves, at):
                measured.append(await _turn(stage, half, other, form, at))
                keep("pairs", measured, pods=PODS, nodes=NODES)


def _sides_of(form: str) -> tuple[Side, Side]:
    found = {side.name: side for side in sides()}
    return found[f"{form}, {WATCHING}"], found[f"{form}, {PADDOCK}"]


def in_order(halves: Sequence[H], at: int) -> list[tuple[H, H]]:
    """Each half with the other one. Every second pair is reversed."""
    first, second = halves if at % 2 == 0 else (halves[1], halves[0])
    return [(first, second), (second, first)]


async def _half(side: Side, cluster: Cluster, stack: AsyncExitStack) -> Half:
    made, url = decider(side, cluster, stack)
    assert made is not None
    await made.start()
    return Half(side.by, made, await cluster.control_plane.scheduler(_own(configuration(side, url), side)))


def _own(config: Object, side: Side) -> Object:
    """A configuration whose only profile is that of the side."""
    profile = next(each for each in config["profiles"] if each["schedulerName"] == NAMES[PADDOCK])
    return config | {"profiles": [profile | {"schedulerName": NAMES[side.by]}]}


async def _warm_up(stage: Stage, half: Half) -> None:
    """Bind some pods of each leaf, and leave the first one."""
    prefix = f"w{half.name[0]}"
    await stage.client.create(stage.batch(half, prefix, WARMED))
    await stage.watcher.until(Question(prefix, bound=WARMED), "the pods of the warm-up are bound")
    await stage.delete(prefix, LEAVES)
    await asyncio.sleep(SETTLED)


async def _turn(stage: Stage, half: Half, other: Half, form: str, at: int) -> Measured:
    """Measure one side while the other is stopped, then let the other catch up."""
    other.send(signal.SIGSTOP)
    meanwhile, first = await _meanwhile(stage, half, f"{half.name[0]}m{at}")
    before, second = await _before(stage, half, f"{half.name[0]}b{at}")
    other.send(signal.SIGCONT)
    await asyncio.sleep(SETTLED)
    return Measured(
        side=half.name,
        round=at,
        figures={MEANWHILE: meanwhile, BEFORE: before},
        disturbed=first.disturbed or second.disturbed,
        more={"form": form},
    )


async def _meanwhile(stage: Stage, half: Half, prefix: str) -> tuple[dict[str, float], usage.Used]:
    before = usage.read(stage.named)
    began = await stage.client.create(stage.batch(half, prefix, PODS))
    seen = await stage.watcher.until(Question(prefix, bound=PODS), "all pods are bound")
    used = usage.used(before, usage.read(stage.named))
    await stage.delete(prefix)
    return {"pods/s": round(rate_until(began, seen.times()), 1), **_cpu(used)}, used


async def _before(stage: Stage, half: Half, prefix: str) -> tuple[dict[str, float], usage.Used]:
    half.scheduler.send(signal.SIGSTOP)
    await stage.client.create(stage.batch(half, prefix, PODS))
    await stage.watcher.until(Question(prefix, added=PODS), "all pods are there")
    before, began = usage.read(stage.named), time.monotonic()
    half.scheduler.send(signal.SIGCONT)
    seen = await stage.watcher.until(Question(prefix, bound=PODS), "all pods are bound")
    used = usage.used(before, usage.read(stage.named))
    await stage.delete(prefix)
    times = seen.times()
    rates = {"pods/s": rate_between(times), "pods/s from the start": rate_until(began, times)}
    return {**{name: round(rate, 1) for name, rate in rates.items()}, **_cpu(used)}, used


def _cpu(used: usage.Used) -> dict[str, float]:
    return {f"cpu {name}": value for name, value in used.milliseconds_each(PODS).items()}


def _show(form: str, measured: list[Measured]) -> None:
    show(
        "pairs",
        form=form,
        core="compiled" if is_compiled() else "interpreted",
        pods=PODS,
        pairs=PAIRS,
        disturbed=sum(each.disturbed for each in measured),
        **{mode: ratios_of(measured, mode) for mode in (MEANWHILE, BEFORE)},
    )


def ratios_of(measured: list[Measured], mode: str) -> dict[str, object]:
    """Ratios of Paddock to the echo: the median of all pairs, its quarters, and by CPU."""
    by_side = {
        name: {
            each.round: each.figures[mode]["pods/s"]
            for each in measured
            if each.side == name and not each.disturbed
        }
        for name in NAMES
    }
    pairs = [by_side[PADDOCK][at] / rate for at, rate in by_side[ECHO].items() if at in by_side[PADDOCK]]
    return {
        "to the echo": ratio(measured, PADDOCK, ECHO, mode, "pods/s"),
        "by CPU": ratio_by_cpu(measured, PADDOCK, ECHO, mode),
        "quarters": [round(each, 3) for each in statistics.quantiles(pairs, n=4)]
        if len(pairs) > 1
        else pairs,
    }
