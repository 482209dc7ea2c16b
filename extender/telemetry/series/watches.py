"""Series about watches whose information may be stale."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

QUIET = 120.0
"""Seconds of silence that are normal for a watch. The API server sends a bookmark every minute."""


class Staleness(NamedTuple):
    """Age of the information of a watch."""

    kind: str
    #: Seconds since its last message, 0 while the watch is up.
    seconds: float
    #: Reason why it is not up, or empty.
    error: str = ""


def staleness(kind: str, error: str, heard: float | None, *, began: float, now: float) -> Staleness:
    """Age of the information of a watch.

    ``heard``: time of its last message, None for never. ``began``: time of the start. All times are of the
    same clock.
    """
    silent = now - (began if heard is None else heard)
    return Staleness(kind, silent if error or heard is None or silent > QUIET else 0.0, error)


def stale_text(watches: Iterable[Staleness], *, now: float) -> str:
    """Watches that are not up: kind, time of the last message in UTC, and reason.

    ``now``: seconds since the epoch.
    """
    return "; ".join(
        f"{each.kind} since {datetime.fromtimestamp(now - each.seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
        + (f" ({each.error})" if each.error else "")
        for each in sorted(watches)
        if each.seconds
    )


class WatchSeries(Collector):
    """A sample for each watched kind."""

    def __init__(self, watches: Callable[[], Iterable[Staleness]]) -> None:
        self._watches = watches

    def collect(self) -> Iterator[Metric]:
        """Read the present age of each watch."""
        stale = GaugeMetricFamily(
            "paddock_watch_stale_seconds",
            "Time for which a watch has told nothing, since it broke or was never listed; 0 while it is up",
            labels=["kind"],
        )
        for each in self._watches():
            stale.add_metric([each.kind], each.seconds)
        yield stale
