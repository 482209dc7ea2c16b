"""Store of the past: what stays, what becomes coarser, and what is dropped."""

from collections.abc import Callable

import pytest

from core.ids import QueuePath
from extender.rest.history.past import Past
from extender.rest.history.rows import MOST_RESOURCES, Rows
from extender.rest.history.series import full_size
from extender.rest.history.spans import DAY, FINEST, PLANS
from tests.extender.rest.history.past_rows import Amounts, asked, make_row, make_rows, record, shown
from tests.extender.rest.moment.steps import most_of

ONE: Amounts = (1, 2, 3, 4)
DAY_SECONDS = 24 * 3600
ROW = make_row({"vcore": ONE}).size


def flat(count: int, *, first: int = 0, amounts: Amounts = ONE) -> Rows:
    return make_rows({f"root.q{first + at:04}": {"vcore": amounts} for at in range(count)})


def bytes_for(series: int, plan: int) -> int:
    """Bytes for so many queues with one resource each, by a plan."""
    return series * (full_size(PLANS[plan]) + ROW)


@pytest.mark.rule("REST-50")
def test_all_four_amounts_come_back() -> None:
    past = Past()
    record(past, 100, make_rows({"root.a": {"vcore": (5, 6, None, 8), "gpu": (0, 0, 0, None)}}))
    record(past, 101, make_rows({"root.a": {"vcore": (6, 0, 7, None), "gpu": (1, 0, 0, None)}}))
    assert shown(past, "root.a", "vcore", seconds=60, tick=101) == {
        100: (5, 6, None, 8),
        101: (6, 0, 7, None),
    }
    assert shown(past, "root.a", "gpu", seconds=60, tick=101) == {100: (0, 0, 0, None), 101: (1, 0, 0, None)}


@pytest.mark.rule("REST-50")
def test_a_resource_that_is_neither_used_nor_limited_any_more_is_zero_and_forgotten_after_a_day() -> None:
    past = Past()
    record(past, 100, make_rows({"root.a": {"gpu": ONE}}))
    idle = make_rows({"root.a": {}})
    for tick in range(101, 101 + DAY):
        record(past, tick, idle)
    found = shown(past, "root.a", "gpu", seconds=30, tick=100 + DAY)
    assert found == {99 + DAY: (0, 0, None, None), 100 + DAY: (0, 0, None, None)}
    record(past, 101 + DAY, idle)
    assert asked(past, tick=101 + DAY)["resources"] == {}
    assert past.figures.series == past.figures.dropped == 0


@pytest.mark.rule("REST-50")
def test_a_removed_queue_is_remembered_for_a_day_and_has_gaps_in_between() -> None:
    past = Past()
    record(past, 100, flat(2))
    record(past, 101, flat(1))
    record(past, 104, flat(2))
    assert set(shown(past, "root.q0001", "vcore", seconds=3600, tick=104)) == {100, 104}
    left = flat(1)
    for tick in range(105, 105 + DAY + 25):
        record(past, tick, left)
    assert not past.of(QueuePath("root.q0001"))
    assert past.figures.series == 1
    assert past.figures.dropped == 0


@pytest.mark.rule("REST-50")
def test_the_longest_span_becomes_coarser_first_and_finer_again() -> None:
    past = Past()
    for tick in range(1000, 1100):
        record(past, tick, flat(10), bound=bytes_for(10, 0))
    assert past.figures.plan == FINEST
    record(past, 1100, flat(11), bound=bytes_for(10, 0))
    assert past.figures.plan == PLANS[1]
    found = asked(past, "root.q0000", seconds=DAY_SECONDS, tick=1100)
    assert (found["step"], found["thinned"]) == (600 * 10**9, True)
    assert set(shown(past, "root.q0000", "vcore", seconds=DAY_SECONDS, tick=1100)) == {1000, 1040, 1080}
    assert "thinned" not in asked(past, "root.q0000", seconds=6 * 3600, tick=1100)
    # A little less is no reason for a change. Much less is.
    record(past, 1101, flat(10), bound=bytes_for(10, 0))
    assert past.figures.plan == PLANS[1]
    record(past, 1140, flat(3), bound=bytes_for(10, 0))
    assert past.figures.plan == FINEST
    record(past, 1160, flat(3), bound=bytes_for(10, 0))
    assert set(shown(past, "root.q0000", "vcore", seconds=DAY_SECONDS, tick=1160)) == {
        *(1000, 1040, 1080, 1100, 1140, 1160)
    } - {1100}


@pytest.mark.parametrize("plan", range(len(PLANS)))
@pytest.mark.rule("REST-50")
def test_each_plan_comes_when_the_one_before_it_does_not_fit(plan: int) -> None:
    past = Past()
    record(past, 1000, flat(20), bound=bytes_for(20, plan))
    assert past.figures.plan == PLANS[plan]
    assert past.figures.unrecorded == 0
    record(past, 1001, flat(20), bound=bytes_for(20, plan) - 1)
    assert past.figures.plan == PLANS[min(plan + 1, len(PLANS) - 1)]
    assert past.figures.unrecorded == (plan == len(PLANS) - 1)


@pytest.mark.rule("REST-45", "REST-50")
@pytest.mark.parametrize("plan", [0, len(PLANS) - 1])
def test_no_step_is_long_for_a_queue_with_as_many_resources_as_are_recorded(plan: int) -> None:
    """10,000 lines and calls of Python take less than a millisecond."""
    past, rows = Past(), make_rows({"root.a": {f"r{at:02}": ONE for at in range(MOST_RESOURCES)}})
    for tick in range(1000, 1300):
        record(past, tick, rows)
    bound = rows[QueuePath("root.a")].size + MOST_RESOURCES * full_size(PLANS[plan])
    assert most_of(past.record(1300, rows, bound=bound)) <= 10_000
    assert (past.figures.plan, past.figures.series) == (PLANS[plan], MOST_RESOURCES)


