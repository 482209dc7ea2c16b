"""Sorting in steps: short runs, one at each step, which are merged while they are read."""

import heapq
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

RUN = 200
"""Values of one run."""


def in_order(values: Sequence[T], key: Callable[[T], Any]) -> Generator[bytes, None, Iterator[T]]:
    """Sort values. Steps write nothing; the result is read lazily, at the cost of log(runs) a value."""
    runs = []
    for start in range(0, len(values), RUN):
        if start:
            yield b""
        runs.append(sorted(values[start : start + RUN], key=key))
    return iter(runs[0]) if len(runs) == 1 else heapq.merge(*runs, key=key)
