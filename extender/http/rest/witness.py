"""Witness of the engine that also informs the REST interface."""

from collections.abc import Callable

from core.decisions.preemption.judging import Breach
from core.decisions.preemption.planning import Outcome
from core.decisions.preemption.receipts import Plan
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.pods.record import PodRecord
from extender.engine.outward import Witness
from extender.http.rest.service import RestService


class RestWitness:
    """Witness for both. ``inner``: counts and logs. ``rest()``: the REST interface."""

    def __init__(self, inner: Witness, rest: Callable[[], RestService]) -> None:
        self._inner = inner
        self._rest = rest

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None:
        """Pass on a decision."""
        self._inner.decided(verb, record, verdict, now=now)
        self._rest().decided(record, verdict, now=now)

    def learned(self, event: on.Event, *, now: float) -> None:
        """Pass on an event."""
        self._inner.learned(event, now=now)
        self._rest().learned(event, now=now)

    def drifted(self, drifts: list[Drift]) -> None:
        """Pass on the differences that an audit found."""
        self._inner.drifted(drifts)
        self._rest().drifted(drifts)

    def planned(self, outcome: Outcome, *, pod: str, how: str, now: float) -> None:
        """Pass on a plan."""
        self._inner.planned(outcome, pod=pod, how=how, now=now)
        self._rest().memory.planned(outcome, now=now)

    def breached(self, plan: Plan, breaches: tuple[Breach, ...], *, pod: str, now: float) -> None:
        """Pass on a plan that broke a law to ``inner`` only."""
        self._inner.breached(plan, breaches, pod=pod, now=now)
