"""Witness of the engine: counts and logs decisions, and writes the stories of pods."""

import logging
from collections.abc import Callable
from typing import Final

from core.decisions.decision import Ignored
from core.decisions.preemption.judging import Breach
from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import Plan
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.outcomes import EvictionOutcome
from core.ledger.pods.record import PodRecord
from extender.telemetry.decided import Decided
from extender.telemetry.logs import DecisionLog, LastVerdicts, Logger
from extender.telemetry.metrics import Metrics
from extender.views.journal import Journal
from extender.views.recent_plans import RecentPlans
from extender.views.story import described

_NOTED: Final = frozenset(
    {
        on.CycleDue,
        on.PodObserved,
        on.PodDeleted,
        on.PodBound,
        on.BindFailed,
        on.PodWoken,
        on.PodEvicted,
    }
)
"""Types of the events that are noted."""

_EVICTED: Final = {
    EvictionOutcome.DONE: "eviction begun",
    EvictionOutcome.BUDGET: "not evicted: a disruption budget forbids it",
    EvictionOutcome.NOT_FOUND: "not evicted: gone already",
    EvictionOutcome.FAILED: "not evicted",
}


class DecisionWitness:
    """The engine's witness.

    A decision is logged at level info if it differs from the last one of its verb for the pod. A repetition
    is logged at level debug.
    ``clock()``: the engine's clock, to measure its slices.
    """

    def __init__(
        self,
        journal: Journal,
        log: Logger,
        decisions: DecisionLog,
        metrics: Metrics,
        preemptions: RecentPlans,
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._journal = journal
        self._preemptions = preemptions
        self._log = log
        self._decisions = decisions
        self._counts = metrics.decided
        self._metrics = metrics
        self._series = metrics.yunikorn
        self._clock = clock
        self._verdicts = LastVerdicts()
        self._logs_repetitions = log.is_enabled_for(logging.DEBUG)

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None:
        """Count a decision, log it, and add it to the pod's story."""
        if isinstance(verdict, Ignored):
            if verb == "preempt":
                self._metrics.foreign.inc()
            return
        code, detail = described(verdict)
        self._counts.count(verb, code)
        facts = record.facts
        self._journal.note(facts.uid, f"{verb}: {code}", detail, now=now)
        # Scores differ between calls, so only the code counts.
        is_new = self._verdicts.is_new(facts.uid, verb, (code, "" if verb == "prioritize" else detail))
        if not (is_new or self._logs_repetitions):
            return
        application = record.membership.application.name if record.membership.application else ""
        level = "info" if is_new else "debug"
        self._decisions.add(
            Decided(verb, code, detail, facts.namespace, facts.name, facts.uid, application, level=level),
            now=now,
        )

    def learned(self, event: on.Event, *, now: float) -> None:
        """Count an event, and add it to the pod's story.

        Events that belong to a decision are part of the decision's line.
        """
        self._series.learned(event)
        if type(event) not in _NOTED:
            return
        if isinstance(event, on.CycleDue):
            if self._clock is not None:
                self._series.calls.sliced(max(0.0, self._clock() - now))
        elif isinstance(event, on.PodObserved):
            pod = event.pod
            what = f"bound to {pod.node}" if pod.node else "seen, pending"
            self._note(pod.uid, f"{what}, leaving" if pod.deleting else what, now)
        elif isinstance(event, on.PodDeleted):
            self._verdicts.drop(event.uid)
            self._note(event.uid, "gone", now)
        elif isinstance(event, on.PodBound):
            self._note(event.uid, f"binding posted for {event.node}", now)
        elif isinstance(event, on.PodWoken):
            self._note(event.uid, "woken" if event.reached else "not woken", now)
        elif isinstance(event, on.BindFailed):
            self._note(event.uid, "binding failed" if event.certain else "binding lost", now)
        elif isinstance(event, on.PodEvicted):
            self._note(event.uid, _EVICTED[event.outcome], now)

    def _note(self, uid: PodUid, what: str, now: float) -> None:
        self._journal.note(uid, what, now=now)

    def planned(self, outcome: Outcome, *, pod: str, how: str, now: float) -> None:
        """Count and log a plan, or why there is none, and add it to the pod's story."""
        self._series.calls.end_attempt(outcome.uid)
        if isinstance(outcome, Plan):
            self._metrics.plans.labels(outcome.kind.value).inc()
            self._metrics.victims.labels(outcome.kind.value).inc(len(outcome.victims))
            names = ", ".join(f"{each.namespace}/{each.name}" for each in outcome.victims)
            if outcome.uid:
                self._note(outcome.uid, f"{how}: plan on {outcome.node} at the cost of {names}", now)
            self._log.info("preemption was planned", pod=pod, node=outcome.node, victims=names, by=how)
        else:
            self._metrics.refusals.labels(outcome.law).inc()
            self._journal.note(outcome.uid, f"{how}: no plan", f"{outcome.stop} {outcome.text}", now=now)
        self._preemptions.note(outcome, pod=pod, how=how, now=now)

    def breached(self, plan: Plan, breaches: tuple[Breach, ...], *, pod: str, now: float) -> None:
        """Count and log a plan that broke a law."""
        self._metrics.breaches.inc()
        self._preemptions.note_breach(plan, breaches, pod=pod, now=now)
        laws = [f"{each.law}: {each.text}" for each in breaches]
        text = "preemption plan breaks a law and was dropped; this is a bug"
        self._log.error(text, pod=pod, laws=laws, receipt=plan.receipt.as_text())

    def drifted(self, drifts: list[Drift]) -> None:
        """Count an audit, and log the first 20 of its differences."""
        self._metrics.audits.inc()
        self._metrics.drift.set(len(drifts))
        for drift in drifts[:20]:
            text = "audit found a difference; this is a bug"
            self._log.error(text, what=drift.what, expected=drift.expected, actual=drift.actual)
