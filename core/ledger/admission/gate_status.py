"""Reports to pods at Paddock's own gate: the condition `ADMITTED` (DESIGN-6).

Their condition PodScheduled stays SchedulingGated and belongs to kube-scheduler.
"""

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.answers import note_held
from core.ledger.effects import SetCondition
from core.ledger.pods.record import GateHold, PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, is_due, set_timer
from core.ledger.state.timers import TimerKind
from core.workload.pod import ADMITTED

OPENED = "its turn has come"


LONG_HOLD = 60.0
"""Seconds for which a reason must have held a gate shut for an Event to say so (E5)."""

REPORTED_AT_ONCE = 20
"""Pods that get such an Event at once, at most: anybody may create thousands."""

LONG_HELD = "WaitsAtGate"
"""Reason of that Event."""


def report_hold(state: State, record: PodRecord, held: on.GateHeld) -> None:
    """Write why a pod waits, unless its condition says the same already."""
    if not record.is_gated or record.admission.opening or record.uid in state.turns.of:
        return
    sent, hold = held.sent, record.admission.hold
    if hold is None or hold.reason is not held.reason:
        _begin_hold(state, record, held)
    note_held(record, sent)
    if sent.text not in (record.admission.gate_reported, record.facts.gate_reported):
        _write(state, record, False, sent.code.value, sent.text)
    record.admission.gate_reported = sent.text


def _begin_hold(state: State, record: PodRecord, held: on.GateHeld) -> None:
    """Note since when a reason holds. Without a sentence there will be no Event, and so no timer."""
    record.admission.hold = GateHold(held.reason, state.now + LONG_HOLD, held.why)
    if held.why:
        set_timer(state, TimerKind.LONG_HOLD, record.uid, state.now + LONG_HOLD)
    else:
        cancel_timer(state, TimerKind.LONG_HOLD, record.uid)


def end_hold(state: State, record: PodRecord) -> None:
    """Forget since when a gate is shut: it is open, or the pod does not wait there any more."""
    if record.admission.hold is not None:
        record.admission.hold = None
        cancel_timer(state, TimerKind.LONG_HOLD, record.uid)


def long_hold_due(record: PodRecord) -> float | None:
    """Time at which an Event says why a gate is shut; None if none will, or one has."""
    hold = record.admission.hold
    return hold.due if hold is not None and hold.why else None


def report_long_holds(state: State) -> None:
    """Post an Event for each gate whose reason has held for a minute; some at a time."""
    if TimerKind.LONG_HOLD in stopped_holds(state):
        return
    for _ in range(REPORTED_AT_ONCE):
        if not is_due(state, TimerKind.LONG_HOLD):
            return
        uid = PodUid(str(state.timers.heaps[TimerKind.LONG_HOLD][0][1]))
        cancel_timer(state, TimerKind.LONG_HOLD, uid)
        record = state.pods.records[uid]
        hold = record.admission.hold
        if hold is not None:
            record.admission.hold = hold._replace(why="")
            post(state, record, LONG_HELD, f"waits at the gate: {hold.why} ({hold.reason})", warning=False)


def stopped_holds(state: State) -> tuple[TimerKind, ...]:
    """The kind of these timers, while this instance does not act: another one reports."""
    return () if state.acts else (TimerKind.LONG_HOLD,)


def forget_report(record: PodRecord) -> None:
    """Note that the condition of a pod was not written."""
    record.admission.gate_reported = ""


def report_opened(state: State, record: PodRecord) -> None:
    """Write that the gate of a pod is being opened, if a reason was written before."""
    end_hold(state, record)
    if record.admission.gate_reported or record.facts.gate_reported:
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
