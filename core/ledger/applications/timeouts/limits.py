"""Time that an application may run, by its queues and its originator (ACT-40, ACT-46)."""

from core.ledger.state.state import State
from core.queues.queue import Queue
from core.workload.application import Application, generated_name
from core.workload.timeouts.execution import Execution, shortest


def limit_of(state: State, application: Application, execution: Execution) -> float | None:
    """Seconds that an application may run: the least of its originator and of every queue above.

    None for no limit. An id that was generated for a namespace never times out.
    """
    if is_without_end(application):
        return None
    return shortest(
        (execution.asked, *(each.properties.execution_timeout for each in _chain(state, application)))
    )


def is_without_end(application: Application) -> bool:
    """True for the one application of all pods of a namespace that name none (POD-4)."""
    return application.id.name == generated_name(application.id.namespace)


def bar_of(state: State, application: Application) -> float:
    """Seconds for which further pods of the id wait: of the nearest queue that says so, else 0."""
    found = (each.properties.execution_bar for each in _chain(state, application))
    return next((each for each in found if each is not None), 0.0)


def _chain(state: State, application: Application) -> tuple[Queue, ...]:
    leaf = state.config.tree.get(application.queue) if application.queue is not None else None
    return leaf.chain if leaf is not None else ()
