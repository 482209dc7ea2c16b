"""Applications that rest because no node takes their asks (``application.unschedasks.backoff``, CYC-4)."""

from core.instants import has_come
from core.ledger.admission.requests import request_cycle_at, request_recheck
from core.ledger.state.state import State
from core.queues.queue import Queue
from core.workload.application import Application


def is_left_out(state: State, application: Application) -> bool:
    """Whether a pass does not look at it, as it rests."""
    if not backs_off(state, application) or application.backs_off_until is None:
        return False
    request_recheck(state, application.backs_off_until)
    return True


def backs_off(state: State, application: Application) -> bool:
    """Whether it is not looked at now."""
    until = application.backs_off_until
    return until is not None and not has_come(until, now=state.now)


def back_off(state: State, application: Application, leaf: Queue) -> None:
    """Leave it out for a while: as many of its asks found no node as its leaf allows, and there are more."""
    application.backs_off_until = state.now + leaf.properties.unscheduled_delay
    request_cycle_at(state, application.backs_off_until)
