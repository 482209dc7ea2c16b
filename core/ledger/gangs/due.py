"""Gangs and slots to check: those in which an event changed something, and those whose time comes."""

from collections.abc import Iterator

from core.ids import AppId, NodeName
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress


def touch_gang(state: State, app_id: AppId) -> None:
    """Have the ledger look at the gang of an application before the event ends."""
    state.gangs.touched[app_id] = None


def take_touched_gangs(state: State) -> Iterator[AppId]:
    """Applications whose gangs were touched, each taken off; those touched meanwhile come last."""
    while state.gangs.touched:
        app_id = next(iter(state.gangs.touched))
        del state.gangs.touched[app_id]
        yield app_id


def note_node(state: State, name: NodeName) -> None:
    """Have the open slots on a node checked with the next timers: something on it has changed."""
    if name in state.gangs.slots:
        state.gangs.unchecked[name] = None


def take_unchecked_nodes(state: State) -> list[NodeName]:
    """Nodes with slots on which something has changed, all taken off."""
    found = list(state.gangs.unchecked)
    state.gangs.unchecked.clear()
    return found


def arm(state: State, application: Application, gang_progress: GangProgress | None) -> None:
    """Note when a gang is to be looked at again."""
    moment = gang_progress.due_next if gang_progress is not None else None
    if moment is None or state.applications.known.get(application.id) is not application:
        disarm(state, application.id)
    else:
        set_timer(state, TimerKind.GANG, application.id, moment)


def disarm(state: State, app_id: AppId) -> None:
    """Forget when the gang of an application was to be looked at again."""
    cancel_timer(state, TimerKind.GANG, app_id)


def gangs_whose_time_has_come(state: State) -> list[AppId]:
    """Applications whose gangs are to be looked at now."""
    return take_due(state, TimerKind.GANG)
