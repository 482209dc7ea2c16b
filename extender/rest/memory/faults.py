"""Calls that failed and objects that could not be read, for the checks of health (REST-11)."""

from collections import deque
from dataclasses import dataclass, field

QUIET = 3600.0
"""Seconds for which a failed call counts."""

MOST = 1000

BUGS = frozenset({"bug", "outside"})
"""Faults of calls that are errors of this process, as metrics name them."""


@dataclass(slots=True)
class Faults:
    """Faults that health checks count."""

    #: Times of calls that failed, in seconds since 1970.
    _calls: deque[float] = field(default_factory=lambda: deque(maxlen=MOST))
    #: Names of nodes whose last object could not be read.
    _nodes: set[str] = field(default_factory=set)
    #: Differences that the last audit found, one text each.
    drifts: tuple[str, ...] = ()

    def called(self, fault: str, *, now: float) -> None:
        """A call has ended; without a fault, its name is empty."""
        if fault in BUGS:
            self._calls.append(now)

    def calls(self, *, now: float) -> int:
        """Calls that failed within the last hour."""
        while self._calls and self._calls[0] <= now - QUIET:
            self._calls.popleft()
        return len(self._calls)

    def unread(self, kind: str, name: str) -> None:
        """An object could not be read."""
        if kind == "nodes" and len(self._nodes) < MOST:
            self._nodes.add(name)

    def read(self, name: str) -> None:
        """A node was read, or is gone."""
        self._nodes.discard(name)

    @property
    def unread_nodes(self) -> int:
        """Number of nodes whose last object could not be read."""
        return len(self._nodes)
