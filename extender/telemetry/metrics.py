"""Metrics for Prometheus. Labels are bounded: verbs, codes, kinds, effects, and queues up to a cap."""

import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from core.decisions.preemption.receipts import Kind
from core.ledger.view import LedgerView
from extender.rest.history.past import Figures
from extender.telemetry import own_queues
from extender.telemetry.counts import CallSeconds, Counts
from extender.telemetry.ledger_numbers import LedgerNumbers
from extender.telemetry.queue_texts import QueueTexts
from extender.telemetry.series.calls import CallSeries
from extender.telemetry.series.history import HistorySeries
from extender.telemetry.series.ledger import LedgerSeries
from extender.telemetry.series.pod_groups import PodGroupSeries
from extender.telemetry.series.watches import Staleness, WatchSeries
from extender.telemetry.yunikorn.families import FAMILIES
from extender.telemetry.yunikorn.series import YuniKornSeries
from extender.version import version

TEXT_FAMILIES = (*own_queues.FAMILIES.values(), *FAMILIES)
"""Families that are written without the library."""

_BUCKETS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1.0, 10.0, 100.0)
_STALLS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

_CLIENT_CERTIFICATE = {
    "made": "When the certificate for kube-scheduler was made; 0 if Paddock makes none",
    "end": "When the certificate for kube-scheduler ends; 0 if Paddock makes none",
}


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Exported:
    """Choice of what is exported."""

    #: True if this instance exports series about queues, pods and nodes.
    leads: Callable[[], bool] = _always
    #: True to export series named after queues (METRIC-18).
    queue_names: Callable[[], bool] = _always
    #: Age of the last message of each watch.
    watches: Callable[[], Iterable[Staleness]] = tuple
    #: Figures about the past of queues.
    history: Callable[[], Figures] = Figures


