"""Expiry of pod groups: attempts whose time is up, and groups that stay degraded."""

from core.instants import has_come
from core.ledger.admission.turns import end_turn
from core.ledger.podgroups.attempt import TIMED_OUT, back_off, fail, give_up, report_degraded
from core.ledger.podgroups.deadlines import deadline_of, is_coming, lease_end_of, wait_of_group
from core.ledger.podgroups.membership import has_turns
from core.ledger.state.state import State
from core.ledger.touched import Rounds
from core.workload.pod_group import Group, short_rest_of
from core.workload.pod_group_phase import AttemptPhase


def expire_groups(state: State) -> Rounds:
    """Attempts whose time is up, and groups that stayed degraded."""
    for key in list(state.podgroups.watched):
        group = state.podgroups.known[key]
        if group.attempts:
            _expire_attempt(state, group)
            yield
        if group.urgent and group.degraded_since is not None:
            due = group.degraded_since + wait_of_group(state, group)
            if has_come(due, now=state.now):
                report_degraded(state, group)
    _drop_strays(state)


def _expire_attempt(state: State, group: Group) -> None:
    due = has_come(deadline_of(state, group), now=state.now)
    if due and group.attempt_phase is not AttemptPhase.CALLED:
        give_up(state, group, TIMED_OUT)
    elif due or (not is_coming(state, group) and has_come(lease_end_of(state, group), now=state.now)):
        if has_turns(state, group):
            group.ignored += 1
            back_off(state, group, short_rest_of(group.ignored))
        fail(state, group, "none of its members came")


def _drop_strays(state: State) -> None:
    """Turns that a pass gave to some members before it was broken off."""
    if state.cycle.passing:
        return
    for uid in list(state.turns.of):
        record = state.pods.records[uid]
        group = state.podgroups.known.get(record.pod_group) if record.pod_group is not None else None
        if group is not None and not group.attempts and not group.open:
            end_turn(state, uid)
