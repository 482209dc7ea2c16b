"""The records of events and their numbers."""

import pytest

from extender.rest.members import members
from extender.rest.memory.ring import EventRing
from extender.rest.model.events import EventRecord, EventResource, EventType


def record(at: int) -> EventRecord:
    return EventRecord(
        type=EventType.REQUEST, object_id=f"o{at}", timestamp_nano=at, resource=EventResource()
    )


def ring_of(count: int, *, capacity: int = 5) -> EventRing:
    ring = EventRing("an-id", capacity=capacity)
    for at in range(count):
        ring.add(record(at))
    return ring


@pytest.mark.rule("REST-12")
def test_before_the_first_event() -> None:
    assert members(ring_of(0).batch(0, 10)) == {
        "InstanceUUID": "an-id",
        "LowestID": 0,
        "HighestID": 0,
        "EventRecords": None,
    }


@pytest.mark.rule("REST-12")
@pytest.mark.parametrize(
    ("start", "count", "found"),
    [
        (0, 10, None),
        (2, 10, None),
        (3, 10, [3, 4, 5, 6, 7]),
        (3, 2, [3, 4]),
        (6, 1, [6]),
        (7, 9, [7]),
        (8, 9, None),
        (2**64 - 1, 1, None),
    ],
)
def test_batches(start: int, count: int, found: list[int] | None) -> None:
    batch = ring_of(8).batch(start, count)
    assert (batch.lowest_id, batch.highest_id) == (3, 7)
    records = batch.event_records
    assert (None if records is None else [each.timestamp_nano for each in records]) == found


@pytest.mark.rule("REST-12")
def test_a_smaller_ring_keeps_the_newest() -> None:
    ring = ring_of(5)
    ring.resize(2)
    assert (ring.lowest, ring.following) == (3, 5)
    ring.resize(9)
    ring.add(record(5))
    assert [each.timestamp_nano for each in ring.since(3, most=9)] == [3, 4, 5]


@pytest.mark.rule("REST-38")
def test_a_record() -> None:
    assert members(record(0)) == {"type": 1, "objectID": "o0", "resource": {}}
