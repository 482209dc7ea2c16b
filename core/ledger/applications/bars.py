"""Bars of ended applications: ids whose pods wait until an order is over (ACT-22)."""

from core.instants import has_come
from core.ledger.state.state import State
from core.queues.placement.refusals import refusal_of_ended
from core.reasons import Refusal
from core.workload.application import Application
from core.workload.ending import Ending


def ending_of(state: State, application: Application) -> Ending | None:
    """Order to end an application of this id, or None."""
    return state.applications.endings.get(application.id._replace(recovered=False))


def refusal_of_bar(state: State, application: Application) -> Refusal | None:
    """Why the pending pods of an application wait while it is ended, or its id is barred. Else None."""
    ending = ending_of(state, application)
    is_barred = ending is not None and not has_come(ending.until, now=state.now)
    return refusal_of_ended(application.id) if application.ends or is_barred else None


def next_bar_end(state: State) -> float | None:
    """Time at which the first bar ends, or None."""
    ends = [each.until for each in state.applications.endings.values()]
    return min((each for each in ends if not has_come(each, now=state.now)), default=None)
