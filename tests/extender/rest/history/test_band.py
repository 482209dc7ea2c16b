"""Packed samples of one span."""

from array import array
from itertools import pairwise
from sys import getsizeof

import pytest

from extender.rest.history.band import GAP, UNSET, WIDTH, Band, Packed
from extender.rest.history.series import OVERHEAD, Series, full_size
from extender.rest.history.spans import FINEST, PLANS, SPANS, TICK, Plan


def sample(used: int) -> Packed:
    return array("q", [used, 0, UNSET, 2**63 - 1])


def band_of(*ticks: int, every: int = 1, most: int = 10) -> Band:
    band = Band(every, most)
    for tick in ticks:
        band.put(tick, sample(tick))
    return band


def used_of(band: Band, first: int, count: int) -> list[int | None]:
    return band.column(0, first, count)


@pytest.mark.rule("REST-50")
def test_samples_are_read_where_they_were_put() -> None:
    band = band_of(5, 6, 7)
    assert used_of(band, 5, 3) == [5, 6, 7]
    assert used_of(band, 3, 7) == [None, None, 5, 6, 7, None, None]
    assert used_of(band, 6, 1) == [6]
    assert used_of(band, 0, 5) == used_of(band, 8, 5) == [None] * 5


@pytest.mark.rule("REST-50")
def test_what_is_not_set_is_no_number_and_the_largest_number_is_one() -> None:
    band = band_of(5)
    assert [band.column(measure, 5, 1) for measure in range(WIDTH)] == [[5], [0], [None], [2**63 - 1]]


@pytest.mark.rule("REST-50")
def test_a_missed_tick_is_a_gap() -> None:
    assert used_of(band_of(5, 8), 5, 4) == [5, None, None, 8]


@pytest.mark.rule("REST-50")
def test_the_newest_samples_stay() -> None:
    band = band_of(*range(100, 125))
    assert len(band) == 10
    assert used_of(band, 113, 12) == [None, None, *range(115, 125)]


@pytest.mark.parametrize("later", [10, 11, 10**9])
@pytest.mark.rule("REST-50")
def test_a_long_silence_costs_no_memory(later: int) -> None:
    band = band_of(0, 1, 1 + later)
    assert len(band) == 1 if later > 10 else len(band) == 10
    assert used_of(band, later - 8, 10) == [*[None] * 9, 1 + later]


@pytest.mark.rule("REST-50")
def test_only_ticks_at_its_step_are_stored() -> None:
    assert used_of(band_of(*range(3, 14), every=4), 0, 5) == [None, 4, 8, 12, None]


def test_a_tick_is_stored_once_and_none_before_the_newest() -> None:
    band = band_of(5, 6)
    band.put(6, sample(66))
    band.put(4, sample(44))
    assert used_of(band, 4, 3) == [None, 5, 6]


@pytest.mark.parametrize(
    ("tick", "left"),
    [(8, [4, 5, 6, 7, 8]), (6, [4, 5, 6, None, None]), (3, [None] * 5), (-5, [None] * 5)],
)
def test_a_clock_that_is_set_back(tick: int, left: list[int | None]) -> None:
    band = band_of(4, 5, 6, 7, 8)
    band.rewind(tick)
    assert used_of(band, 4, 5) == left
    band.put(tick + 1, sample(99))
    assert used_of(band, tick + 1, 1) == [99]


def test_what_is_too_old_is_dropped() -> None:
    band = band_of(5)
    band.expire(14)
    assert used_of(band, 5, 1) == [5]
    band.expire(15)
    assert not band.samples


@pytest.mark.parametrize("first", [20, 21])
@pytest.mark.rule("REST-50")
def test_every_second_sample_is_dropped(first: int) -> None:
    band = band_of(*range(first, 30), most=11)
    band.thin()
    assert (band.every, band.most) == (2, 6)
    assert used_of(band, 10, 5) == [20 if first == 20 else None, 22, 24, 26, 28]
    band.put(30, sample(30))
    assert used_of(band, 14, 2) == [28, 30]


@pytest.mark.rule("REST-50")
def test_a_finer_step_leaves_gaps_where_nothing_is_known() -> None:
    band = band_of(20, 22, 24, every=2, most=6)
    band.refine()
    assert (band.every, band.most) == (1, 11)
    assert used_of(band, 20, 6) == [20, None, 22, None, 24, None]
    band.put(25, sample(25))
    assert used_of(band, 24, 2) == [24, 25]


@pytest.mark.rule("REST-50")
def test_a_coarser_step_without_a_sample_leaves_nothing() -> None:
    """Samples at 5 and 7 are dropped, and no gap at 6 stays for them."""
    band = band_of(5, 7)
    band.thin()
    assert not band.samples
    band.put(12, sample(12))
    assert used_of(band, 2, 5) == [None] * 4 + [12]


@pytest.mark.rule("REST-50")
def test_a_coarser_step_ends_with_a_sample() -> None:
    band = band_of(4, 5, 9)
    band.thin()
    assert (band.last, used_of(band, 2, 3)) == (2, [4, None, None])
    band.put(10, sample(10))
    assert used_of(band, 2, 4) == [4, None, None, 10]


def test_a_clock_that_is_set_back_to_a_gap() -> None:
    band = band_of(4, 8)
    band.rewind(6)
    assert (band.last, used_of(band, 4, 3)) == (4, [4, None, None])
    band.rewind(3)
    assert not band.samples


def test_steps_of_nothing() -> None:
    band = Band(2, 6)
    band.thin()
    band.refine()
    band.rewind(7)
    band.expire(7)
    assert used_of(band, 0, 3) == [None] * 3


def test_a_copy_changes_by_itself() -> None:
    band = band_of(4, 5, 6)
    copy = band.copied()
    copy.change(2)
    assert (used_of(band, 4, 3), used_of(copy, 2, 2)) == ([4, 5, 6], [4, 6])
    copy.change(1)
    assert used_of(copy, 4, 3) == [4, None, 6]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.rule("REST-50")
def test_a_full_series_is_never_larger_than_what_is_reckoned_with(plan: Plan) -> None:
    series = Series(plan, 0)
    largest = 0
    for tick in range(SPANS[-1] + 50):
        series.put(tick, sample(tick))
        largest = max(largest, series.size)
    assert largest <= full_size(plan)
    assert [len(band) for band in series.bands] == [
        span // every + 1 for span, every in zip(SPANS, plan, strict=True)
    ]
    assert largest == OVERHEAD + sum(getsizeof(band.samples) for band in series.bands)


@pytest.mark.rule("REST-50")
def test_the_plans() -> None:
    assert [every * TICK for every in FINEST] == [15, 60, 300]
    assert [span * TICK for span in SPANS] == [3600, 6 * 3600, 24 * 3600]
    for finer, coarser in pairwise(PLANS):
        assert sorted(b // a for a, b in zip(finer, coarser, strict=True)) == [1, 1, 2]
        assert coarser.slots() < finer.slots()
        assert all(span % every == 0 for span, every in zip(SPANS, coarser, strict=True))


@pytest.mark.rule("REST-50")
def test_a_thousand_queues_with_three_resources_are_remembered_in_full() -> None:
    assert 1001 * (3 * full_size(FINEST) + 600 + 3 * 56) <= 96 * 2**20


def test_no_amount_is_taken_for_a_gap() -> None:
    assert GAP < UNSET < -(2**62)
