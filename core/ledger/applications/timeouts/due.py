"""Applications whose time-out is judged at the end of the current event, and the clock that counts."""

from core.ids import AppId
from core.ledger.state.state import State
from core.workload.timeouts.execution import ahead, behind


def judge_later(state: State, app_id: AppId) -> None:
    """Have the time-out of an application judged at the end of this event."""
    state.applications.untimed.add(app_id)


def judge_all_later(state: State) -> None:
    """Have all time-outs judged at the end of this event. Cost: O(applications)."""
    state.applications.untimed.update(state.applications.known)


def take_unjudged(state: State) -> list[AppId]:
    """Applications to judge, in a fixed order. They are noted no more."""
    found = sorted(state.applications.untimed)
    state.applications.untimed.clear()
    return found


def note_clock(state: State, skew: float) -> None:
    """Note by how many seconds the API server's clock is ahead of ours (ACT-45)."""
    state.clock_skew = skew
    judge_all_later(state)


def latest_now(state: State) -> float:
    """Present time by the clock that is ahead: a time that began now is never shorter than that (ACT-45)."""
    return state.now + ahead(state.clock_skew)


def held_back(state: State) -> float:
    """Seconds by which our own clock is ahead, and by which every end is put off (ACT-45)."""
    return behind(state.clock_skew)
