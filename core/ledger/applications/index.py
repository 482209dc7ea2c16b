"""Index of applications: by namespace and id, by id alone, and those that are not placed yet."""

from core.ids import AppId
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.workload.application import Application

NAMESPACE_AWAITED = 5.0
"""Seconds that an application waits for the watch to show its namespace."""


def file_application(state: State, application: Application) -> None:
    """Add an application, which has no queue yet."""
    state.applications.known[application.id] = application
    state.applications.namesakes.setdefault(application.id.name, set()).add(application.id)
    note_unplaced(state, application)


def unfile_application(state: State, application: Application) -> None:
    """Drop an application that has ended."""
    note_placed(state, application)
    del state.applications.known[application.id]
    same = state.applications.namesakes[application.id.name]
    same.discard(application.id)
    if not same:
        del state.applications.namesakes[application.id.name]


def note_unplaced(state: State, application: Application) -> None:
    """Note that an application has no queue, or that its queue does not take its pending pods."""
    state.applications.unplaced.add(application.id)
    if application.awaits_until is not None:
        set_timer(state, TimerKind.NAMESPACE, application.id, application.awaits_until)


def note_placed(state: State, application: Application) -> None:
    """Note that an application has a queue that takes its pending pods."""
    state.applications.unplaced.discard(application.id)
    cancel_timer(state, TimerKind.NAMESPACE, application.id)


# -- waiting for a namespace -----------------------------------------------------------------------------


def end_namespace_wait(state: State, application: Application) -> None:
    """End the wait of an application for its namespace, which is known or did not come (NS-8)."""
    application.awaits_until = None
    cancel_timer(state, TimerKind.NAMESPACE, application.id)


def take_overdue(state: State) -> list[AppId]:
    """Applications whose namespace did not come in time. Each is returned again later unless it is placed."""
    overdue = sorted(take_due(state, TimerKind.NAMESPACE))
    for app_id in overdue:
        set_timer(state, TimerKind.NAMESPACE, app_id, state.now + NAMESPACE_AWAITED)
    return overdue
