"""Times at which something about a pod group ends by itself."""

from collections.abc import Iterator

from core.ledger.podgroups.membership import has_turns, terms_of
from core.ledger.state.state import State
from core.workload.pod_group import PLACED, Group, wait_of
from core.workload.pod_group_phase import AttemptPhase


def wait_of_group(state: State, group: Group) -> float:
    terms = terms_of(state, group)
    own = terms.timeout if terms is not None else None
    return wait_of(group.there, deadline=state.config.settings.bind_deadline, own=own)


def moments_of(state: State) -> Iterator[float]:
    """When something ends by itself."""
    for key in state.podgroups.watched:
        group = state.podgroups.known[key]
        if group.attempts:
            yield deadline_of(state, group)
            if not is_coming(state, group):
                yield lease_end_of(state, group)
        if group.urgent and group.degraded_since is not None:
            yield group.degraded_since + wait_of_group(state, group)


def deadline_of(state: State, group: Group) -> float:
    if group.wait_until is not None:
        return group.wait_until
    return (group.attempt_since or 0.0) + wait_of_group(state, group)


def lease_end_of(state: State, group: Group) -> float:
    """While kube-scheduler works through others the members merely stand in its queue."""
    return max(group.leased, state.turns.asked_at) + state.config.settings.turn_lease


def is_coming(state: State, group: Group) -> bool:
    """Whether somebody has come, or needs no filter call; and somebody still holds anything."""
    if group.held > group.count(*PLACED):
        return True
    pending = has_turns(state, group)
    return bool(pending) and (
        group.attempt_phase is not AttemptPhase.CALLED
        or not all(state.pods.records[uid].facts.asks_filter for uid in pending)
    )
