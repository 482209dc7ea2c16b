"""The states of an application and what leads from one to the next (APP-1, APP-2; Starting: SORT-8)."""

from collections.abc import Mapping
from enum import Enum, StrEnum


class AppState(StrEnum):
    """As REST shows them."""

    NEW = "New"
    ACCEPTED = "Accepted"
    STARTING = "Starting"
    RUNNING = "Running"
    COMPLETING = "Completing"
    COMPLETED = "Completed"
    FAILING = "Failing"
    FAILED = "Failed"
    REJECTED = "Rejected"
    RESUMING = "Resuming"


class Move(Enum):
    """What happens to an application."""

    RUN = "run"
    START = "start"
    REJECT = "reject"
    COMPLETE = "complete"
    FAIL = "fail"
    RESUME = "resume"


STARTED = frozenset({AppState.STARTING, AppState.RUNNING})
"""Something of it was placed: it counts as one of those that run (QUO-13, APP-15)."""

ENDED = frozenset({AppState.COMPLETED, AppState.FAILED, AppState.REJECTED})

_NEXT: Mapping[tuple[AppState, Move], AppState] = {
    (AppState.NEW, Move.RUN): AppState.ACCEPTED,
    (AppState.RESUMING, Move.RUN): AppState.ACCEPTED,
    # Placed after all, by a document that came later: see the Decisions.
    (AppState.REJECTED, Move.RUN): AppState.ACCEPTED,
    (AppState.ACCEPTED, Move.RUN): AppState.RUNNING,
    (AppState.STARTING, Move.RUN): AppState.RUNNING,
    (AppState.COMPLETING, Move.RUN): AppState.RUNNING,
    (AppState.ACCEPTED, Move.START): AppState.STARTING,
    (AppState.NEW, Move.REJECT): AppState.REJECTED,
    (AppState.ACCEPTED, Move.COMPLETE): AppState.COMPLETING,
    (AppState.STARTING, Move.COMPLETE): AppState.COMPLETING,
    (AppState.RUNNING, Move.COMPLETE): AppState.COMPLETING,
    (AppState.COMPLETING, Move.COMPLETE): AppState.COMPLETED,
    (AppState.NEW, Move.FAIL): AppState.FAILING,
    (AppState.ACCEPTED, Move.FAIL): AppState.FAILING,
    (AppState.STARTING, Move.FAIL): AppState.FAILING,
    (AppState.RUNNING, Move.FAIL): AppState.FAILING,
    (AppState.FAILING, Move.FAIL): AppState.FAILED,
    (AppState.NEW, Move.RESUME): AppState.RESUMING,
    (AppState.ACCEPTED, Move.RESUME): AppState.RESUMING,
}


def next_state(state: AppState, move: Move) -> AppState:
    """Where a move leads; every move that is not listed leaves the application where it is (APP-2)."""
    return _NEXT.get((state, move), state)
