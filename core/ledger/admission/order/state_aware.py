"""Turns in a ``stateaware`` leaf, where one application starts after the other (SORT-8)."""

from core.ledger.state.state import State
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.promises import NO_PROMISES
from core.workload.states import AppState


def state_in_turn(state: State, application: Application, leaf: Queue) -> AppState:
    """State of an application in the order. An Accepted one with a turn counts as Starting."""
    promises = state.turns.promised.get(leaf.path, NO_PROMISES)
    if application.state is AppState.ACCEPTED and application.id in promises.applications:
        return AppState.RUNNING if application.starts_at_once else AppState.STARTING
    return application.state


def lets_in(state: State, application: Application, leaf: Queue) -> bool:
    """True if a ``stateaware`` leaf allows turns of an application: one after the other starts (SORT-8)."""
    aware = leaf.properties.sort_policy is SortPolicy.STATE_AWARE
    if not aware or state_in_turn(state, application, leaf) is not AppState.ACCEPTED:
        return True
    others = (state.applications.known[each] for each in leaf.applications)
    return not any(state_in_turn(state, each, leaf) is AppState.STARTING for each in others)
