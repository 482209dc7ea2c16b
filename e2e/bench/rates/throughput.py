"""(a) Pods bound per second in each shipped form, against an echo in the same form, and without an extender.

Each side of each round has a new control plane, and nothing of Paddock runs where it is not measured. Rounds
in which other processes were busy, or the host took CPU away, are repeated. Raw figures go to a file after
each side.
"""

import asyncio
import json
import os
import sys
import time

from e2e.bench.rates.figures import DECIDERS, NONE, Measured, medians, order_of, ratio, ratio_by_cpu, table
from e2e.bench.rates.raw import keep
from e2e.bench.rates.rounds import BEFORE, MEANWHILE, Size, measure
from e2e.bench.rates.sides import PADDOCK, Side, floor, sides, twin
from e2e.bench.worlds.report import show
from e2e.programs.compiled import is_compiled

ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "3"))
SECONDS = float(os.environ.get("PADDOCK_BENCH_SECONDS", "7200"))
"""Seconds after which no further side begins."""

SIZE = Size(
    pods=int(os.environ.get("PADDOCK_BENCH_PODS", "2000")),
    waiting=int(os.environ.get("PADDOCK_BENCH_WAITING", "0")),
)
ONLY = tuple(name for name in os.environ.get("PADDOCK_BENCH_SIDES", "").split(";") if name)
"""Names of the sides to measure; all without."""

REPEATED = int(os.environ.get("PADDOCK_BENCH_REPEATED", "2"))
"""Times that a disturbed side is repeated in its round."""

RATES = ((MEANWHILE, "pods/s"), (BEFORE, "pods/s"), (BEFORE, "pods/s from the start"))
CPU = ("kube-scheduler", "decider", "kube-apiserver", "etcd", "all")


class Clock:
    """The time that is left. A side is begun only if the longest one so far would end in time."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._longest = 0.0

    def has_time(self) -> bool:
        return time.monotonic() + self._longest < self._until

    def took(self, seconds: float) -> None:
        self._longest = max(self._longest, seconds)


async def run() -> None:
    """Print the tables and one JSON line."""
    chosen = {side.name: side for side in sides() if not ONLY or side.name in ONLY}
    clock, measured = Clock(SECONDS), list[Measured]()
    for at in range(ROUNDS):
        for name in order_of([*chosen], at):
            await _repeated(chosen[name], at, clock, measured)
    _show([*chosen.values()], measured)


async def _repeated(side: Side, at: int, clock: Clock, measured: list[Measured]) -> None:
    """Measure a side, again while the machine is disturbed."""
    for _ in range(1 + REPEATED):
        if not clock.has_time():
            return
        began = time.monotonic()
        try:
            found = await measure(side, at, SIZE)
        except (AssertionError, RuntimeError) as error:
            print(f"{side.name}, round {at}: {error}", file=sys.stderr, flush=True)
            return
        finally:
            clock.took(time.monotonic() - began)
        measured.append(found)
        keep("throughput", measured, pods=SIZE.pods, nodes=SIZE.nodes, waiting=SIZE.waiting)
        print(f"{side.name}, round {at}: {_line(found)}", file=sys.stderr, flush=True)
        if not found.disturbed:
            return
        await asyncio.sleep(0)


def _line(found: Measured) -> str:
    rates = {f"{mode}, {name}": found.figures[mode][name] for mode, name in RATES}
    return json.dumps(rates | dict(found.more) | {"disturbed": found.disturbed})


def _show(chosen: list[Side], measured: list[Measured]) -> None:
    found = medians(measured)
    names = [side.name for side in chosen]
    print(_rates(chosen, measured, found), end="\n\n")
    print(_cpu(names, found), end="\n\n")
    show(
        "throughput",
        core="compiled" if is_compiled() else "interpreted",
        pods=SIZE.pods,
        nodes=SIZE.nodes,
        waiting=SIZE.waiting,
        rounds=1 + max((each.round for each in measured), default=-1),
        disturbed=sum(each.disturbed for each in measured),
        medians=found,
    )


def _rates(
    chosen: list[Side], measured: list[Measured], found: dict[str, dict[str, dict[str, float]]]
) -> str:
    head = ["side", "rounds"]
    for mode, name in RATES:
        head += [f"{mode}: {name}", "to none", "to its echo", "to the echo that watches"]
    head += [f"{mode}: to the echo that watches, by CPU" for mode in (MEANWHILE, BEFORE)]
    head += ["created to bound p50 s", "p99 s"]
    rows = []
    for side in chosen:
        row: list[object] = [
            side.name,
            sum(each.side == side.name and not each.disturbed for each in measured),
        ]
        for mode, name in RATES:
            row.append(_of(found, side.name, mode, name))
            row.append(ratio(measured, side.name, NONE, mode, name))
            others = (twin(side), floor(side)) if side.by == PADDOCK else (None, None)
            row += [ratio(measured, side.name, one, mode, name) if one else None for one in others]
        lowest = floor(side) if side.by == PADDOCK else None
        row += [
            ratio_by_cpu(measured, side.name, lowest, mode) if lowest else None
            for mode in (MEANWHILE, BEFORE)
        ]
        row += [_of(found, side.name, MEANWHILE, name) for name in ("p50 s", "p99 s")]
        rows.append(row)
    return table(head, rows)


def _cpu(names: list[str], found: dict[str, dict[str, dict[str, float]]]) -> str:
    head = ["CPU ms per pod", *(f"{mode}: {name}" for mode in (MEANWHILE, BEFORE) for name in CPU)]
    return table(head, ([side, *_of_all(found, side)] for side in names))


def _of_all(found: dict[str, dict[str, dict[str, float]]], side: str) -> list[float | None]:
    cells: list[float | None] = []
    for mode in (MEANWHILE, BEFORE):
        for name in CPU:
            each = DECIDERS if name == "decider" else (name,)
            values = [_of(found, side, mode, f"cpu {one}") for one in each]
            cells.append(next((value for value in values if value is not None), None))
    return cells


def _of(found: dict[str, dict[str, dict[str, float]]], side: str, mode: str, name: str) -> float | None:
    return found.get(side, {}).get(mode, {}).get(name)
