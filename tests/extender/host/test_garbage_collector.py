"""Objects that have survived a collection are not visited again, but are still freed."""

import gc
import weakref
from collections import deque
from collections.abc import Iterator

import pytest

from extender.host.garbage_collector import (
    EVENTS_APART,
    Pace,
    freeze_survivors,
    unfreeze,
    without_collections,
)


class Thing:
    """An object that allows weak references."""


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    unfreeze()


def collected() -> set[int]:
    """The ids of objects that a full collection would visit now."""
    return {id(each) for each in gc.get_objects()}


def test_a_living_object_is_visited_once() -> None:
    before = Thing()
    freeze_survivors()
    later = Thing()
    assert id(before) not in collected()
    assert id(later) in collected()
    gc.collect()
    assert id(later) not in collected()


def test_a_collection_of_the_young_spares_its_survivors_too() -> None:
    freeze_survivors()
    young = Thing()
    gc.collect(0)
    assert id(young) not in collected()


def test_after_a_large_start_collections_still_come_and_visit_few() -> None:
    start = [Thing() for _ in range(100_000)]
    freeze_survivors()
    visited: list[int] = []

    def note(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            visited.append(len(gc.get_objects()))

    gc.callbacks.append(note)
    try:
        later = [Thing() for _ in range(10_000)]
    finally:
        gc.callbacks.remove(note)
    # Each Thing is one object, and begins to have a dictionary only with its first attribute.
    assert len(visited) >= len(later) // 600
    assert max(visited) < 1_000
    assert len(start) == 100_000


def visited_by_churn(pace: Pace, steps: int) -> list[int]:
    """The number of new objects that each full collection visits while as many objects go as come."""
    visited: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            visited.append(len(gc.get_objects()))

    living = deque(Thing() for _ in range(steps))
    freeze_survivors()
    gc.callbacks.append(note)
    try:
        for step in range(steps):
            living.append(Thing())
            living.popleft()
            pace.follow(step)
    finally:
        gc.callbacks.remove(note)
    return visited


def test_collections_follow_the_work_where_as_many_objects_go_as_come() -> None:
    visited = visited_by_churn(Pace(), 50 * EVENTS_APART)
    assert len(visited) == 49
    assert max(visited) < 2 * EVENTS_APART


def test_without_work_nothing_is_collected() -> None:
    freeze_survivors()
    before = gc.get_stats()[2]["collections"]
    pace = Pace()
    for _ in range(100):
        pace.follow(EVENTS_APART - 1)
    assert gc.get_stats()[2]["collections"] == before


def test_before_the_start_is_over_the_work_causes_no_collection() -> None:
    """Such a collection would visit every object that was read until then."""
    before = gc.get_stats()[2]["collections"]
    Pace().follow(100 * EVENTS_APART)
    assert gc.get_stats()[2]["collections"] == before


def test_what_nothing_refers_to_is_freed() -> None:
    things = [Thing()]
    watched = weakref.ref(things[0])
    freeze_survivors()
    things.clear()
    assert watched() is None


def test_it_can_be_undone() -> None:
    freeze_survivors()
    freeze_survivors()
    unfreeze()
    thing = Thing()
    gc.collect()
    assert id(thing) in collected()


def test_imports_are_not_collected_among_and_what_they_made_is_never_visited() -> None:
    counts = [each["collections"] for each in gc.get_stats()]
    with without_collections():
        made = [Thing() for _ in range(10_000)]
    assert [each["collections"] for each in gc.get_stats()] == counts
    assert not {id(each) for each in made} & collected()
    assert gc.isenabled()


def test_collections_that_were_off_stay_off() -> None:
    gc.disable()
    try:
        with without_collections():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
