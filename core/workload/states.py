"""States of an application, and the moves between them (APP-1, APP-2; Starting: SORT-8)."""

from collections.abc import Mapping
from enum import Enum, StrEnum


class AppState(StrEnum):
    """State of an application, by its name in REST."""

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
    """Event in the life of an application."""

    RUN = "run"
    START = "start"
    REJECT = "reject"
    COMPLETE = "complete"
    FAIL = "fail"
    END = "end"
    """By order of an administrator (ACT-20)."""
    RESUME = "resume"


STARTED = frozenset({AppState.STARTING, AppState.RUNNING})
"""States in which an application counts as running (QUO-13, APP-15)."""

ENDED = frozenset({AppState.COMPLETED, AppState.FAILED, AppState.REJECTED})

_NEXT: Mapping[tuple[AppState, Move], AppState] = {
    (AppState.NEW, Move.RUN): AppState.ACCEPTED,
    (AppState.RESUMING, Move.RUN): AppState.ACCEPTED,
    # Placed after all, by a later document; see the decisions.
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
    (AppState.NEW, Move.END): AppState.FAILING,
    (AppState.ACCEPTED, Move.END): AppState.FAILING,
    (AppState.STARTING, Move.END): AppState.FAILING,
    (AppState.RUNNING, Move.END): AppState.FAILING,
    (AppState.COMPLETING, Move.END): AppState.FAILING,
    (AppState.RESUMING, Move.END): AppState.FAILING,
    (AppState.NEW, Move.RESUME): AppState.RESUMING,
    (AppState.ACCEPTED, Move.RESUME): AppState.RESUMING,
}


def next_state(state: AppState, move: Move) -> AppState:
    """State to which a move leads. A move that is not listed leaves the state unchanged (APP-2)."""
    return _NEXT.get((state, move), state)
