"""Memory of a day of 1,000 queues with three resources, counted by Python's own allocator."""

import tracemalloc

import pytest

from extender.rest.history.past import Past
from extender.rest.history.rows import Rows
from extender.rest.history.series import full_size
from extender.rest.history.spans import DAY, FINEST, SPANS
from tests.extender.rest.history.past_rows import BOUND, Amounts, make_rows, record

QUEUES = 1_000
AMOUNTS: Amounts = (2**40, 2**39, 2**41, 2**42)
START = 10_000
"""A tick that meets the step of every span."""


def rows_of_all() -> Rows:
    named = dict.fromkeys(("memory", "pods", "vcore"), AMOUNTS)
    return make_rows({f"root.q{at:04}": named for at in range(QUEUES)})


def fill(past: Past, rows: Rows) -> int:
    """Fill every array of a day, and return the last tick. A missed sample takes as much as any other."""
    tick = START
    record(past, tick, rows)
    for span in reversed(SPANS):
        tick += span - span % 40
        record(past, tick, rows)
    return tick


@pytest.mark.rule("REST-50")
def test_a_day_of_a_thousand_queues_with_three_resources_stays_within_the_bound() -> None:
    past, rows = Past(), rows_of_all()
    tracemalloc.start()
    tick = fill(past, rows)
    traced, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    figures = past.figures
    assert (figures.series, figures.unrecorded, figures.dropped) == (3 * QUEUES, 0, 0)
    assert figures.plan == FINEST
    stored = [len(band) for band in past.of(next(iter(rows)))["vcore"].bands]
    assert stored == [span // every + 1 for span, every in zip(SPANS, FINEST, strict=True)]
    assert tick >= START + DAY
    assert traced <= figures.used <= BOUND
    # What the allocator counts is no small part of what is reckoned.
    assert traced > 0.7 * 3 * QUEUES * full_size(FINEST)
