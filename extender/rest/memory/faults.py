"""Failed calls and unreadable objects, for the health checks (REST-11)."""

from collections import deque
from dataclasses import dataclass, field

QUIET = 3600.0
"""Seconds for which a failed call is counted."""

MOST = 1000

BUGS = frozenset({"bug", "outside"})
"""Faults that are errors of Paddock itself, by their names in metrics."""


@dataclass(slots=True)
class Faults:
    """Faults for the health checks."""

    #: Times of calls that failed, in seconds since 1970.
    _calls: deque[float] = field(default_factory=lambda: deque(maxlen=MOST))
    #: Names of nodes whose last object could not be read.
    _nodes: set[str] = field(default_factory=set)
    #: Differences that the last audit found, one text each.
    drifts: tuple[str, ...] = ()

    def called(self, fault: str, *, now: float) -> None:
        """Count a finished call. ``fault``: empty if the call succeeded."""
        if fault in BUGS:
            self._calls.append(now)

    def calls(self, *, now: float) -> int:
        """Return the number of calls that failed within the last hour."""
        while self._calls and self._calls[0] <= now - QUIET:
            self._calls.popleft()
        return len(self._calls)

    def unread(self, kind: str, name: str) -> None:
        """Note an object that could not be read."""
        if kind == "nodes" and len(self._nodes) < MOST:
            self._nodes.add(name)

    def read(self, name: str) -> None:
        """Note a node that was read or deleted."""
        self._nodes.discard(name)

    @property
    def unread_nodes(self) -> int:
        """Number of nodes whose last object could not be read."""
        return len(self._nodes)
