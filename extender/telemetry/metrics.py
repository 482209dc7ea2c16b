"""Metrics for Prometheus. Labels are bounded: verbs, codes, kinds, effects, and queues up to a cap."""

from collections import Counter as Counted
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from core.ledger.state.admission import CycleReason, RequeueReason
from core.ledger.state.applications import IdentityTally
from core.ledger.usage.over_max import kind_of
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.queues.tree import over_max
from core.queues.users.limits import Tracked
from core.workload.gangs.gang import GangStyle
from core.workload.gangs.phase import GangPhase
from extender.telemetry.group_series import GroupSeries

QUEUES_SHOWN = 2_000
"""Queues with series of their own; more of them are summed in none, and counted in paddock_queues."""

_BUCKETS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1.0, 10.0, 100.0)
_STALLS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_AMOUNTS = ("max", "guaranteed", "allocated", "reserved", "pending", "preempting")


class Metrics:
    """All series of one process, in a registry of its own."""

    def __init__(self, view: Callable[[], LedgerView]) -> None:
        self.registry = CollectorRegistry()
        registry = self.registry
        self.verb_seconds = Histogram(
            "paddock_verb_seconds", "Time to answer a call", ["verb"], buckets=_BUCKETS, registry=registry
        )
        self.decisions = Counter(
            "paddock_decisions", "Answers by verb and code", ["verb", "code"], registry=registry
        )
        self.faults = Counter("paddock_faults", "Calls that failed", ["verb", "fault"], registry=registry)
        self.effects = Counter(
            "paddock_effects", "Effects by outcome", ["effect", "outcome"], registry=registry
        )
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
        self.leading = Gauge("paddock_leading", "1 while effects may run", registry=registry)
        registry.register(_QueueSeries(view))
        registry.register(GroupSeries(view))

    def exposition(self) -> bytes:
        """Everything, in the text format."""
        return generate_latest(self.registry)


class _QueueSeries(Collector):
    """Read from the ledger when asked, so that counting costs nothing meanwhile."""

    def __init__(self, view: Callable[[], LedgerView]) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        view = self._view()
        for name, value, words in (
            ("paddock_queues", len(view.tree), "Queues in the tree"),
            ("paddock_pods", sum(1 for _ in view.pods()), "Live pods known"),
            (
                "paddock_pods_with_resource_claims",
                sum(1 for record in view.pods() if record.membership.managed and record.facts.claims),
                "Managed pods whose claimed devices no quota sees",
            ),
            (
                "paddock_pods_of_no_daemon_set",
                sum(1 for record in view.pods() if record.membership.managed and record.is_unproved),
                "Managed pods that name a DaemonSet as their controller which has not made them",
            ),
            ("paddock_waiting_pods", len(view.waiting), "Asks refused last"),
            ("paddock_reservations", len(view.reserved), "Live reservations"),
            ("paddock_synced", int(view.synced), "1 when the cluster was read and a document applied"),
        ):
            yield GaugeMetricFamily(name, words, value=value)
        yield from _cycle_families(view)
        yield from self._queue_families(view)
        yield from _over_max_families(view)
        yield from _in_vain_families(view)
        yield from _ungated_families(view)
        yield from _gang_families(view)
        yield from _identity_families(view.identities.tally)

    def _queue_families(self, view: LedgerView) -> Iterator[GaugeMetricFamily]:
        queues = [queue for queue, _ in zip(view.tree, range(QUEUES_SHOWN), strict=False)]
        for amount in _AMOUNTS:
            family = GaugeMetricFamily(
                f"paddock_queue_{amount}", f"Of a queue: {amount}", labels=["queue", "resource"]
            )
            for queue in queues:
                for resource, value in _amounts(queue, amount):
                    family.add_metric([queue.path, resource], value)
            yield family


def _cycle_families(view: LedgerView) -> Iterator[Metric]:
    """Scheduling cycles, each under every reason it was requested for; and asks that they did not admit."""
    family = CounterMetricFamily(
        "paddock_cycles", "Scheduling cycles, by each reason for which they were requested", labels=["reason"]
    )
    for reason in CycleReason:
        family.add_metric([reason.value], view.cycle.begun.get(reason, 0))
    yield family
    requeues = CounterMetricFamily(
        "paddock_cycle_requeues", "Checks of asks that a cycle did not admit, by reason", labels=["reason"]
    )
    for why in RequeueReason:
        requeues.add_metric([why.value], view.cycle.requeues.get(why, 0))
    yield requeues


