"""Gangs and slots to check: those that an event changed, and those whose timer expired."""

from collections.abc import Iterator

from core.ids import AppId, NodeName
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress


def touch_gang(state: State, app_id: AppId) -> None:
    """Have the ledger check the gang of an application before the event ends."""
    state.gangs.touched[app_id] = None


def take_touched_gangs(state: State) -> Iterator[AppId]:
    """Remove and return the applications whose gangs were touched. Those touched meanwhile come last."""
    while state.gangs.touched:
        app_id = next(iter(state.gangs.touched))
        del state.gangs.touched[app_id]
        yield app_id


def note_node(state: State, name: NodeName) -> None:
    """Have the open slots on a node checked with the next timers, because something on it has changed."""
    if name in state.gangs.slots:
        state.gangs.unchecked[name] = None


def take_unchecked_nodes(state: State) -> list[NodeName]:
    """Remove and return the nodes with slots on which something has changed."""
    found = list(state.gangs.unchecked)
    state.gangs.unchecked.clear()
    return found


def arm(state: State, application: Application, gang_progress: GangProgress | None) -> None:
    """Set the timer for the next check of a gang."""
    moment = gang_progress.due_next if gang_progress is not None else None
    if moment is None or state.applications.known.get(application.id) is not application:
        disarm(state, application.id)
    else:
        set_timer(state, TimerKind.GANG, application.id, moment)


def disarm(state: State, app_id: AppId) -> None:
    """Cancel the timer for the next check of a gang."""
    cancel_timer(state, TimerKind.GANG, app_id)


def gangs_whose_time_has_come(state: State) -> list[AppId]:
    """Applications whose gangs are to be checked now."""
    return take_due(state, TimerKind.GANG)
