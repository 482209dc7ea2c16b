"""(f) filter at 200 calls a second while 1,000 plans are made one after another, in the world of `plans`.

A call's time begins when it is due, so it contains every delay of the event loop. The same calls without a
plan are measured beside it. So is the time for which the engine's own work held the loop: plans, cycles over
the waiting asks, effects. The pods, 150,000 on nodes, are in memory, and effects lead nowhere.
"""

import asyncio
import itertools
import os
import random
import time
from collections.abc import Callable
from functools import partial

from core.ids import NodeName, PodUid
from core.ledger import events as on
from e2e.bench.plans import NODES, asks, build, leaf_of
from e2e.bench.worlds.report import percentiles, show
from e2e.bench.worlds.rig import Rig, filter_body, rig
from extender.host.garbage_collector import freeze_survivors, unfreeze

PLANS = int(os.environ.get("PADDOCK_BENCH_PLANS", "1000"))
CALLS_A_SECOND, QUIET = 200, 1_000
NAMES = 500
PLAIN = 6
"""A leaf of every tenant without a guarantee."""


class Held:
    """Time for which each of the engine's delayed calls held the loop, by wall clock and processor time."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.processor: list[float] = []

    def later(self, seconds: float, call: Callable[[], None]) -> object:
        return asyncio.get_running_loop().call_later(seconds, partial(self._timed, call))

    def _timed(self, call: Callable[[], None]) -> None:
        wall, processor = time.perf_counter(), time.thread_time()
        call()
        self.processor.append(time.thread_time() - processor)
        self.wall.append(time.perf_counter() - wall)


def _bodies(rng: random.Random) -> list[bytes]:
    found = []
    for at in range(200):
        names = [f"n{each:04}" for each in rng.sample(range(NODES), NAMES)]
        queue = leaf_of(at % 20, PLAIN)
        found.append(filter_body(f"caller{at}", f"caller{at}", queue, names, app=f"{queue}-app"))
    return found


async def _call(here: Rig, bodies: list[bytes], took: list[float], until: Callable[[], bool]) -> None:
    due = time.perf_counter()
    for at in itertools.count():
        if until():
            return
        due += 1 / CALLS_A_SECOND
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        here.verbs.filter(bodies[at % len(bodies)])
        took.append(time.perf_counter() - due)


async def _plan(here: Rig, rng: random.Random) -> int:
    """Plan for one ask after another, and return how many got a plan."""
    found = 0
    for ask in itertools.islice(asks(rng), PLANS):
        here.engine.learn(on.PodObserved(ask))
        here.engine.pass_time()
        while here.engine.planner.wanted:  # noqa: ASYNC110 - nobody tells when it is done
            await asyncio.sleep(0.001)
        found += ask.uid in here.engine.view.reserved_nodes.values()
        here.engine.learn(on.PodDeleted(ask.uid))
    return found


async def run() -> None:
    rng, held = random.Random(7), Held()
    here = rig(later=held.later)
    build(rng, here.engine.learn)
    view = here.engine.view
    here.engine.learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
    here.engine.learn(on.ObjectsListed(on.NODES, frozenset(NodeName(name) for name in view.nodes)))
    here.engine.learn(on.PodsListed(frozenset(PodUid(each.uid) for each in view.pods())))
    freeze_survivors()
    bodies = _bodies(rng)
    quiet: list[float] = []
    busy: list[float] = []
    await _call(here, bodies, quiet, lambda: len(quiet) >= QUIET)
    held.wall.clear()
    held.processor.clear()
    planning = asyncio.create_task(_plan(here, rng))
    began = time.perf_counter()
    await _call(here, bodies, busy, planning.done)
    unfreeze()
    show(
        "filter beside plans",
        unit="us",
        nodes=NODES,
        plans=PLANS,
        found=await planning,
        seconds=round(time.perf_counter() - began, 1),
        calls=len(busy),
        quiet=percentiles(quiet),
        beside=percentiles(busy),
        loop_held=percentiles(held.wall),
        loop_held_by_processor_time=percentiles(held.processor),
    )
