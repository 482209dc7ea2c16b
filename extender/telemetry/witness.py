"""Who hears of every decision: counts it, logs it, and writes the pod's story."""

from prometheus_client import Counter

from core.decisions.decision import Ignored
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.drift import Drift
from core.ledger.record import PodRecord
from extender.journal import Journal
from extender.story import described
from extender.telemetry.logs import Decided, DecisionLog, Logger
from extender.telemetry.metrics import Metrics

_EVICTED = {
    on.EvictionOutcome.DONE: "eviction begun",
    on.EvictionOutcome.BUDGET: "not evicted: a disruption budget forbids it",
    on.EvictionOutcome.GONE: "not evicted: gone already",
    on.EvictionOutcome.FAILED: "not evicted",
}


class Telling:
    """The engine's witness."""

    def __init__(self, journal: Journal, log: Logger, decisions: DecisionLog, metrics: Metrics) -> None:
        self._journal = journal
        self._log = log
        self._decisions = decisions
        self._counters: dict[tuple[str, str], Counter] = {}
        self._metrics = metrics

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None:
        if isinstance(verdict, Ignored):
            return
        code, detail = described(verdict)
        self._counter(verb, code).inc()
        facts = record.facts
        self._journal.note(facts.uid, f"{verb}: {code}", detail, now=now)
        application = record.application or ""
        self._decisions.add(
            Decided(verb, code, detail, facts.namespace, facts.name, facts.uid, application), now=now
        )

    def _counter(self, verb: str, code: str) -> Counter:
        """Looked up once: finding a labelled series costs more than counting."""
        counter = self._counters.get((verb, code))
        if counter is None:
            counter = self._counters[verb, code] = self._metrics.decisions.labels(verb, code)
        return counter

    def learned(self, event: on.Event, *, now: float) -> None:
        """Only what belongs to a story; a decision's own events are told as the decision."""
        match event:
            case on.PodObserved(pod):
                what = f"bound to {pod.node}" if pod.node else "seen, pending"
                self._note(pod.uid, f"{what}, leaving" if pod.deleting else what, now)
            case on.PodDeleted(uid):
                self._note(uid, "gone", now)
            case on.PodBound(uid, node):
                self._note(uid, f"binding posted for {node}", now)
            case on.BindFailed(uid, certain):
                self._note(uid, "binding failed" if certain else "binding lost", now)
            case on.PodWoken(uid, reached):
                self._note(uid, "woken" if reached else "not woken", now)
            case on.PodEvicted(uid, outcome):
                self._note(uid, _EVICTED[outcome], now)
            case _:
                pass

    def _note(self, uid: PodUid, what: str, now: float) -> None:
        self._journal.note(uid, what, now=now)

    def drifted(self, drifts: list[Drift]) -> None:
        self._metrics.audits.inc()
        self._metrics.drift.set(len(drifts))
        for drift in drifts[:20]:
            self._log.error("audit drift", what=drift.what, expected=drift.expected, actual=drift.actual)
