"""Applications that rest because no node takes their asks (``application.unschedasks.backoff``, CYC-4)."""

from core.instants import earliest, has_come
from core.ledger.state import State
from core.queues.queue import Queue
from core.workload.application import Application


def backs_off(state: State, application: Application) -> bool:
    """Whether it is not looked at now."""
    until = application.backs_off_until
    return until is not None and not has_come(until, now=state.now)


def back_off(state: State, application: Application, leaf: Queue, *, unplaced: int, more: bool) -> bool:
    """Let it rest, if that many of its asks found no node in one pass and there are more to look at."""
    threshold = leaf.properties.unscheduled_backoff
    if not threshold or unplaced < threshold or not more:
        return False
    application.backs_off_until = state.now + leaf.properties.unscheduled_delay
    state.deferred = earliest(state.deferred, application.backs_off_until)
    return True
