"""Reports to pods at Paddock's own gate: the condition `ADMITTED` (DESIGN-6).

Their condition PodScheduled stays SchedulingGated and belongs to kube-scheduler.
"""

from collections.abc import Iterator

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.answers import note_held
from core.ledger.effects import SetCondition
from core.ledger.pods.parts import GateHold
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, is_due, set_timer
from core.ledger.state.timers import TimerKind
from core.workload.pod import ADMITTED

OPENED = "its turn has come"

WRITTEN_AFTER = 2.0
"""Seconds for which a pod must have waited for its condition to be written, first and after each change.

Most pods of a burst are let in before that, and a write would cost more than their whole admission.
"""

WRITTEN_AGAIN = 30.0
"""Seconds until a condition is written again whose write failed, perhaps for want of a right."""

LONG_HOLD = 60.0
"""Seconds for which a reason must have held a gate shut for an Event to say so (E5)."""

REPORTED_AT_ONCE = 20
"""Conditions, and such Events, that are written at once, at most: anybody may create thousands of pods."""

LONG_HELD = "WaitsAtGate"
"""Reason of that Event."""


def report_hold(state: State, record: PodRecord, held: on.GateHeld) -> None:
    """Note why a pod waits, and have its condition written unless it says the same already."""
    if not record.is_gated or record.admission.opening or record.uid in state.turns.of:
        return
    hold = record.admission.hold
    if hold is None or hold.reason is not held.reason:
        _begin_hold(state, record, held)
    note_held(record, held.sent)
    if held.sent.text != record.admission.gate_reported and record.admission.condition_due is None:
        _write_later(state, record, WRITTEN_AFTER)


def _begin_hold(state: State, record: PodRecord, held: on.GateHeld) -> None:
    """Note since when a reason holds. Without a sentence there will be no Event, and so no timer."""
    why = "" if held.reason in record.admission.long_held else held.why
    record.admission.hold = GateHold(held.reason, state.now + LONG_HOLD, why)
    if why:
        set_timer(state, TimerKind.LONG_HOLD, record.uid, state.now + LONG_HOLD)
    else:
        cancel_timer(state, TimerKind.LONG_HOLD, record.uid)


def _write_later(state: State, record: PodRecord, seconds: float) -> None:
    record.admission.condition_due = state.now + seconds
    set_timer(state, TimerKind.GATE_CONDITION, record.uid, state.now + seconds)


def _written(record: PodRecord) -> str:
    """Text that the condition of a pod has, or will have when a write is answered; empty for none."""
    return record.admission.gate_reported or record.facts.gate_reported


def end_hold(state: State, record: PodRecord) -> None:
    """Forget since when a gate is shut: it is open, or the pod does not wait there any more."""
    if record.admission.condition_due is not None:
        record.admission.condition_due = None
        cancel_timer(state, TimerKind.GATE_CONDITION, record.uid)
    if record.admission.hold is not None:
        record.admission.hold = None
        cancel_timer(state, TimerKind.LONG_HOLD, record.uid)


def long_hold_due(record: PodRecord) -> float | None:
    """Time at which an Event says why a gate is shut; None if none will, or one has."""
    hold = record.admission.hold
    return hold.due if hold is not None and hold.why else None


def report_holds(state: State) -> None:
    """Write the conditions and post the Events about shut gates that are due; some at a time."""
    if not state.acts:
        return
    for record in _take_some(state, TimerKind.GATE_CONDITION):
        sent = record.admission.sent
        record.admission.condition_due = None
        if sent is not None and sent.text != _written(record):
            record.admission.gate_reported = sent.text
            _write(state, record, False, sent.code.value, sent.text)
    for record in _take_some(state, TimerKind.LONG_HOLD):
        hold = record.admission.hold
        if hold is not None:
            record.admission.hold = hold._replace(why="")
            record.admission.long_held |= {hold.reason}
            post(state, record, LONG_HELD, f"waits at the gate: {hold.why}", warning=False)


def _take_some(state: State, kind: TimerKind) -> Iterator[PodRecord]:
    """Cancel the first timers of one kind that have expired, and return their pods."""
    for _ in range(REPORTED_AT_ONCE):
        if not is_due(state, kind):
            return
        uid = PodUid(str(state.timers.heaps[kind][0][1]))
        cancel_timer(state, kind, uid)
        yield state.pods.records[uid]


def stopped_holds(state: State) -> tuple[TimerKind, ...]:
    """Kinds of these timers, while this instance does not act: another one reports."""
    return () if state.acts else (TimerKind.GATE_CONDITION, TimerKind.LONG_HOLD)


def note_unwritten(state: State, record: PodRecord) -> None:
    """Note that the condition of a pod was not written, and have it written again if the pod still waits."""
    record.admission.gate_reported = ""
    if record.admission.hold is not None:
        _write_later(state, record, WRITTEN_AGAIN)


def report_opened(state: State, record: PodRecord) -> None:
    """Write that the gate of a pod is being opened, if a reason was written before."""
    end_hold(state, record)
    if _written(record):
        record.admission.gate_reported = ""
        _write(state, record, True, "Admitted", OPENED)


def begin_opening(record: PodRecord) -> None:
    """Note that the removal of a gate is requested. From now on the gate may be open (F-2)."""
    record.admission.opening = True


def end_opening(record: PodRecord) -> None:
    """Note that the removal of a gate was seen, or was refused."""
    record.admission.opening = False


def _write(state: State, record: PodRecord, status: bool, reason: str, message: str) -> None:
    facts = record.facts
    emit(state, SetCondition(facts.uid, facts.namespace, facts.name, ADMITTED, status, reason, message))
