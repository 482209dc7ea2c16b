"""The cost of a cycle, and its effect on filter calls, without a control plane.

First the CPU of whole cycles over 10,000 asks in 200 queues (`crowd`). Then filter calls at 200 a second from
a client in its own process, on the loop on which cycles run, as in the server. The calls run alone, and then
while a slot is freed every 50 ms. A call's wait for cycles is the time in it during which a slice ran. The
rest is its own, or the machine's.
"""

import asyncio
import gc
import http.client
import multiprocessing
import statistics
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from typing import Any

from core.ids import PodUid
from core.ledger.effects import Effect, OpenGate
from e2e.bench.worlds.crowd import ASKS, NODES, QUEUES, Crowd, crowd
from e2e.bench.worlds.report import percentiles, show
from e2e.bench.worlds.rig import Rig, rig
from extender.engine.engine import Engine
from extender.host.garbage_collector import freeze_survivors, unfreeze
from extender.http.server import Address
from extender.http.verbs.listening import listen_to_verbs, verbs_server

TIMES = 15
"""Cycles of a kind that are timed one by one."""

CALLS_A_SECOND, QUIET_CALLS, CALLS = 200, 1_000, 4_000
BODIES, NAMES = 400, 230
SLOTS_APART = 0.05
BOUND_AFTER = 0.01
"""Seconds from a wake-up to the Binding that it leads to."""

_SLICE, _REPORTING = "_run_pass", "_report_gated"
"""Calls that `extender.engine.slices` plans: a slice of a cycle, and messages to waiting pods."""

CPU_TARGET_MS, WAIT_TARGET_MS = 100, 5

Timed = Callable[[Callable[[], None]], list[float]]
Span = tuple[float, float]
"""Beginning and end on the clock that all processes of a machine share."""


class Background:
    """The loop's own ``call_later``, with a record of each piece of the engine's work: CPU and time.

    ``by_hand``: nothing runs by itself.
    """

    def __init__(self, *, by_hand: bool) -> None:
        self._by_hand = by_hand
        self._planned: list[tuple[str, Callable[[], None]]] = []
        self.cpu: dict[str, list[float]] = {}
        self.slices: list[Span] = []

    def later(self, seconds: float, call: Callable[[], None]) -> object:
        # A partial function has no name of its own.
        kind = getattr(getattr(call, "func", call), "__name__", "")
        if self._by_hand:
            self._planned.append((kind, call))
            return None
        return asyncio.get_running_loop().call_later(seconds, self._timed, kind, call)

    def drain(self, engine: Engine) -> None:
        """Run the planned cycles."""
        while self._planned:
            self.one_pass(engine)

    def one_pass(self, engine: Engine) -> list[float]:
        """Run the planned cycle to its end, and return the CPU seconds of each of its slices."""
        self.cpu.clear()
        while self._planned:
            planned, self._planned = self._planned, []
            for kind, call in planned:
                if kind != _REPORTING:
                    self._timed(kind, call)
            if not engine.view.cycle.running:
                break
        return [*self.cpu.get(_SLICE, ())]

    def _timed(self, kind: str, call: Callable[[], None]) -> None:
        began, started = time.perf_counter(), time.thread_time()
        call()
        self.cpu.setdefault(kind, []).append(time.thread_time() - started)
        if kind == _SLICE:
            self.slices.append((began, time.perf_counter()))


async def run() -> None:
    """Print CPU per cycle in milliseconds, and the times of calls in microseconds."""
    # As in a server that has just begun, new objects from now on are young to the garbage collector.
    freeze_survivors()
    _show_whole_passes()
    await _show_calls()
    unfreeze()


# -- whole passes --------------------------------------------------------------------------------------------


def _show_whole_passes() -> None:
    opened: list[PodUid] = []
    background = Background(by_hand=True)
    wired = rig(
        later=background.later,
        perform=lambda each: opened.append(each.uid) if isinstance(each, OpenGate) else None,
    )
    made = crowd(wired.engine)
    passes = {"all new, no room": [background.one_pass(wired.engine)]}

    def timed(event: Callable[[], None]) -> list[float]:
        """Time one cycle. Pods that got a turn in the one before are bound first, which is not timed."""
        for uid in opened:
            made.bind(uid)
        opened.clear()
        background.drain(wired.engine)
        event()
        return background.one_pass(wired.engine)

    passes["one slot freed"] = [timed(made.free_slot) for _ in range(TIMES)]
    passes["fifty slots freed"] = [timed(lambda: made.free_slots(50)) for _ in range(TIMES)]
    reloads = []

    def reload() -> None:
        started = time.thread_time()
        made.reload()
        reloads.append(time.thread_time() - started)

    passes["document reloaded"] = [timed(reload) for _ in range(TIMES)]
    show(
        "turn pass, CPU of a whole one",
        unit="ms",
        target=CPU_TARGET_MS,
        asks=ASKS,
        queues=QUEUES,
        nodes=NODES,
        **{what: _of_passes(each) for what, each in passes.items()},
        taking_the_document_over=_ms(statistics.median(reloads)),
        room_for_all=_given(timed, made, opened),
    )


