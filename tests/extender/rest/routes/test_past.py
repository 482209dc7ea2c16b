"""Route for the past of a queue: names, spans and faults."""

import json
from typing import Any

import pytest

from core.ids import QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from extender.rest.history.recorder import LATE, Recorder
from extender.rest.history.spans import DAY, TICK
from extender.rest.model.answer import Fault
from extender.rest.routes.past import past_routes
from extender.rest.routes.reply import Ask, Big, Refused, Reply
from extender.rest.routes.table import Router
from tests.builders import START, make_ledger, make_pod, make_queue

BOUND = 96 * 2**20
NO_DURATION = "must be a duration such as 30s, 500ms or 1m30s"


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


class World:
    """A ledger whose past is recorded."""

    def __init__(self) -> None:
        self.clock, self.bound = Clock(), BOUND
        self.ledger: Ledger = make_ledger(make_queue("root.a", max={"vcore": 8000}), make_queue("root.b"))
        self.recorder = Recorder(lambda: self.ledger.view, clock=self.clock, bound=lambda: self.bound)
        self.router = Router(past_routes(self.recorder.past, lambda: self.ledger.view, self.clock))

    def pass_time(self, samples: int) -> None:
        for _ in range(samples):
            self.clock.now += self.recorder.wait()
            for _ in self.recorder.sample():
                pass

    def ask(self, queue: str, **query: str) -> Reply:
        return self.router.answer(Ask(f"/ws/v1/history/queue/{queue}", query=query))

    def past(self, queue: str, **query: str) -> Any:
        reply = self.ask(queue, **query)
        assert isinstance(reply, Big)
        return json.loads(b"".join(reply.steps()))


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.rule("REST-50")
def test_the_past_of_a_queue(world: World) -> None:
    world.pass_time(1)
    world.ledger.apply(on.PodObserved(make_pod("p", cpu=3000, node="n1")), now=world.clock())
    world.pass_time(2)
    found = world.past("root.a", span="45s")
    assert found["resources"]["vcore"] == {
        **{"used": [0, 3000, 3000], "pending": [0, 0, 0]},
        **{"guaranteed": [None] * 3, "max": [8000] * 3},
    }
    assert found["start"] == (world.clock.now - LATE - 30) * 10**9
    assert world.past("root", span="15s")["resources"]["vcore"]["used"] == [3000]
    assert world.past("ROOT.A")["queue"] == "root.a"


@pytest.mark.rule("REST-50")
def test_a_removed_queue_answers_for_a_day(world: World) -> None:
    world.ledger.apply(on.PodObserved(make_pod("p", queue="root.b", node="n1")), now=START)
    world.pass_time(1)
    world.ledger = make_ledger(make_queue("root.a"))
    world.pass_time(1)
    assert world.past("Root.B", span="30s")["resources"]["vcore"]["used"] == [1000, None]


@pytest.mark.rule("REST-50", "REST-2")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"span": "x"}, f"\"span\" is 'x', which {NO_DURATION}"),
        ({"span": "0s"}, "\"span\" is '0s', which must be above 0 and at most 24h"),
        ({"span": "-1h"}, "\"span\" is '-1h', which must be above 0 and at most 24h"),
        ({"span": "24h0m1s"}, "\"span\" is '24h0m1s', which must be above 0 and at most 24h"),
        (
            {"span": "9" * 5000},
            f"\"span\" is '{'9' * 80}', which {NO_DURATION}",
        ),
        ({"span": "1e400h"}, f"\"span\" is '1e400h', which {NO_DURATION}"),
        ({"resource": "a,,b"}, "\"resource\" is 'a,,b', which must be names separated by commas"),
        ({"resource": "x" * 1001}, f"\"resource\" is '{'x' * 80}', which must be names separated by commas"),
        ({"resource": ",".join("x" * 65)}, '"resource" has more than 64 names'),
    ],
)
def test_what_cannot_be_asked(world: World, query: dict[str, str], message: str) -> None:
    reply = world.ask("root.a", **query)
    assert isinstance(reply, Fault)
    assert (reply.status_code, reply.message) == (400, message)


@pytest.mark.rule("REST-50", "REST-22")
@pytest.mark.parametrize(
    ("queue", "status"), [("root.nowhere", 404), ("a", 404), ("root.a%2525%20b", 400), ("root.%25zz", 400)]
)
def test_queues_that_are_none(world: World, queue: str, status: int) -> None:
    reply = world.ask(queue)
    assert isinstance(reply, Fault)
    assert reply.status_code == status


def test_empty_parameters_are_absent_ones(world: World) -> None:
    world.pass_time(1)
    assert world.past("root.a", span="", resource="") == world.past("root.a")
    assert list(world.past("root.a", resource="vcore")["resources"]) == ["vcore"]


@pytest.mark.rule("REST-50")
def test_a_bound_of_nought_records_nothing_and_drops_everything(world: World) -> None:
    world.pass_time(2)
    version = world.recorder.version
    world.bound = 0
    world.pass_time(1)
    assert world.recorder.version > version
    assert world.past("root.a")["resources"] == {}
    world.bound = BOUND
    world.pass_time(1)
    assert world.past("root.a", span="30s")["resources"]["vcore"]["used"] == [None, 0]


@pytest.mark.rule("REST-50")
def test_samples_are_taken_at_whole_ticks_and_each_changes_the_version(world: World) -> None:
    world.clock.now = 1000 * TICK + 3.0
    assert world.recorder.wait() == TICK - 3 + LATE
    version = world.recorder.version
    world.pass_time(2)
    assert world.recorder.version == version + 2
    assert world.recorder.past.last == 1002


@pytest.mark.rule("REST-50")
def test_an_instance_that_does_not_lead_has_a_gap_and_forgets_after_a_day(world: World) -> None:
    world.pass_time(2)
    world.clock.now += 2 * TICK
    world.recorder.pause()
    world.pass_time(1)
    assert world.past("root.a", span="75s")["resources"]["vcore"]["used"] == [0, 0, None, None, 0]
    world.clock.now += (DAY + 1) * TICK
    world.recorder.pause()
    assert not world.recorder.past.of(QueuePath("root.a"))


def test_refusals_are_raised_before_anything_is_written(world: World) -> None:
    with pytest.raises(Refused):
        past_routes(world.recorder.past, lambda: world.ledger.view, world.clock)[0].handler(
            Ask("", query={"span": "2d"}), {"queue": "root.a"}
        )
