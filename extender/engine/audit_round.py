"""The audit of a running ledger, in slices between the verbs."""

from collections.abc import Callable

from core.ledger.audit.drift import Drift
from core.ledger.ledger import Ledger
from extender.engine.outward import Witness


class AuditRound:
    """One audit of the running ledger, in slices between the verbs."""

    def __init__(self, ledger: Ledger, witness: Witness) -> None:
        self._steps = ledger.audit_steps()
        self._witness = witness
        self.drifts: list[Drift] = []

    def slice(self, until: Callable[[], bool]) -> bool:
        """Go on until ``until()`` says that the time is used up. True when the round is complete."""
        for step in self._steps:
            self.drifts += step
            if until():
                return False
        self._witness.drifted(self.drifts)
        return True
