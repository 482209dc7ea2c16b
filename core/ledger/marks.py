"""Who was chosen as a victim, and for whom: marks on pods that change what they are charged (PRE-20)."""

from typing import assert_never

from core.ledger import events as on
from core.ledger.accounts import settle
from core.ledger.state import State

Mark = on.VictimMarked | on.VictimUnmarked | on.PreemptionTried | on.PreemptionTriggered | on.PreemptionUndone


def note_preemption(state: State, event: Mark) -> None:
    """Set or clear a mark; of a pod that is gone nothing is noted."""
    record = state.pods.get(event.uid)
    if record is None:
        return
    match event:
        case on.VictimMarked(_, preemptor):
            record.preempted_for = preemptor
        case on.VictimUnmarked():
            record.preempted_for = None
        case on.PreemptionTried():
            record.tried_at = state.now
        case on.PreemptionTriggered():
            record.triggered = True
        case on.PreemptionUndone():
            record.triggered = False
        case _:
            assert_never(event)
    settle(state, record)
