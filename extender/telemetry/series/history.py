"""Series about the memory of queues' past (REST-50)."""

from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from extender.rest.history.past import Figures
from extender.rest.history.spans import TICK

SPANS = ("1h", "6h", "24h")
"""Label of each span, from the shortest."""


class HistorySeries(Collector):
    """Bound, use, steps and losses. ``figures()``: those of the last sample."""

    def __init__(self, figures: Callable[[], Figures]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Read the present figures."""
        found = self._figures()
        for name, meaning, value in (
            ("limit_bytes", "Bound on the memory for the past of queues", found.limit),
            ("used_bytes", "Memory in use for the past of queues", found.used),
            ("series", "Resources of queues whose past is remembered", found.series),
            ("unrecorded", "Resources of queues that are not recorded, for lack of memory", found.unrecorded),
        ):
            yield GaugeMetricFamily(f"paddock_history_{name}", meaning, value)
        step = GaugeMetricFamily(
            "paddock_history_step_seconds",
            "Time between two samples of a queue's past, by span; above 15, 60, 300 for lack of memory",
            labels=["span"],
        )
        for span, every in zip(SPANS, found.plan, strict=True):
            step.add_metric([span], every * TICK)
        yield step
        yield CounterMetricFamily(
            "paddock_history_dropped",
            "Resources of queues whose past was dropped within a day, for lack of memory",
            found.dropped,
        )
