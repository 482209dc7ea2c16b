"""Evictions on our own account: what the ledger keeps of how they ended (design section 4)."""

from core.ledger import events as on
from core.ledger.state import State


def note_eviction(state: State, event: on.PodEvicted) -> None:
    """How the last eviction of a pod ended; that it has begun is also seen by its deletionTimestamp."""
    record = state.pods.get(event.uid)
    if record is not None:
        record.eviction = event.outcome