def _given(timed: Timed, made: Crowd, opened: list[PodUid]) -> dict[str, float]:
    """End everything that ran, so that a cycle finds capacity for all that the queues take."""
    slices = timed(made.empty)
    return {"turns": len(opened), "all": _ms(sum(slices)), "each": _ms(sum(slices) / len(opened))}


def _of_passes(passes: list[list[float]]) -> dict[str, float]:
    totals = [sum(slices) for slices in passes]
    longest = max(max(slices, default=0.0) for slices in passes)
    return {"median": _ms(statistics.median(totals)), "max": _ms(max(totals)), "longest slice": _ms(longest)}


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 2)


# -- calls meanwhile -----------------------------------------------------------------------------------------


async def _show_calls() -> None:
    background = Background(by_hand=False)
    loop = asyncio.get_running_loop()

    def perform(effect: Effect) -> None:
        if isinstance(effect, OpenGate):
            loop.call_later(BOUND_AFTER, made.bind, effect.uid)

    wired = rig(later=background.later, perform=perform)
    made = crowd(wired.engine)
    await _until_still(wired)
    async with _client(wired, made) as ask:
        alone = await ask(QUIET_CALLS)
        background.cpu.clear()
        started = time.perf_counter()
        freeing = asyncio.create_task(_free_for_ever(made))
        meanwhile = await ask(CALLS)
        seconds = time.perf_counter() - started
        freeing.cancel()
    slices = background.cpu[_SLICE]
    show(
        "filter calls while passes run",
        unit="us",
        target=f"no call waits more than {WAIT_TARGET_MS} ms for a pass",
        calls=CALLS,
        calls_a_second=CALLS_A_SECOND,
        alone=percentiles([end - start for start, end in alone]),
        meanwhile=percentiles([end - start for start, end in meanwhile]),
        waited_for_passes=percentiles(_waited(meanwhile, background.slices)),
        cpu_of_a_slice=percentiles(slices),
        cpu_of_telling_some_why_they_wait=percentiles(background.cpu[_REPORTING]),
        slices_a_second=round(len(slices) / seconds),
        passes_take_of_a_core=round(sum(slices) / seconds, 3),
    )


def _waited(calls: Sequence[Span], slices: Sequence[Span]) -> list[float]:
    """Seconds of each call during which a slice ran. Slices stand in their order, and no two run at once."""
    ends = [end for _, end in slices]
    found = []
    for start, end in calls:
        first, waited = bisect_right(ends, start), 0.0
        for began, ended in (slices[at] for at in range(first, len(slices))):
            if began >= end:
                break
            waited += min(ended, end) - max(began, start)
        found.append(waited)
    return found


async def _until_still(wired: Rig) -> None:
    until = time.monotonic() + 10
    while wired.engine.view.cycle_wanted:
        assert time.monotonic() < until, "the first pass does not end"
        await asyncio.sleep(0.01)


async def _free_for_ever(made: Crowd) -> None:
    while True:
        made.free_slot()
        await asyncio.sleep(SLOTS_APART)


@asynccontextmanager
async def _client(wired: Rig, made: Crowd) -> AsyncIterator[Callable[[int], Any]]:
    """A client that asks at a fixed rate and reports when each call began and ended."""
    app = verbs_server({"filter": wired.verbs.filter}, measure=wired.measure, on_bug=lambda *_: None)
    runner = await listen_to_verbs(app, Address("127.0.0.1", 0))
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_ask_for_ever, args=(theirs,), daemon=True)
    process.start()
    asking = [facts for facts in made.waiting.values() if not facts.gates][:BODIES]
    bodies = [made.body_of(facts, at * NAMES, NAMES) for at, facts in enumerate(asking)]
    ours.send((runner.addresses[0][1], bodies))

    async def ask(calls: int) -> list[Span]:
        ours.send(calls)
        took: list[Span] = await asyncio.to_thread(ours.recv)
        return took

    try:
        yield ask
    finally:
        process.terminate()
        await asyncio.to_thread(process.join)
        await runner.cleanup()


def _ask_for_ever(pipe: Connection) -> None:
    """Ask again and again, one call after another as kube-scheduler does. A late call delays the next one."""
    port, bodies = pipe.recv()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    gc.disable()
    while True:
        calls: int = pipe.recv()
        took, due = [], time.perf_counter()
        for at in range(calls):
            due = max(due + 1.0 / CALLS_A_SECOND, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
            started = time.perf_counter()
            connection.request("POST", "/v1/filter", bodies[at % len(bodies)])
            connection.getresponse().read()
            took.append((started, time.perf_counter()))
        pipe.send(took)