class Metrics:
    """All series of one process. Those of the ledger are in a registry of their own."""

    def __init__(self, view: Callable[[], LedgerView], exported: Exported | None = None) -> None:
        self._view = view
        self._exported = exported = exported or Exported()
        self.registry = CollectorRegistry()
        self._ledger_registry = CollectorRegistry()
        self._numbers, self._texts = LedgerNumbers(), QueueTexts()
        self.yunikorn = YuniKornSeries(view, self._texts, queue_names=exported.queue_names)
        registry = self.registry
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        registry.register(WatchSeries(exported.watches))
        build = Gauge(
            "paddock_build_info",
            "1 under the versions of Paddock and of Python",
            ["version", "python"],
            registry=registry,
        )
        build.labels(version(), platform.python_version()).set(1)
        self.calls = CallSeconds(_BUCKETS)
        registry.register(CallSeries(self.calls))
        decisions = Counter(
            "paddock_decisions", "Answers by verb and code", ["verb", "code"], registry=registry
        )
        self.faults = Counter("paddock_faults", "Calls that failed", ["verb", "fault"], registry=registry)
        effects = Counter("paddock_effects", "Effects by outcome", ["effect", "outcome"], registry=registry)
        self.decided, self.effected = Counts(decisions), Counts(effects)
        self.plans = Counter("paddock_preemption_plans", "Plans by kind", ["kind"], registry=registry)
        self.refusals = Counter(
            "paddock_preemption_refusals", "Plans that were stopped, by law", ["law"], registry=registry
        )
        self.breaches = Counter(
            "paddock_preemption_breaches",
            "Plans that broke a law and were not carried out; always 0",
            registry=registry,
        )
        self.victims = Counter(
            "paddock_preemption_victims", "Victims of plans, by kind", ["kind"], registry=registry
        )
        for kind in Kind:
            # The first victims count as an increase only if a scrape before them has shown 0.
            self.victims.labels(kind.value)
        self.foreign = Counter(
            "paddock_preemption_foreign", "Preempt calls for pods in no queue", registry=registry
        )
        self.stalls = Histogram(
            "paddock_loop_stall_seconds",
            "How late the event loop was, looked at every 50 ms",
            buckets=_STALLS,
            registry=registry,
        )
        self.drift = Gauge("paddock_audit_drift", "Differences the last audit found", registry=registry)
        self.audits = Counter("paddock_audits", "Audits completed", registry=registry)
        self.reloads = Counter("paddock_reloads", "Configurations by fate", ["fate"], registry=registry)
        self.missing = Gauge(
            "paddock_configuration_missing",
            "1 while the document in force is kept from memory only, or there is none",
            registry=registry,
        )
        self.refused = Gauge(
            "paddock_configuration_refused",
            "1 while the sources hold a configuration that was refused",
            registry=registry,
        )
        self.passed_on = Counter(
            "paddock_passed_on_requests",
            "Reads that this instance passed on to the one that leads, by outcome",
            ["outcome"],
            registry=registry,
        )
        self.explanations = Counter(
            "paddock_explanations",
            "Explanations by what the search for a change found; refused: too many, or too many changes",
            ["outcome"],
            registry=registry,
        )
        self.actions = Counter(
            "paddock_actions",
            "Requests of administrators by action and result, as in the audit log",
            ["action", "result"],
            registry=registry,
        )
        self.rest_open = Gauge(
            "paddock_rest_open",
            "1 while the REST port answers every caller over plain HTTP",
            registry=registry,
        )
        self.client_made, self.client_ends = (
            Gauge(f"paddock_client_certificate_{name}_timestamp_seconds", text, registry=registry)
            for name, text in _CLIENT_CERTIFICATE.items()
        )
        self.relists = Counter("paddock_lists", "Complete lists by kind", ["kind"], registry=registry)
        self.interruptions = Counter(
            "paddock_watch_interruptions", "Watches that broke, by kind", ["kind"], registry=registry
        )
        self.undecodable = Counter(
            "paddock_undecodable_objects", "Objects that could not be read", ["kind"], registry=registry
        )
        self.closed = Counter(
            "paddock_connections_closed",
            "Connections closed before a request was whole, by port and reason",
            ["port", "reason"],
            registry=registry,
        )
        self.unshown = Counter(
            "paddock_unshown_pods",
            "Pods that only a verb's body had shown, by what the API server said",
            ["outcome"],
            registry=registry,
        )
        self.skew = Gauge(
            "paddock_clock_skew_seconds", "Clock of the API server minus ours", registry=registry
        )
        self.daemon_sets = Gauge(
            "paddock_daemon_sets_listed",
            "1 once the DaemonSets were listed; until then no pod counts as one's",
            registry=registry,
        )
        synced = Gauge(
            "paddock_synced", "1 when the cluster was read and a document applied", registry=registry
        )
        synced.set_function(lambda: self._view().synced)
        self.leading = Gauge("paddock_leading", "1 while effects may run", registry=registry)
        ledger = self._ledger_registry
        ledger.register(LedgerSeries(view, self._numbers, self._unshown))
        ledger.register(PodGroupSeries(view, self._numbers))
        ledger.register(HistorySeries(exported.history))

    def failed(self, verb: str, fault: str) -> None:
        """Count a call that failed."""
        self.faults.labels(verb, fault).inc()
        self.yunikorn.totals.pods["error"] += 1

    def exposition(self) -> bytes:
        """Return all series in the text format."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """Yield all series in pieces that take less than a millisecond each. An empty piece is a pause.

        A standby exports only series about itself. All samples of one queue belong to the same moment, but
        those of two queues may not.
        """
        self.decided.pass_on()
        self.effected.pass_on()
        yield from _written(self.registry)
        if self._exported.leads():
            view = self._view()
            yield from _pauses(self._numbers.refresh(view))
            yield from _pauses(self._texts.refresh(view))
            yield from self._of_queues()
            if view.synced:
                yield from self._of_yunikorn()
            yield from _written(self._ledger_registry)

    def yunikorn_pieces(self) -> Iterator[bytes]:
        """Yield YuniKorn's series only (REST-16). There are none before the sync, or on a standby."""
        view = self._view()
        if self._exported.leads() and view.synced:
            yield from _pauses(self._texts.refresh(view))
            yield from self._of_yunikorn()

    def _of_yunikorn(self) -> Iterator[bytes]:
        yield from _pauses(self.yunikorn.refresh())
        for text in self.yunikorn.pieces():
            yield text.encode()

    def _of_queues(self) -> Iterator[bytes]:
        for amount in own_queues.AMOUNTS:
            texts = (self._texts.of(queue).own[amount] for queue in self._texts.queues)
            yield own_queues.text_of(amount, texts).encode()

    def _unshown(self) -> tuple[int, int]:
        return self._texts.queues_unshown, self._texts.resources_unshown + self.yunikorn.nodes.unshown


class _One(Collector):
    """Registry of one family, so that the library can write it."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterable[Metric]:
        return (self._family,)


def _written(registry: CollectorRegistry) -> Iterator[bytes]:
    """Families of a registry, with one piece for each."""
    for family in registry.collect():
        yield generate_latest(_One(family))


def _pauses(work: Iterable[None]) -> Iterator[bytes]:
    for _ in work:
        yield b""
