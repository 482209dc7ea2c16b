"""Leases of turns: when a turn that its ask has not used is over (DESIGN-3).

kube-scheduler tries refused asks one after the other. With many of them one round takes longer than a lease.
So a lease is not over while its ask may merely stand in kube-scheduler's queue.
"""

from collections.abc import Iterator

from core.ids import PodUid
from core.instants import has_come
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import Turn
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, is_due, set_timer, timer_at
from core.ledger.state.timers import TimerKind

CALLS_APART = 0.5
"""Seconds without a filter call after which kube-scheduler has no ask left to try."""

LONGEST_LEASE = 30.0
"""Upper bound of a lease, in seconds, while kube-scheduler is busy with other asks."""

LEASES_CHECKED = 0.1
"""Seconds between two checks of the lease of an ask that may still come."""

_LEASES = TimerKind.TURN, TimerKind.REFUSED_TURN


def time_lease(state: State, record: PodRecord) -> None:
    """Set the timer of a pod's turn, if it has one and its pod group does not count instead.

    Members of a group that is not open come together or not at all, so the group has the timer.
    """
    turn = state.turns.of.get(record.uid)
    if turn is None or (record.facts.pod_group is not None and unopened(state, record) is not None):
        cancel_lease(state, record.uid)
        return
    runs, other = _LEASES if not record.admission.refused else reversed(_LEASES)
    if (other, record.uid) in state.timers.due:
        cancel_timer(state, other, record.uid)
    set_timer(state, runs, record.uid, turn.at + state.config.settings.turn_lease)


def time_leases(state: State) -> None:
    """Set the timers of all turns anew, after a change of settings."""
    for uid in state.turns.of:
        time_lease(state, state.pods.records[uid])


def cancel_lease(state: State, uid: PodUid) -> None:
    """Cancel the timer of a pod's turn."""
    for kind in _LEASES:
        if (kind, uid) in state.timers.due:
            cancel_timer(state, kind, uid)


def stopped_leases(state: State) -> tuple[TimerKind, ...]:
    """Kinds of leases that do not end now.

    If every waiting ask has a turn or is fresh, a cycle would give the same turns again. Then only refused
    asks lose theirs, to be woken once more.
    """
    others_wait = len(state.pending.waits_at) > len(state.turns.of) + len(state.turns.fresh)
    return () if others_wait else (TimerKind.TURN,)


def overdue_leases(state: State) -> Iterator[PodRecord]:
    """Asks whose lease is over, in the order in which they got their turns."""
    stopped = stopped_leases(state)
    kinds = [kind for kind in _LEASES if kind not in stopped and is_due(state, kind)]
    for uid in state.turns.of if kinds else ():
        ends = (timer_at(state, kind, uid) for kind in kinds)
        is_over = any(end is not None and has_come(end, now=state.now) for end in ends)
        if is_over and uid not in state.turns.unwoken:
            record = state.pods.records[uid]
            if unopened(state, record) is not None:
                continue
            if may_still_come(state, state.turns.of[uid]):
                state.turns.checked_at = state.now
            else:
                yield record


def checks_held_back(state: State) -> dict[TimerKind, float]:
    """Time before which no lease is checked again, in seconds, by the kind of its timer."""
    return dict.fromkeys(_LEASES, state.turns.checked_at + LEASES_CHECKED)


# -- rounds of kube-scheduler -----------------------------------------------------------------------------


def note_called(state: State, record: PodRecord) -> None:
    """Note a filter call for an ask, and the time of the call for it before."""
    before = record.admission.called_at
    if before is not None:
        state.turns.came_round = max(state.turns.came_round, before)
    state.turns.asked_at = record.admission.called_at = state.now


def may_still_come(state: State, turn: Turn) -> bool:
    """True while an ask with a turn may merely stand in kube-scheduler's queue.

    kube-scheduler tries the ask first that it tried longest ago (CONTRACT-6.1). So another ask that was tried
    twice since the turn was given shows that this one had its chance. Cost: O(1).
    """
    turns, now = state.turns, state.now
    is_busy = not has_come(turns.asked_at + CALLS_APART, now=now)
    return is_busy and turns.came_round <= turn.at and not has_come(turn.at + LONGEST_LEASE, now=now)
