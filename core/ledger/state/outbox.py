"""The outbox: effects in the order of their requests, until `Ledger.apply` hands them out."""

from collections.abc import Sequence

from core.ledger.effects import Effect
from core.ledger.state.state import State


def emit(state: State, *effects: Effect) -> None:
    """Request effects, behind those requested before."""
    state.outbox.extend(effects)


def emit_first(state: State, effects: Sequence[Effect]) -> None:
    """Request effects ahead of those requested in the same event."""
    state.outbox[:0] = effects


def hand_out(state: State) -> tuple[Effect, ...]:
    """Return the effects requested since the last call, in order, and empty the outbox."""
    if not state.outbox:
        return ()
    posted = tuple(state.outbox)
    state.outbox.clear()
    return posted
