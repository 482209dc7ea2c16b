"""How stale each watch is: what it has not told for a while may have changed."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

QUIET = 120.0
"""Seconds of silence of an unbroken watch that are usual: the API server sends a bookmark every minute."""


class Staleness(NamedTuple):
    """How stale a watch is."""

    kind: str
    #: Time since it has told anything; 0 while it is up.
    seconds: float
    #: Why it is not up; empty without a reason.
    error: str = ""


def staleness(kind: str, error: str, heard: float | None, *, began: float, now: float) -> Staleness:
    """Of a watch that was last ``heard`` at a time, None for never. All times are of one clock."""
    silent = now - (began if heard is None else heard)
    return Staleness(kind, silent if error or heard is None or silent > QUIET else 0.0, error)


def stale_text(watches: Iterable[Staleness], *, now: float) -> str:
    """Each that is not up: its kind, since when in UTC, and why. ``now``: seconds since the epoch."""
    return "; ".join(
        f"{each.kind} since {datetime.fromtimestamp(now - each.seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
        + (f" ({each.error})" if each.error else "")
        for each in sorted(watches)
        if each.seconds
    )


class WatchSeries(Collector):
    """A sample for each kind."""

    def __init__(self, watches: Callable[[], Iterable[Staleness]]) -> None:
        self._watches = watches

    def collect(self) -> Iterator[Metric]:
        """Read how stale each watch is now."""
        stale = GaugeMetricFamily(
            "paddock_watch_stale_seconds",
            "Time for which a watch has told nothing, since it broke or was never listed; 0 while it is up",
            labels=["kind"],
        )
        for each in self._watches():
            stale.add_metric([each.kind], each.seconds)
        yield stale
