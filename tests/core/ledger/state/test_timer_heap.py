"""The timer heap: its order, changes while it is read, and the cost of reading."""

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from core.ids import AppId
from core.ledger.state.state import State
from core.ledger.state.timer_heap import (
    cancel_timer,
    is_any_set,
    is_due,
    next_timer,
    set_no_later,
    set_timer,
    take_due,
    timer_at,
    timers_of,
)
from core.ledger.state.timers import TimerKind

A, B, C = (AppId(name, "default") for name in "abc")
AppTimer = Literal[TimerKind.GANG, TimerKind.APPLICATION_STATE]
GANG, STATE = TimerKind.GANG, TimerKind.APPLICATION_STATE

keys = st.sampled_from([A, B, C])
kinds = st.sampled_from([GANG, STATE])
steps = st.one_of(
    st.tuples(st.just("set"), kinds, keys, st.integers(0, 9)),
    st.tuples(st.just("cancel"), kinds, keys, st.just(0)),
    st.tuples(st.just("take"), kinds, st.just(A), st.integers(0, 9)),
)


def test_timers_expire_in_the_order_of_their_times_then_of_their_keys() -> None:
    state = State(now=10.0)
    for key, when in ((C, 5.0), (B, 5.0), (A, 7.0)):
        set_timer(state, GANG, key, when)
    assert next_timer(state) == 5.0
    assert take_due(state, GANG) == [B, C, A]
    assert next_timer(state) is None


def test_timers_of_another_kind_stay_set() -> None:
    state = State(now=10.0)
    set_timer(state, STATE, A, 3.0)
    set_timer(state, GANG, A, 4.0)
    assert take_due(state, GANG) == [A]
    assert (next_timer(state), timer_at(state, STATE, A)) == (3.0, 3.0)


def test_what_is_not_due_yet_waits() -> None:
    state = State(now=10.0)
    set_timer(state, GANG, A, 11.0)
    assert (take_due(state, GANG), next_timer(state)) == ([], 11.0)


def test_a_timer_that_is_set_anew_expires_once_at_its_new_time() -> None:
    state = State(now=10.0)
    for when in (20.0, 5.0, 8.0):
        set_timer(state, GANG, A, when)
    assert next_timer(state) == 8.0
    assert (take_due(state, GANG), take_due(state, GANG)) == ([A], [])


def test_a_timer_that_is_to_expire_no_later_keeps_its_earlier_time() -> None:
    state = State(now=10.0)
    assert not is_any_set(state, GANG)
    for when, then in ((20.0, 20.0), (15.0, 15.0), (18.0, 15.0)):
        set_no_later(state, GANG, A, when)
        assert timer_at(state, GANG, A) == then
    assert (is_any_set(state, GANG), is_any_set(state, STATE)) == (True, False)
    cancel_timer(state, GANG, A)
    assert not is_any_set(state, GANG)


def test_timers_of_a_kind_are_those_that_are_set() -> None:
    state = State(now=10.0)
    for kind, key, when in ((GANG, A, 3.0), (GANG, A, 5.0), (GANG, B, 4.0), (STATE, C, 4.0)):
        set_timer(state, kind, key, when)
    cancel_timer(state, GANG, B)
    assert timers_of(state, GANG) == {A: 5.0}


def test_a_kind_that_stands_still_does_not_count() -> None:
    state = State(now=10.0)
    set_timer(state, STATE, A, 3.0)
    set_timer(state, GANG, A, 4.0)
    assert (next_timer(state, stopped={STATE}), next_timer(state, stopped={STATE, GANG})) == (4.0, None)


def test_a_timer_is_due_when_its_time_has_come_and_it_is_set() -> None:
    state = State(now=9.0)
    set_timer(state, GANG, A, 10.0)
    assert not is_due(state, GANG)
    state.now = 10.0
    assert (is_due(state, GANG), is_due(state, STATE)) == (True, False)
    cancel_timer(state, GANG, A)
    assert not is_due(state, GANG)


def test_void_entries_do_not_pile_up() -> None:
    state = State()
    for when in range(10_000):
        set_timer(state, GANG, A, float(10_000 + when))
        set_timer(state, GANG, B, 1.0)
    assert sum(len(heap) for heap in state.timers.heaps.values()) < 100


@given(st.lists(steps, max_size=60))
def test_the_heap_agrees_with_a_search_through_all_timers(
    taken: list[tuple[str, AppTimer, AppId, int]],
) -> None:
    state, known = State(), dict[tuple[TimerKind, AppId], float]()
    for what, kind, key, number in taken:
        match what:
            case "set":
                set_timer(state, kind, key, float(number))
                known[kind, key] = float(number)
            case "cancel":
                cancel_timer(state, kind, key)
                known.pop((kind, key), None)
            case _:
                state.now = float(number)
                due = sorted(
                    (when, each) for (of, each), when in known.items() if of is kind and when <= number
                )
                assert take_due(state, kind) == [each for _, each in due]
                for _, each in due:
                    del known[kind, each]
        assert next_timer(state) == min(known.values(), default=None)
