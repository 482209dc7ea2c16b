"""Routes with a memory of their own."""

import pytest

from core.ledger import events as on
from extender.rest.facts import Facts
from extender.rest.memory.ring import EventRing
from extender.rest.memory.samples import Samples
from extender.rest.model.answer import fault
from extender.rest.model.events import EventBatch, EventRecord, EventResource
from extender.rest.projection.health import Found, health_from
from extender.rest.routes.remembered import Memory, memory_routes
from extender.rest.routes.reply import Ask
from extender.rest.routes.table import Router
from tests.builders import START, make_ledger, make_pod, make_queue

OFF = Router(memory_routes(Memory(None, lambda: None, lambda: None)))
BATCH = "/ws/v1/events/batch"


def ring_of(count: int) -> EventRing:
    ring = EventRing("an-id")
    for at in range(count):
        ring.add(EventRecord(timestamp_nano=at, resource=EventResource()))
    return ring


@pytest.fixture
def router() -> Router:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("p", node="n1")), now=START)
    samples = Samples(started=START)
    samples.pass_time(ledger.view, now=START + 60)
    health = health_from(Facts(ledger.view), Found())
    return Router(memory_routes(Memory(samples, lambda: ring_of(9), lambda: health, batch=lambda: 4)))


@pytest.mark.rule("REST-2")
@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        pytest.param(
            *("/ws/v1/history/apps", 500, "Internal metrics collection is not enabled."),
            marks=pytest.mark.rule("REST-28"),
        ),
        pytest.param(
            *("/ws/v1/history/containers", 500, "Internal metrics collection is not enabled."),
            marks=pytest.mark.rule("REST-29"),
        ),
        pytest.param(BATCH, 500, "Event tracking is disabled", marks=pytest.mark.rule("REST-12")),
        pytest.param(
            *("/ws/v1/scheduler/healthcheck", 404, "Health check is not available"),
            marks=pytest.mark.rule("REST-11"),
        ),
    ],
)
def test_what_is_switched_off(path: str, status: int, message: str) -> None:
    assert OFF.answer(Ask(path)) == fault(status, message)


def test_what_is_on(router: Router) -> None:
    for path in ("/ws/v1/history/apps", "/ws/v1/history/containers"):
        reply = router.answer(Ask(path))
        assert isinstance(reply, tuple)
        assert len(reply) == 1


@pytest.mark.rule("REST-12")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, [0, 1, 2, 3]),
        ({"start": "", "count": ""}, [0, 1, 2, 3]),
        ({"start": "7"}, [7, 8]),
        ({"start": "2", "count": "2"}, [2, 3]),
        ({"count": "18446744073709551615"}, [0, 1, 2, 3]),
        ({"start": "9"}, None),
        ({"start": "18446744073709551615"}, None),
    ],
)
def test_batches(router: Router, query: dict[str, str], found: list[int] | None) -> None:
    reply = router.answer(Ask(BATCH, query=query))
    assert isinstance(reply, EventBatch)
    records = reply.event_records
    assert (None if records is None else [each.timestamp_nano for each in records]) == found


@pytest.mark.rule("REST-12")
@pytest.mark.parametrize("text", ["-1", "+1", "1.5", "x", "18446744073709551616", " 1", "٣", "9" * 5000])
@pytest.mark.parametrize("name", ["start", "count"])
def test_what_is_no_number(router: Router, name: str, text: str) -> None:
    reply = router.answer(Ask(BATCH, query={name: text}))
    assert getattr(reply, "status_code", None) == 400


@pytest.mark.rule("REST-12")
def test_a_count_of_nought(router: Router) -> None:
    assert router.answer(Ask(BATCH, query={"count": "0"})) == fault(400, '0 is not a valid value for "count"')
