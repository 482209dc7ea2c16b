"""Answers about the past of a queue: their steps, their length, and what they cost."""

import msgspec
import pytest

from core.ids import QueuePath
from extender.rest.history.answer import queue_past, window_of
from extender.rest.history.past import Past
from extender.rest.history.spans import TICK
from extender.rest.model.histories import QueuePast
from tests.extender.rest.history.past_rows import BOUND, asked, make_rows, record


def past_of(*ticks: int, names: int = 1) -> Past:
    past = Past()
    rows = make_rows({"root.a": {f"r{at:02}": (at, 1, None, 2**63 - 1) for at in range(names)}})
    for tick in ticks:
        record(past, tick, rows)
    return past


@pytest.mark.rule("REST-50")
@pytest.mark.parametrize(
    ("seconds", "step", "count"),
    [
        (0.001, 15, 1),
        (15, 15, 1),
        (16, 15, 2),
        (3600, 15, 240),
        (3600.001, 60, 61),
        (6 * 3600, 60, 360),
        (6 * 3600 + 1, 300, 73),
        (24 * 3600, 300, 288),
    ],
)
def test_the_finest_step_that_covers_the_time(seconds: float, step: int, count: int) -> None:
    found = asked(past_of(10_000), seconds=seconds, tick=10_000)
    assert (found["step"], found["count"]) == (step * 10**9, count)
    assert found["start"] % found["step"] == 0
    end = found["start"] + (count - 1) * found["step"]
    assert end <= 10_000 * TICK * 10**9 < end + found["step"]


@pytest.mark.rule("REST-50")
def test_an_answer_ends_with_the_newest_sample_and_with_a_gap_if_that_is_missing() -> None:
    past = past_of(99, 100)
    for tick, last in ((100, [0, 0]), (101, [0, 0]), (102, [None, None]), (103, [None, None])):
        found = asked(past, seconds=30, tick=tick)
        assert found["resources"]["r00"]["used"] == last


@pytest.mark.rule("REST-50")
def test_which_resources_are_in_an_answer() -> None:
    past = past_of(100, names=3)
    assert list(asked(past, tick=100)["resources"]) == ["r00", "r01", "r02"]
    assert list(asked(past, "root.a", "r02", "r00", "r02", "other", tick=100)["resources"]) == ["r00", "r02"]
    for empty in (asked(past, "root.a", "other", tick=100), asked(past, "root.b", tick=100)):
        assert (empty["resources"], empty["count"]) == ({}, 240)


@pytest.mark.rule("REST-50")
@pytest.mark.parametrize("names", [0, 1, 3])
def test_the_written_answer_is_that_of_its_struct(names: int) -> None:
    past = past_of(98, 100, names=names)
    body = b"".join(queue_past(past, QueuePath("root.a"), (), seconds=3600, now=100.0 * TICK))
    found = msgspec.json.decode(body, type=QueuePast)
    assert msgspec.json.encode(found) + b"\n" == body
    assert (found.memory.limit, found.memory.unrecorded, found.memory.dropped) == (BOUND, 0, 0)


@pytest.mark.rule("REST-50", "REST-45")
def test_an_answer_shows_the_moment_of_its_first_step() -> None:
    past = past_of(100, names=3)
    steps = queue_past(past, QueuePath("root.a"), (), seconds=60, now=100.0 * TICK)
    body = next(steps)
    record(past, 101, make_rows({}))
    past.clear()
    found = msgspec.json.decode(body + b"".join(steps))
    assert [each["used"] for each in found["resources"].values()] == [[None] * 3 + [at] for at in range(3)]


@pytest.mark.rule("REST-50")
def test_nothing_is_recorded_yet() -> None:
    found = asked(Past(), tick=100)
    assert (found["resources"], found["memory"]["used"]) == ({}, 0)
    assert window_of(Past(), seconds=60, now=100.0 * TICK).first == 97
