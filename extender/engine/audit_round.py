"""Audit of a running ledger, in slices between calls."""

from collections.abc import Callable

from core.ledger.audit.drift import Drift
from core.ledger.ledger import Ledger
from extender.engine.outward import Witness


class AuditRound:
    """A complete audit. ``drifts``: the differences found so far."""

    def __init__(self, ledger: Ledger, witness: Witness) -> None:
        self._steps = ledger.audit_steps()
        self._witness = witness
        self.drifts: list[Drift] = []

    def slice(self, until: Callable[[], bool]) -> bool:
        """Continue until ``until()`` returns True. Returns True if the audit is complete."""
        for step in self._steps:
            self.drifts += step
            if until():
                return False
        self._witness.drifted(self.drifts)
        return True
