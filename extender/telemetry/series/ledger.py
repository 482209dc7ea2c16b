"""Series of the ledger for Prometheus. They come from the leader only."""

from collections import Counter as Counted
from collections.abc import Callable, Iterator

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
from core.queues.tree import over_max
from core.queues.users.limits import Tracked
from core.workload.gangs.gang import GangStyle
from extender.telemetry.ledger_numbers import LedgerNumbers
from extender.telemetry.shown import QUEUES_SHOWN


class LedgerSeries(Collector):
    """Series that are read from the ledger for each scrape, so that they cost nothing in between.

    ``numbers``: counts over all pods, which were refreshed before.
    ``unshown()``: numbers of queues and of resources without series.
    """

    def __init__(
        self,
        view: Callable[[], LedgerView],
        numbers: LedgerNumbers,
        unshown: Callable[[], tuple[int, int]],
    ) -> None:
        self._view = view
        self._numbers = numbers
        self._unshown = unshown

    def collect(self) -> Iterator[Metric]:
        """Read the families. The numbers must have been refreshed before."""
        view, numbers = self._view(), self._numbers
        queues, resources = self._unshown()
        for name, value, meaning in (
            ("paddock_queues", len(view.tree), "Queues in the tree"),
            ("paddock_queues_unshown", queues, "Queues without series of their own, as there are too many"),
            (
                "paddock_resources_unshown",
                resources,
                "Resources without series of their own, as there are too many",
            ),
            ("paddock_pods", numbers.pods, "Live pods known"),
            (
                "paddock_pods_with_resource_claims",
                numbers.with_claims,
                "Managed pods whose claimed devices no quota sees",
            ),
            (
                "paddock_pods_of_no_daemon_set",
                numbers.unproved,
                "Managed pods that name a DaemonSet as their controller which has not made them",
            ),
            ("paddock_waiting_pods", len(view.waiting), "Asks refused last"),
            ("paddock_reservations", len(view.reserved), "Live reservations"),
        ):
            yield GaugeMetricFamily(name, meaning, value=value)
        yield from _pending_families(numbers)
        yield from _cycle_families(view)
        yield from _over_max_families(view)
        yield from _in_vain_families(view)
        yield from _ungated_families(view)
        yield from _gang_families(view, numbers)
        yield from _identity_families(view.identities.tally)


def _pending_families(numbers: LedgerNumbers) -> Iterator[Metric]:
    pods = GaugeMetricFamily(
        "paddock_pending_pods",
        "Pods that wait for a node, by the code of their last refusal",
        labels=["code"],
    )
    oldest = GaugeMetricFamily(
        "paddock_pending_oldest_timestamp_seconds",
        "Creation of the oldest of these pods, in seconds since 1970",
        labels=["code"],
    )
    for code, (count, since) in sorted(numbers.pending.items()):
        pods.add_metric([code], count)
        oldest.add_metric([code], since)
    yield pods
    yield oldest


def _cycle_families(view: LedgerView) -> Iterator[Metric]:
    """Scheduling cycles by each reason for which they were requested, and asks that were not admitted."""
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
    meaning = "Pods that had a node, or were free to be given one, without admission"
    yield CounterMetricFamily("paddock_admission_bypasses", meaning, filed.reported)


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
    for name, meaning, count in (
        ("paddock_forced_pods", "Pods that had a node and were never let in", tally.forced),
        ("paddock_recovered_pods", "Pods that run and that no queue takes", tally.recovered),
        ("paddock_relabelled_pods", "Changes of labels that would lead a pod elsewhere", tally.relabelled),
        (
            "paddock_applications_of_another",
            "Applications whose id another namespace has, too",
            tally.of_another,
        ),
    ):
        yield CounterMetricFamily(name, meaning, count)


def _gang_families(view: LedgerView, numbers: LedgerNumbers) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "paddock_gangs_waiting", "Gangs whose placeholders are not all bound", numbers.gangs_waiting
    )
    yield GaugeMetricFamily("paddock_gang_placeholders", "Placeholders alive", numbers.placeholders)
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
    for name, meaning, count in (
        ("paddock_gang_creations_refused", "Gangs whose placeholders were refused", tally.refused),
        ("paddock_gang_takeovers", "Members that took a placeholder over", tally.replaced),
        ("paddock_gang_takeovers_cancelled", "Take-overs that came to nothing", tally.cancelled),
    ):
        yield CounterMetricFamily(name, meaning, count)
