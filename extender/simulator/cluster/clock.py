"""The virtual clock: whole milliseconds, timers, and an event loop that moves only when told to.

Bind calls are coroutines, in the server and here. The loop runs them on virtual time. Nothing sleeps, and the
same scenario always runs in the same order.
"""

import asyncio
import heapq
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH = 1_767_225_600
"""The start of every scenario, 2026-01-01T00:00:00Z, in seconds since the epoch (format, rule 1)."""


class Kind(IntEnum):
    """Kinds of timers, in the order in which timers of one instant run (format, rule 2a)."""

    POD_REMOVAL = 1
    RUN_END = 2
    API = 3
    """A Binding that takes its time, or a change that reaches Paddock late."""
    CALL = 4
    """Deadlines of bind calls."""
    BACKOFF = 5
    LEDGER = 6
    """Reservations, leases, wake-ups and whatever else the ledger times."""
    CLEANER = 9


@dataclass(order=True, slots=True)
class Timer:
    """A call at a time of the scenario. A cancelled timer stays in the heap and does nothing."""

    #: Time of the call, in milliseconds from the start.
    due: int
    #: Kind, which orders timers that are due at one instant.
    kind: Kind
    #: Number of the timer, which orders those of one kind.
    seq: int
    #: Function to call.
    call: Callable[[], None] = field(compare=False)
    #: True if nothing is to be called any more.
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        """Let the timer do nothing when it is due."""
        self.cancelled = True


class Clock:
    """Virtual time and the timers that are due. ``now``: milliseconds from the start."""

    def __init__(self) -> None:
        self.now = 0
        self._timers: list[Timer] = []
        self._seq = 0

    @property
    def seconds(self) -> float:
        """The time in seconds since the epoch, as the engine counts."""
        return EPOCH + self.now / 1000

    def at(self, due: int, kind: Kind, call: Callable[[], None]) -> Timer:
        """Call back at ``due``, or at once if that has passed."""
        self._seq += 1
        timer = Timer(max(due, self.now), kind, self._seq, call)
        heapq.heappush(self._timers, timer)
        return timer

    def next_due(self) -> int | None:
        """The time of the next timer in milliseconds, or None without timers."""
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0].due if self._timers else None

    def run_due(self) -> bool:
        """Run every timer that is due now, including timers that these add. False if there was none."""
        ran = False
        while (due := self.next_due()) is not None and due <= self.now:
            heapq.heappop(self._timers).call()
            ran = True
        return ran


class HandLoop(asyncio.AbstractEventLoop):
    """An event loop on a `Clock`.

    `run_ready` runs what can run now. Time never moves by itself.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: dict[int, Timer] = {}
        self.broken: list[BaseException] = []

    def run_ready(self) -> bool:
        """Run until nothing is ready. False if nothing was ready. Raises what a callback raised."""
        if not self._ready:
            return False
        before = events._get_running_loop()
        events._set_running_loop(self)
        try:
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            events._set_running_loop(before)
        if self.broken:
            raise self.broken.pop(0)
        return True

    def drain(self) -> None:
        """Run what is left when its outcome no longer matters."""
        while self._ready:
            with suppress(Exception):
                self.run_ready()
        self.broken.clear()

    # -- what asyncio asks of a loop ------------------------------------------------------------------

    def time(self) -> float:
        """The virtual time in seconds from the start."""
        return self._clock.now / 1000

    def get_debug(self) -> bool:
        """False: asyncio's debug mode reads the wall clock."""
        return False

    def is_running(self) -> bool:
        """True, as asyncio asks for whenever it runs a callback."""
        return True

    def is_closed(self) -> bool:
        """False: the loop lives as long as the run."""
        return False

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Run a callback at the next `run_ready`."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run a callback after a delay in seconds of virtual time."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run a callback at a virtual time in seconds."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._timers[id(handle)] = self._clock.at(round(when * 1000), Kind.CALL, lambda: self._due(handle))
        return handle

    def _due(self, handle: asyncio.TimerHandle) -> None:
        del self._timers[id(handle)]
        self._ready.append(handle)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Do nothing: asyncio reports that a time is no longer needed."""
        timer = self._timers.pop(id(handle), None)
        if timer is not None:
            timer.cancel()

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        """A task of this loop."""
        return asyncio.Task(coro, loop=self, name=str(name) if name else None, context=context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Note what a callback raised, for `run_ready` to raise."""
        self.broken.append(context.get("exception") or RuntimeError(context["message"]))
