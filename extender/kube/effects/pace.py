"""Pace of effects: how many start each second. Arithmetic on a clock that is passed in."""

from collections.abc import Callable

RATE = 1000.0
"""Effects started per second, at most. Pods cannot be bound faster than their gates open."""

QUIET_RATE = 200.0
"""Events and conditions started per second, at most."""

QUIET_RATE_BESIDE = 20.0
"""Pace while pods are scheduled, that is if a call or another effect came since the last one.

A condition costs the API server as much as a gate that opens, and a backlog has thousands of them. Where
kube-scheduler binds pods itself, only its calls show that it is at work.
"""


class Pace:
    """Moments at which the next effects may start. Quiet effects and others have a schedule each.

    ``calls``: returns how many calls kube-scheduler has made.
    """

    def __init__(self, clock: Callable[[], float], calls: Callable[[], int] = lambda: 0) -> None:
        self._clock, self._calls = clock, calls
        self._next = self._next_quiet = float("-inf")
        self._moved, self._seen = False, 0

    def begin(self) -> float:
        """Note that an effect that is not quiet starts. Return for how many seconds it must wait."""
        self._moved = True
        now = self._clock()
        start = max(now, self._next)
        self._next = start + 1.0 / RATE
        return start - now

    def until_quiet(self) -> float:
        """Seconds until a quiet effect may start; 0 if it may now."""
        return max(0.0, self._next_quiet - self._clock())

    def begin_quiet(self) -> None:
        """Note that a quiet effect starts."""
        now, calls = self._clock(), self._calls()
        rate = QUIET_RATE_BESIDE if self._moved or calls != self._seen else QUIET_RATE
        self._moved, self._seen = False, calls
        self._next_quiet = max(now, self._next_quiet) + 1.0 / rate
