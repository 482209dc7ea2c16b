"""Nodes that are kept for one ask, and what is written onto it about that (design sections 3 and 4)."""

from core.ledger import events as on
from core.ledger.state import State


def note_written(state: State, event: on.NodeNominated | on.RecordWritten) -> None:
    """How a write ended."""
    record = state.pods.get(event.uid)
    if record is None:
        return
    match event:
        case on.NodeNominated(_, node, reached):
            if reached:
                record.nominated = node
        case on.RecordWritten():
            pass
