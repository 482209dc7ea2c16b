"""Back-off of applications whose asks no node takes (``application.unschedasks.backoff``, CYC-4)."""

from core.instants import has_come
from core.ledger.admission.requests import request_cycle_at, request_recheck
from core.ledger.state.state import State
from core.queues.queue import Queue
from core.workload.application import Application


def is_left_out(state: State, application: Application) -> bool:
    """True if a cycle skips an application in back-off. Requests the check at its end."""
    if not backs_off(state, application) or application.backs_off_until is None:
        return False
    request_recheck(state, application.backs_off_until)
    return True


def backs_off(state: State, application: Application) -> bool:
    """True while an application is in back-off."""
    until = application.backs_off_until
    return until is not None and not has_come(until, now=state.now)


def back_off(state: State, application: Application, leaf: Queue) -> None:
    """Begin the back-off of an application: its leaf allows no more asks that find no node."""
    application.backs_off_until = state.now + leaf.properties.unscheduled_delay
    request_cycle_at(state, application.backs_off_until)
