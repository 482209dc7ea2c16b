"""Opening of gates of pods for which filter is not called. Each is charged from the request on (F-2)."""

from collections.abc import Iterable

from core.ledger import events as on
from core.ledger.admission.gate_status import end_opening
from core.ledger.admission.requests import request_cycle_at
from core.ledger.admission.turns import WAKES_APART, begin_lease, end_turn, end_waking, wake_again
from core.ledger.effects import OpenGate
from core.ledger.state.state import State
from core.ledger.touched import touch


def charge_opened(state: State, effects: Iterable[object]) -> None:
    """Turn the turns of pods whose gates are being opened into charges."""
    for effect in effects:
        record = state.pods.records.get(effect.uid) if isinstance(effect, OpenGate) else None
        if record is not None and record.admission.opening:
            touch(state, record)


def note_woken(state: State, event: on.PodWoken) -> None:
    """Note the outcome of a wake-up, or of the opening of a gate.

    A failed one is repeated a second later. So is one that no leader sent. A gate that may be open stays
    charged until the watch or another try tells more.
    """
    record = state.pods.records.get(event.uid)
    if record is not None:
        end_waking(record)
    if event.reached:
        begin_lease(state, event.uid)
        return
    again = state.now + WAKES_APART
    if record is not None and record.admission.opening:
        if event.certain:
            end_opening(record)
            touch(state, record)
        elif record.is_gated:
            wake_again(state, event.uid)
        request_cycle_at(state, again)
    elif end_turn(state, event.uid):
        request_cycle_at(state, again)