@pytest.mark.rule("REST-50")
def test_beyond_the_last_plan_removed_queues_go_oldest_first_and_then_new_ones_are_left_out() -> None:
    # Room for 19 live queues, and for what is left of one that was removed early.
    past, bound = Past(), bytes_for(19, len(PLANS) - 1) + 2000
    old = flat(1, first=500)
    older = flat(1, first=600)
    record(past, 1000, {**older, **old}, bound=bound)
    record(past, 1001, old, bound=bound)
    record(past, 1002, flat(19), bound=bound)
    assert (past.figures.dropped, past.figures.unrecorded) == (1, 0)
    assert past.of(QueuePath("root.q0500"))
    assert not past.of(QueuePath("root.q0600"))
    record(past, 1003, flat(25), bound=bound + 6 * ROW)
    assert (past.figures.dropped, past.figures.unrecorded, past.figures.series) == (2, 6, 19)
    # Queues that are recorded stay so, although others come before them.
    record(past, 1004, {**flat(3, first=900), **flat(19)}, bound=bound + 3 * ROW)
    assert (past.figures.dropped, past.figures.unrecorded, past.figures.series) == (2, 3, 19)
    assert asked(past, "root.q0000", tick=1004)["memory"] == {
        **{"limit": bound + 3 * ROW, "used": past.figures.used, "unrecorded": 3, "dropped": 2},
    }


@pytest.mark.rule("REST-50")
def test_a_lowered_bound_holds_from_the_next_sample_on() -> None:
    past = Past()
    rows = flat(40)
    for tick in range(1000, 1300):
        record(past, tick, rows, bound=bytes_for(40, 0))
    bound = bytes_for(10, len(PLANS) - 1)
    record(past, 1300, rows, bound=bound)
    assert past.figures.used <= bound
    left = (bound - 40 * ROW) // full_size(PLANS[-1])
    assert (past.figures.series, past.figures.unrecorded, past.figures.dropped) == (
        left,
        40 - left,
        40 - left,
    )


def test_a_tick_counts_once() -> None:
    past = Past()
    record(past, 100, flat(1))
    record(past, 100, flat(1, amounts=(9, 9, 9, 9)))
    assert shown(past, "root.q0000", "vcore", seconds=60, tick=100) == {100: ONE}


@pytest.mark.rule("REST-50")
def test_a_clock_that_is_set_back_drops_what_it_has_not_reached() -> None:
    past = Past()
    for tick in range(100, 110):
        record(past, tick, flat(2, amounts=(tick, 0, None, None)))
    record(past, 104, flat(1, amounts=(7, 0, None, None)))
    assert shown(past, "root.q0000", "vcore", seconds=3600, tick=104) == {
        **{tick: (tick, 0, None, None) for tick in range(100, 104)},
        104: (7, 0, None, None),
    }
    record(past, 120, flat(1))
    assert set(shown(past, "root.q0001", "vcore", seconds=3600, tick=120)) == set(range(100, 104))


def test_resources_that_a_row_leaves_out_are_counted() -> None:
    past = Past()
    record(past, 100, {QueuePath("root.a"): make_row({"vcore": ONE}, left_out=7)})
    assert past.figures.unrecorded == 7


def test_what_was_dropped_stays_counted_after_everything_was() -> None:
    past = Past()
    record(past, 100, flat(20), bound=bytes_for(20, 7))
    record(past, 101, flat(20), bound=bytes_for(20, 7) - 1)
    past.clear()
    assert (past.figures.dropped, past.figures.used, past.last) == (1, 0, 0)


@pytest.mark.rule("REST-50")
@pytest.mark.parametrize(
    "sight", [lambda past: asked(past, "root.q0003", tick=1101, seconds=DAY_SECONDS)], ids=["a day"]
)
def test_an_answer_while_a_sample_is_stored_has_no_part_of_it_and_keeps_the_others(
    sight: Callable[[Past], dict[str, object]],
) -> None:
    past = Past()
    for tick in range(1000, 1101):
        record(past, tick, flat(6), bound=bytes_for(6, 0))
    before = {each for each in range(1000, 1101) if each % 40 == 0}
    # The seventh queue makes the last span coarser.
    for _ in past.record(1101, flat(7), bound=bytes_for(6, 0)):
        found = sight(past)
        assert found["step"] in (300 * 10**9, 600 * 10**9)
        assert before <= set(shown(past, "root.q0003", "vcore", seconds=DAY_SECONDS, tick=1101))
        assert set(shown(past, "root.q0003", "vcore", seconds=60, tick=1101)) == {1097, 1098, 1099, 1100}
    assert set(shown(past, "root.q0003", "vcore", seconds=60, tick=1101)) == {1098, 1099, 1100, 1101}


@pytest.mark.rule("REST-50")
def test_a_resource_whose_first_sample_a_coarser_plan_drops_is_still_recorded() -> None:
    past, bound = Past(), bytes_for(20, len(PLANS) - 1)
    record(past, 1001, flat(1), bound=bound)
    record(past, 1002, flat(20), bound=bound)
    assert shown(past, "root.q0000", "vcore", seconds=DAY_SECONDS, tick=1002) == {}
    record(past, 1004, {**flat(20), **make_rows({"root.q0000": {}})}, bound=bound)
    assert shown(past, "root.q0000", "vcore", seconds=60, tick=1004) == {1004: (0, 0, None, None)}
