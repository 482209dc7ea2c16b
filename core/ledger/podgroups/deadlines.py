"""Times at which something about a pod group ends by itself, and their timers.

The timers of a group are set anew at the end of each event that changed anything about it (`time_groups`).
"""

from core.ledger.podgroups.membership import has_turns, retime_group, take_untimed_groups, terms_of
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer
from core.ledger.state.timers import TimerKind
from core.workload.pod_group import PLACED, Group, GroupKey, wait_of
from core.workload.pod_group_phase import AttemptPhase


def time_groups(state: State) -> None:
    """Set the timers of the groups about which anything has changed."""
    for key in take_untimed_groups(state):
        group = state.podgroups.known.get(key)
        for kind, moment in (
            (TimerKind.POD_GROUP_ATTEMPT, deadline_of(state, group)),
            (TimerKind.POD_GROUP_LEASE, lease_end_of(state, group)),
            (TimerKind.POD_GROUP_DEGRADED, degraded_until(state, group)),
        ):
            _set(state, kind, key, moment)


def _set(state: State, kind: TimerKind, key: GroupKey, moment: float | None) -> None:
    if moment is None:
        cancel_timer(state, kind, key)
    else:
        set_timer(state, kind, key, moment)


def retime_all_groups(state: State) -> None:
    """Have all timers of groups set anew, because a setting has changed."""
    for key in state.podgroups.watched:
        retime_group(state, key)


def leases_held_back(state: State) -> float:
    """Time before which no lease of a group ends, in seconds.

    While kube-scheduler works through other pods, the members merely stand in its queue.
    """
    return state.turns.asked_at + state.config.settings.turn_lease


def deadline_of(state: State, group: Group | None) -> float | None:
    """Time at which the attempt of a group is given up, in seconds. None without an attempt."""
    if group is None or not group.attempts:
        return None
    if group.wait_until is not None:
        return group.wait_until
    return (group.attempt_since or 0.0) + wait_of_group(state, group)


def lease_end_of(state: State, group: Group | None) -> float | None:
    """End of a group's leases, in seconds, unless `leases_held_back` is later.

    None without an attempt, and while members come.
    """
    if group is None or not group.attempts or _is_coming(state, group):
        return None
    return group.leased + state.config.settings.turn_lease


def degraded_until(state: State, group: Group | None) -> float | None:
    """Time at which a degraded group is reported, in seconds. None for any other group."""
    if group is None or not group.urgent or group.degraded_since is None:
        return None
    return group.degraded_since + wait_of_group(state, group)


def wait_of_group(state: State, group: Group) -> float:
    """Seconds that members of a group wait for the others."""
    terms = terms_of(state, group)
    own = terms.timeout if terms is not None else None
    return wait_of(group.there, deadline=state.config.settings.bind_deadline, own=own)


def _is_coming(state: State, group: Group) -> bool:
    """True if a member has come, or needs no filter call, and members still hold anything."""
    if group.held > group.count(*PLACED):
        return True
    pending = has_turns(state, group)
    return bool(pending) and (
        group.attempt_phase is not AttemptPhase.CALLED
        or not all(state.pods.records[uid].facts.asks_filter for uid in pending)
    )
