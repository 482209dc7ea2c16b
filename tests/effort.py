"""Counted work of a call, the same on any machine, however loaded.

Steps of Python are counted: calls, lines and turns of loops. Memory is counted, too, even if it is freed
again: one step for every `UNIT` bytes. Copying something large, which is one step in Python, therefore
counts. Reading in C, such as a search in a list, is not seen. Where that is the danger, a test takes an input
on which it would outlast pytest's time-out.

A coverage tool or a debugger is put aside during the call, as both trace too, and afterwards put back.
"""

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

UNIT = 64


def effort(call: Callable[[], object]) -> int:
    """Measure this thread.

    The first call may cost more than later ones, since patterns are compiled and cached.
    """
    steps, before, was_tracing = 0, sys.gettrace(), tracemalloc.is_tracing()
    tracemalloc.start()
    held, _ = tracemalloc.get_traced_memory()

    def step(_frame: FrameType, _event: str, _arg: object) -> Any:
        nonlocal steps, held
        now, most = tracemalloc.get_traced_memory()
        steps += 1 + max(0, most - held) // UNIT
        held = now
        tracemalloc.reset_peak()
        return step

    sys.settrace(step)
    try:
        call()
    finally:
        sys.settrace(before)
        if not was_tracing:
            tracemalloc.stop()
    return steps


def assert_linear(work: Callable[[T], object], made: Callable[[int], T], count: int) -> None:
    """``count`` more costs ``work`` half of what twice as many more do; ``made`` makes what it works on.

    A quadratic part fails that is, at ``count``, more than a twenty-fourth of the linear one.
    """
    work(made(1))
    one, once, twice = (_effort_on(work, made(1 + more)) for more in (0, count, 2 * count))
    assert twice - one <= 2.08 * (once - one), f"{one} for 1, {once} for {count} more, {twice} for twice that"


def _effort_on(work: Callable[[T], object], given: T) -> int:
    return effort(lambda: work(given))
