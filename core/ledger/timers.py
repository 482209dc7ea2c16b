"""When something in the ledger ends by itself: what `LedgerView.next_due` is the earliest of.

What is not in the timer heap yet (`core.ledger.state.timer_heap`) is searched for here.
"""

from collections.abc import Container, Iterator

from core.ledger.admission.turns import stopped_leases
from core.ledger.admission.unguarded import stopped_reports
from core.ledger.applications.rejection import marks_due
from core.ledger.podgroups.deadlines import leases_held_back
from core.ledger.state.state import State
from core.ledger.state.timer_heap import next_timer
from core.ledger.state.timers import TimerKind


def moments(state: State) -> Iterator[float | None]:
    """Every such moment. Cost: O(reservations and wake-ups under way)."""
    yield from (state.pods.records[uid].seen.provisional_until for uid in state.pods.provisional)
    yield from (
        (state.pods.records[uid].seen.doubted_until for uid in state.pods.doubted)
        if state.pods.caught_up
        else ()
    )
    yield from marks_due(state)
    held_back = {TimerKind.POD_GROUP_LEASE: leases_held_back(state)}
    yield next_timer(state, stopped=_stopped(state), held_back=held_back)
    yield from (state.applications.known[app_id].awaits_until for app_id in state.applications.unplaced)


def _stopped(state: State) -> Container[TimerKind]:
    """Kinds of timers that do not expire now."""
    quota_reclaim = () if state.config.quota_preempts else (TimerKind.QUOTA_RECLAIM,)
    return {*quota_reclaim, *stopped_leases(state), *stopped_reports(state)}
