"""The timer heap: one order (time, kind, key) for everything that ends by itself.

Timers are cancelled lazily: their entries stay in the heap, void, until they come first or are too many.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Literal, overload

from core.ids import AppId
from core.instants import has_come
from core.ledger.state.state import State
from core.ledger.state.timers import TimerKey, TimerKind

_VOID_AT_MOST = 64
"""Void entries beside the valid ones before the heap is built anew."""


def set_timer(state: State, kind: TimerKind, key: TimerKey, when: float) -> None:
    """Have a timer expire at ``when``, and at no other time. Cost: O(log n)."""
    timers = state.timers
    if timers.due.get((kind, key)) == when:
        return
    state.timers.due[kind, key] = when
    heappush(state.timers.heap, (when, kind, key))
    _tidy(state)


def cancel_timer(state: State, kind: TimerKind, key: TimerKey) -> None:
    """Forget a timer, if it is set."""
    if state.timers.due.pop((kind, key), None) is not None:
        _tidy(state)


def timer_at(state: State, kind: TimerKind, key: TimerKey) -> float | None:
    """Time at which a timer expires; None when it is not set."""
    return state.timers.due.get((kind, key))


def next_timer(state: State) -> float | None:
    """Time at which the first timer expires; None when none is set. Cost: O(1)."""
    return state.timers.heap[0][0] if state.timers.heap else None


@overload
def take_due(state: State, kind: Literal[TimerKind.USER_GROUPS]) -> list[str]: ...
@overload
def take_due(state: State, kind: Literal[TimerKind.GANG, TimerKind.APPLICATION_STATE]) -> list[AppId]: ...
def take_due(state: State, kind: TimerKind) -> Sequence[TimerKey]:
    """Keys of the timers of one kind that have expired, in the order of their times; they are set no more."""
    expired: list[TimerKey] = []
    others: list[tuple[float, TimerKind, TimerKey]] = []
    while state.timers.heap and has_come(state.timers.heap[0][0], now=state.now):
        entry = heappop(state.timers.heap)
        when, of, key = entry
        if state.timers.due.get((of, key)) != when:
            continue
        if of is kind:
            del state.timers.due[of, key]
            expired.append(key)
        else:
            others.append(entry)
    for entry in others:
        heappush(state.timers.heap, entry)
    _tidy(state)
    return expired


def _tidy(state: State) -> None:
    """Keep the first entry valid, and void ones few."""
    due = state.timers.due
    if len(state.timers.heap) > 2 * len(due) + _VOID_AT_MOST:
        state.timers.heap[:] = [(when, kind, key) for (kind, key), when in due.items()]
        heapify(state.timers.heap)
    while state.timers.heap and due.get(state.timers.heap[0][1:]) != state.timers.heap[0][0]:
        heappop(state.timers.heap)