def _ungated_families(view: LedgerView) -> Iterator[Metric]:
    """Pods that kube-scheduler may place without a filter call (F-2), and those never admitted (F-7)."""
    filed = view.unguarded
    pending = GaugeMetricFamily(
        "paddock_ungated_pods",
        "Pending pods without a gate for which filter is not called",
        labels=["standing"],
    )
    pending.add_metric(["placing"], len(filed.placing))
    pending.add_metric(["unplaced"], len(filed.unplaced))
    yield pending
    words = "Pods that had a node, or were free to be given one, without admission"
    yield CounterMetricFamily("paddock_admission_bypasses", words, filed.reported)


def _over_max_families(view: LedgerView) -> Iterator[Metric]:
    """Usage above a max. Users and groups have no series of their own, since there may be any number."""
    amounts = GaugeMetricFamily(
        "paddock_queue_over_max", "Of a queue: what it holds above its max", labels=["queue", "resource"]
    )
    queues = [place for place in view.over_max if not isinstance(place, Tracked)]
    for path in queues[:QUEUES_SHOWN]:
        queue = view.tree.get(path)
        excess = over_max(queue) if queue is not None else None
        for resource, amount in excess.items() if excess is not None else ():
            amounts.add_metric([path, resource], amount)
    yield amounts
    now = GaugeMetricFamily("paddock_over_max", "Maxima that are passed now, by kind", labels=["kind"])
    begun = CounterMetricFamily(
        "paddock_over_max_episodes", "How often usage has passed a max, by kind", labels=["kind"]
    )
    counts = Counted(kind_of(place) for place in view.over_max)
    for kind in ("queue", "user", "group"):
        now.add_metric([kind], counts[kind])
        begun.add_metric([kind], view.over_max_begun.get(kind, 0))
    yield now
    yield begun


def _in_vain_families(view: LedgerView) -> Iterator[Metric]:
    """Plans whose ask vanished before it was placed, and the queues that wait for it (F-25)."""
    plans, waits, waiting = view.in_vain()
    yield CounterMetricFamily("paddock_preemption_in_vain", "Plans whose pod vanished unplaced", plans)
    yield CounterMetricFamily("paddock_preemption_waits", "Waits of queues for plans in vain", waits)
    left = GaugeMetricFamily(
        "paddock_queue_preemption_wait_seconds",
        "Of a queue: how long no plan is made for it, since plans for it were in vain",
        labels=["queue"],
    )
    for path, seconds in sorted(waiting.items())[:QUEUES_SHOWN]:
        left.add_metric([path], seconds)
    yield left


def _identity_families(tally: IdentityTally) -> Iterator[Metric]:
    for name, words, count in (
        ("paddock_forced_pods", "Pods that had a node and were never let in", tally.forced),
        ("paddock_recovered_pods", "Pods that run and that no queue takes", tally.recovered),
        ("paddock_relabelled_pods", "Changes of labels that would lead a pod elsewhere", tally.relabelled),
        (
            "paddock_applications_of_another",
            "Applications whose id another namespace has, too",
            tally.of_another,
        ),
    ):
        yield CounterMetricFamily(name, words, count)


def _gang_families(view: LedgerView) -> Iterator[Metric]:
    gang_progresses = [each.gang_progress for each in view.applications() if each.gang_progress is not None]
    alive = sum(len(each.holders) for each in view.applications())
    waiting = sum(each.phase is GangPhase.RESERVING for each in gang_progresses)
    yield GaugeMetricFamily("paddock_gangs_waiting", "Gangs whose placeholders are not all bound", waiting)
    yield GaugeMetricFamily("paddock_gang_placeholders", "Placeholders alive", alive)
    tally = view.gang_tally
    yield SummaryMetricFamily(
        "paddock_gang_complete_seconds",
        "From the first placeholder asked for to all bound",
        count_value=tally.started,
        sum_value=tally.seconds,
    )
    timed_out = CounterMetricFamily("paddock_gang_timeouts", "Gangs timed out, by style", labels=["style"])
    for style in GangStyle:
        timed_out.add_metric([style.value], tally.timed_out.get(style.value, 0))
    yield timed_out
    for name, words, count in (
        ("paddock_gang_creations_refused", "Gangs whose placeholders were refused", tally.refused),
        ("paddock_gang_takeovers", "Members that took a placeholder over", tally.taken_over),
        ("paddock_gang_takeovers_cancelled", "Take-overs that came to nothing", tally.cancelled),
    ):
        yield CounterMetricFamily(name, words, count)


def _amounts(queue: Queue, name: str) -> list[tuple[str, int]]:
    match name:
        case "max":
            return list(queue.max.items()) if queue.max else []
        case "guaranteed":
            return list(queue.guaranteed.items()) if queue.guaranteed else []
        case "allocated":
            return list(queue.allocated.items())
        case "reserved":
            return list(queue.reserved.items())
        case "preempting":
            return list(queue.preempting.items())
        case _:
            return list(queue.pending.items())
