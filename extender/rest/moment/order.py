"""Sorting in steps: one short run in each step. The runs are merged while they are read."""

import heapq
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

RUN = 100
"""Number of values in one run."""


def in_order(values: Sequence[T], key: Callable[[T], Any]) -> Generator[bytes, None, Iterator[T]]:
    """Sort values. Steps yield empty pieces. The result is lazy, and a value of it costs O(log(runs))."""
    runs = []
    for start in range(0, len(values), RUN):
        if start:
            yield b""
        runs.append(sorted(values[start : start + RUN], key=key))
    return iter(runs[0]) if len(runs) == 1 else heapq.merge(*runs, key=key)
