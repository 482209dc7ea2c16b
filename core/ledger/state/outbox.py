"""The outbox: effects in the order in which they were asked for, until `Ledger.apply` hands them out."""

from collections.abc import Sequence

from core.ledger.effects import Effect
from core.ledger.state.state import State


def emit(state: State, *effects: Effect) -> None:
    """Ask for something to be done, behind what was asked for before."""
    state.outbox.extend(effects)


def emit_first(state: State, effects: Sequence[Effect]) -> None:
    """Ask for something to be done before what was asked for in the same event."""
    state.outbox[:0] = effects


def hand_out(state: State) -> tuple[Effect, ...]:
    """Everything asked for since the last time, in its order; the outbox is empty then."""
    if not state.outbox:
        return ()
    posted = tuple(state.outbox)
    state.outbox.clear()
    return posted
