"""Time of the ledger's next timer, without those that are stopped."""

from collections.abc import Container

from core.ledger.admission.gate_status import stopped_holds
from core.ledger.admission.leases import checks_held_back, stopped_leases
from core.ledger.admission.unguarded import stopped_reports
from core.ledger.podgroups.deadlines import leases_held_back
from core.ledger.state.state import State
from core.ledger.state.timer_heap import next_timer
from core.ledger.state.timers import TimerKind


def next_due(state: State) -> float | None:
    """Time at which `TimePassed` has something to do next. None if nothing ends by itself."""
    held_back = {TimerKind.POD_GROUP_LEASE: leases_held_back(state), **checks_held_back(state)}
    return next_timer(state, stopped=_stopped(state), held_back=held_back)


def _stopped(state: State) -> Container[TimerKind]:
    """Kinds of timers that do not expire now."""
    quota_reclaim = () if state.config.quota_preempts else (TimerKind.QUOTA_RECLAIM,)
    doubt = () if state.pods.caught_up else (TimerKind.DOUBT,)
    reports = (*stopped_reports(state), *stopped_holds(state))
    return {*quota_reclaim, *doubt, *stopped_leases(state), *reports}
