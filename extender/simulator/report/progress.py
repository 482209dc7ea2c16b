"""The progress of a long run, on a terminal and nowhere else."""

from collections.abc import Callable
from typing import Final, Self, TextIO

from extender.simulator.report.units import counted, moment

FIRST_AFTER: Final = 0.5
"""Seconds without a line, so that a short run shows nothing."""

APART: Final = 0.1


class Progress:
    """A line, rewritten in place at most ten times a second, and wiped at the end.

    A stream that is no terminal gets nothing. ``clock``: seconds that never go back. ``end``: virtual time of
    the whole run, in milliseconds. Cost of a call that shows nothing: one clock reading.
    """

    def __init__(self, stream: TextIO, *, clock: Callable[[], float], end: int) -> None:
        self._stream, self._clock, self._end = stream, clock, end
        self._next = clock() + FIRST_AFTER if stream.isatty() else None
        self._shown = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wipe()

    def show(self, at: int, *, attempts: int = 0) -> None:
        """Show progress. ``at``: virtual time reached; ``attempts``: scheduling attempts so far."""
        if self._next is None or (now := self._clock()) < self._next:
            return
        self._next = now + APART
        self._write(self._line(at, attempts))

    def wipe(self) -> None:
        """Leave the terminal as if nothing had been shown. Safe to call again."""
        if self._shown:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()
        self._shown = 0

    def _line(self, at: int, attempts: int) -> str:
        share = min(100, at * 100 // self._end) if self._end > 0 else 100
        times = f"{moment(at, longest=self._end)} of {moment(self._end)}"
        return f"{times} ({share}%), {counted(attempts, 'attempt')}"

    def _write(self, line: str) -> None:
        self._stream.write("\r" + line.ljust(self._shown))
        self._stream.flush()
        self._shown = len(line)
