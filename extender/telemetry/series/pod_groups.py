"""Series of pod groups for Prometheus, read from the ledger for each scrape."""

from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from core.ledger.view import LedgerView
from core.workload.pod_group import BUCKETS, STANDINGS
from extender.telemetry.ledger_numbers import LedgerNumbers


class PodGroupSeries(Collector):
    """Series of pod groups. Their labels are bounded: states of groups, and outcomes of attempts."""

    def __init__(self, view: Callable[[], LedgerView], numbers: LedgerNumbers) -> None:
        self._view = view
        self._numbers = numbers

    def collect(self) -> Iterator[Metric]:
        """Read the families. The numbers must have been refreshed before."""
        view = self._view()
        yield from self._now()
        numbers = view.group_numbers
        failed = CounterMetricFamily(
            "paddock_pod_group_failures", "Attempts of pod groups that failed, by why", labels=["why"]
        )
        failed.add_metric(["timeout"], numbers.timeouts)
        failed.add_metric(["member gone"], numbers.losses)
        yield failed
        yield CounterMetricFamily(
            "paddock_pod_groups_degraded", "Pod groups that stayed on nodes in part", value=numbers.degraded
        )
        seconds = HistogramMetricFamily(
            "paddock_pod_group_seconds", "From when enough members existed until all of those could be bound"
        )
        buckets = [(str(bound), float(numbers.within[bound])) for bound in BUCKETS]
        seconds.add_metric([], [*buckets, ("+Inf", float(numbers.completed))], numbers.seconds)
        yield seconds

    def _now(self) -> Iterator[Metric]:
        groups = GaugeMetricFamily("paddock_pod_groups", "Pod groups by how they stand", labels=["standing"])
        for standing in STANDINGS:
            groups.add_metric([standing], self._numbers.standings[standing])
        yield groups
        yield GaugeMetricFamily(
            "paddock_binds_waiting",
            "Bind calls that wait for others of their pod group",
            value=self._numbers.binds_waiting,
        )
