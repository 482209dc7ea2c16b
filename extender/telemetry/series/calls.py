"""The histogram of the durations of calls."""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from extender.telemetry.counts import CallSeconds

NAME = "paddock_verb_seconds"


class CallSeries(Collector):
    """Durations of calls by verb, as the library would write its own histogram."""

    def __init__(self, calls: CallSeconds) -> None:
        self.calls = calls
        self._bounds = [*map(floatToGoString, calls.bounds), "+Inf"]

    def collect(self) -> Iterator[Metric]:
        """Read what was counted until now."""
        family = HistogramMetricFamily(NAME, "Time to answer a call", labels=["verb"])
        for verb, found in self.calls.by_verb.items():
            label = {"verb": verb}
            totals = list(accumulate(found.counts))
            for bound, total in zip(self._bounds, totals, strict=True):
                family.add_sample(f"{NAME}_bucket", {**label, "le": bound}, float(total))
            family.add_sample(f"{NAME}_count", label, float(totals[-1]))
            family.add_sample(f"{NAME}_sum", label, found.total)
            family.add_sample(f"{NAME}_created", label, self.calls.created[verb])
        yield family
