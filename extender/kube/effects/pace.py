"""Pace of effects: how many start each second. Arithmetic on a clock that is passed in."""

from collections.abc import Callable

RATE = 1000.0
"""Effects started per second, at most. Pods cannot be bound faster than their gates open."""

QUIET_RATE = 200.0
"""Events and conditions started per second, at most."""

QUIET_RATE_BESIDE, BESIDE_FOR = 20.0, 1.0
"""Pace while pods are scheduled, and seconds for which it lasts after each start of another effect.

A condition costs the API server as much as a gate that opens, and a backlog has thousands of them. Where
kube-scheduler binds pods itself, only its calls show that it is at work.
"""


class Pace:
    """Moments at which the next effects may start. Quiet effects and others have a schedule each.

    ``scheduling``: True while pods are scheduled, even if no effect shows it.
    """

    def __init__(self, clock: Callable[[], float], scheduling: Callable[[], bool] = lambda: False) -> None:
        self._clock, self._scheduling = clock, scheduling
        self._next = self._next_quiet = self._moved_at = float("-inf")

    def begin(self) -> float:
        """Note that an effect that is not quiet starts. Return for how many seconds it must wait."""
        now = self._clock()
        self._moved_at = now
        start = max(now, self._next)
        self._next = start + 1.0 / RATE
        return start - now

    def until_quiet(self) -> float:
        """Seconds until a quiet effect may start; 0 if it may now."""
        return max(0.0, self._next_quiet - self._clock())

    def begin_quiet(self) -> None:
        """Note that a quiet effect starts."""
        now = self._clock()
        rate = QUIET_RATE_BESIDE if self._scheduling() or now - self._moved_at < BESIDE_FOR else QUIET_RATE
        self._next_quiet = max(now, self._next_quiet) + 1.0 / rate
