"""Gangs to look at: those in which an event changed something, and those whose time comes."""

from collections.abc import Iterator

from core.ids import AppId
from core.instants import has_come
from core.ledger.state.state import State
from core.workload.application import Application
from core.workload.gangs.progress import Formation


def touch_gang(state: State, app_id: AppId) -> None:
    """Have the ledger look at the gang of an application before the event ends."""
    state.gangs.touched[app_id] = None


def take_touched_gangs(state: State) -> Iterator[AppId]:
    """Applications whose gangs were touched, each taken off; those touched meanwhile come last."""
    while state.gangs.touched:
        app_id = next(iter(state.gangs.touched))
        del state.gangs.touched[app_id]
        yield app_id


def arm(state: State, application: Application, formation: Formation | None) -> None:
    """Note when a gang is to be looked at again."""
    moment = formation.due_next if formation is not None else None
    if moment is None or state.applications.known.get(application.id) is not application:
        disarm(state, application.id)
    else:
        state.gangs.forming[application.id] = moment


def disarm(state: State, app_id: AppId) -> None:
    """Forget when the gang of an application was to be looked at again."""
    state.gangs.forming.pop(app_id, None)


def gangs_whose_time_has_come(state: State) -> list[AppId]:
    """Applications whose gangs are to be looked at now."""
    return sorted(each for each, at in state.gangs.forming.items() if has_come(at, now=state.now))
