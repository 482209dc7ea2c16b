"""The timer heap: one place for every expiry, by (time, key) within each kind.

Timers are cancelled lazily. A void entry stays in its heap until it comes first or void entries are too many.
Each kind has a heap of its own, because some kinds stop at times.
"""

from collections.abc import Container, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Literal, overload

from core.ids import AppId, PodUid
from core.instants import has_come
from core.ledger.state.state import State
from core.ledger.state.timers import TimerKey, TimerKind
from core.workload.pod_group import GroupKey

_VOID_AT_MOST = 64
"""Void entries beside the valid ones before a heap is rebuilt."""


def set_timer(state: State, kind: TimerKind, key: TimerKey, when: float) -> None:
    """Set a timer to expire at ``when``, and at no other time. Cost: O(log n)."""
    due, timer = state.timers.due, (kind, key)
    known = due.get(timer)
    if known == when:
        return
    due[timer] = when
    heap = state.timers.heaps.setdefault(kind, [])
    heappush(heap, (when, key))
    # The entry for the former time is void now, which matters where it comes first.
    if known is not None and (heap[0][1] == key or len(heap) > 2 * len(due) + _VOID_AT_MOST):
        _tidy(state, kind)


def set_no_later(state: State, kind: TimerKind, key: TimerKey, when: float) -> None:
    """Set a timer to expire at ``when``, unless it expires earlier."""
    current = state.timers.due.get((kind, key))
    if current is None or when < current:
        set_timer(state, kind, key, when)


def cancel_timer(state: State, kind: TimerKind, key: TimerKey) -> None:
    """Cancel a timer, if it is set."""
    due = state.timers.due
    if due.pop((kind, key), None) is None:
        return
    heap = state.timers.heaps[kind]
    if heap[0][1] == key or len(heap) > 2 * len(due) + _VOID_AT_MOST:
        _tidy(state, kind)


def timer_at(state: State, kind: TimerKind, key: TimerKey) -> float | None:
    """Time at which a timer expires, or None if it is not set."""
    return state.timers.due.get((kind, key))


def is_any_set(state: State, kind: TimerKind) -> bool:
    """True if a timer of one kind is set. Cost: O(1)."""
    return bool(state.timers.heaps.get(kind))


def timers_of(state: State, kind: TimerKind) -> dict[TimerKey, float]:
    """Times of the timers of one kind, by key. Cost: O(timers of that kind)."""
    due = state.timers.due
    return {key: when for when, key in state.timers.heaps.get(kind, ()) if due.get((kind, key)) == when}


def next_timer(
    state: State,
    *,
    stopped: Container[TimerKind] = (),
    held_back: Mapping[TimerKind, float] | None = None,
) -> float | None:
    """Time at which the first timer expires, or None if none is set. Cost: O(1).

    ``stopped``: kinds of timers that do not expire now. ``held_back``: time before which no timer of a kind
    expires, in seconds.
    """
    floors = held_back or {}
    first = ((kind, heap[0][0]) for kind, heap in state.timers.heaps.items() if heap and kind not in stopped)
    return min((max(when, floors.get(kind, when)) for kind, when in first), default=None)


def is_due(state: State, kind: TimerKind) -> bool:
    """True if a timer of one kind has expired. Cost: O(1)."""
    heap = state.timers.heaps.get(kind)
    return heap is not None and bool(heap) and has_come(heap[0][0], now=state.now)


@overload
def take_due(
    state: State,
    kind: Literal[
        TimerKind.USER_GROUPS,
        TimerKind.CYCLE,
        TimerKind.ATTEMPT,
        TimerKind.AGE,
        TimerKind.QUEUE_OPENS,
        TimerKind.BAR_ENDS,
    ],
) -> list[str]: ...
@overload
def take_due(state: State, kind: Literal[TimerKind.OFFER, TimerKind.NODE_RESERVATION]) -> list[PodUid]: ...
@overload
def take_due(
    state: State,
    kind: Literal[
        TimerKind.GANG,
        TimerKind.APPLICATION_STATE,
        TimerKind.NAMESPACE,
        TimerKind.MOVE,
        TimerKind.EXECUTION,
    ],
) -> list[AppId]: ...
@overload
def take_due(state: State, kind: Literal[TimerKind.RESERVATION, TimerKind.GANG_SLOT]) -> list[PodUid]: ...
@overload
def take_due(
    state: State,
    kind: Literal[TimerKind.POD_GROUP_ATTEMPT, TimerKind.POD_GROUP_LEASE, TimerKind.POD_GROUP_DEGRADED],
) -> list[GroupKey]: ...
@overload
def take_due(
    state: State, kind: Literal[TimerKind.DOUBT, TimerKind.REJECTION, TimerKind.ENDING]
) -> list[PodUid]: ...
def take_due(state: State, kind: TimerKind) -> Sequence[TimerKey]:
    """Remove the expired timers of one kind, and return their keys in the order of their times."""
    expired: list[TimerKey] = []
    heap = state.timers.heaps.get(kind, [])
    while heap and has_come(heap[0][0], now=state.now):
        _, key = heappop(heap)
        del state.timers.due[kind, key]
        expired.append(key)
        _tidy(state, kind)
    return expired


def _tidy(state: State, kind: TimerKind) -> None:
    """Make the first entry valid, and rebuild the heap if void entries are many."""
    due, heap = state.timers.due, state.timers.heaps[kind]
    if len(heap) > 2 * len(due) + _VOID_AT_MOST:
        heap[:] = [(when, key) for (of, key), when in due.items() if of is kind]
        heapify(heap)
    while heap and due.get((kind, heap[0][1])) != heap[0][0]:
        heappop(heap)
