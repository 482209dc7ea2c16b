"""Expiry of pod groups: attempts whose time is up, and groups that stay degraded."""

from core.instants import has_come
from core.ledger.admission.turns import end_turn
from core.ledger.podgroups.attempt import TIMED_OUT, back_off, fail, give_up, report_degraded
from core.ledger.podgroups.deadlines import leases_held_back, time_groups
from core.ledger.podgroups.membership import has_turns, retime_group
from core.ledger.state.state import State
from core.ledger.state.timer_heap import take_due
from core.ledger.state.timers import TimerKind
from core.ledger.touched import Rounds
from core.workload.pod_group import Group, short_back_off_of
from core.workload.pod_group_phase import AttemptPhase


def expire_groups(state: State) -> Rounds:
    """Handle the expired timers of pod groups."""
    # Changes just before this count, too.
    time_groups(state)
    overdue = {*take_due(state, TimerKind.POD_GROUP_ATTEMPT)}
    held_back = not has_come(leases_held_back(state), now=state.now)
    unused = set() if held_back else {*take_due(state, TimerKind.POD_GROUP_LEASE)}
    degraded = {*take_due(state, TimerKind.POD_GROUP_DEGRADED)}
    due = overdue | unused | degraded
    for key in [key for key in state.podgroups.watched if key in due] if due else ():
        group = state.podgroups.known[key]
        retime_group(state, key)
        if key in overdue or key in unused:
            _expire_attempt(state, group, overdue=key in overdue)
            yield
        if key in degraded:
            report_degraded(state, group)
    _drop_strays(state)


def _expire_attempt(state: State, group: Group, *, overdue: bool) -> None:
    if overdue and group.attempt_phase is not AttemptPhase.CALLED:
        give_up(state, group, TIMED_OUT)
        return
    if has_turns(state, group):
        group.ignored += 1
        back_off(state, group, short_back_off_of(group.ignored))
    fail(state, group, "none of its members came")


def _drop_strays(state: State) -> None:
    """Take back turns that an abandoned cycle gave to some members."""
    if state.cycle.running:
        return
    for uid in list(state.turns.of):
        record = state.pods.records[uid]
        group = state.podgroups.known.get(record.pod_group) if record.pod_group is not None else None
        if group is not None and not group.attempts and not group.open:
            end_turn(state, uid)
