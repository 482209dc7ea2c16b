"""Witness of the engine that also informs the REST interface."""

from collections.abc import Sequence

from core.decisions.preemption.judging import Breach
from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import Plan
from core.ids import PodUid
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.pods.record import PodRecord
from extender.engine.outward import Witness
from extender.http.rest.reports import Reports


class RestWitness:
    """Witness for both. ``inner``: counts and logs.

    ``rest``: the REST interface's receiver of reports. It must be set before the engine learns anything.
    """

    def __init__(self, inner: Witness, rest: Reports | None = None) -> None:
        self._inner = inner
        self.rest = rest

    @property
    def _reports(self) -> Reports:
        assert self.rest is not None  # noqa: S101 - see the class
        return self.rest

    def settled(self, uids: Sequence[PodUid], now: float) -> None:
        """Pass on the pods whose charges may have changed to ``rest`` only."""
        self._reports.settled(uids, now)

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None:
        """Pass on a decision."""
        self._inner.decided(verb, record, verdict, now=now)
        self._reports.decided(record, verdict, now=now)

    def learned(self, event: on.Event, *, now: float) -> None:
        """Pass on an event."""
        self._inner.learned(event, now=now)
        self._reports.learned(event, now=now)

    def drifted(self, drifts: list[Drift]) -> None:
        """Pass on the differences that an audit found."""
        self._inner.drifted(drifts)
        self._reports.drifted(drifts)

    def planned(self, outcome: Outcome, *, pod: str, how: str, now: float) -> None:
        """Pass on a plan."""
        self._inner.planned(outcome, pod=pod, how=how, now=now)
        self._reports.memory.planned(outcome, now=now)

    def breached(self, plan: Plan, breaches: tuple[Breach, ...], *, pod: str, now: float) -> None:
        """Pass on a plan that broke a law to ``inner`` only."""
        self._inner.breached(plan, breaches, pod=pod, now=now)
