"""Records of what happens to pods and applications."""

from dataclasses import replace

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.spec import LimitSpec
from core.queues.users.identity import Identity
from extender.rest.memory.recording import Recording
from extender.rest.memory.records import MESSAGE_BYTES, cut
from extender.rest.model.events import EventRecord
from tests.builders import START, bind_called, filtered, make_ledger, make_pod, make_queue, marked

Heard = tuple[int, str, int, int, str]


class World:
    """A ledger whose events are recorded."""

    def __init__(self, *limits: LimitSpec) -> None:
        self.ledger: Ledger = make_ledger(replace(make_queue("root.a"), limits=limits))
        self.records: list[EventRecord] = []
        self.recording = Recording(self.records.append)

    def tell(self, event: on.Event, *, at: float = 0.0) -> list[Heard]:
        self.ledger.apply(event, now=START + at)
        return self.heard(at=at)

    def heard(self, *, at: float = 0.0) -> list[Heard]:
        """Type, object, change, detail and reference of the new records."""
        self.records.clear()
        self.recording.settled(self.ledger.view, self.ledger.settled, now=START + at)
        self.recording.pass_time(self.ledger.view, now=START + at)
        return [
            (each.type, each.object_id, each.event_change_type, each.event_change_detail, each.reference_id)
            for each in self.records
        ]


@pytest.mark.rule("REST-38")
def test_the_life_of_an_application() -> None:
    world = World()
    assert world.tell(on.PodObserved(make_pod("p"))) == [
        (2, "app-1", 2, 203, ""),
        (4, "root.a", 2, 405, "app-1"),
        (2, "app-1", 1, 204, ""),
        (2, "app-1", 2, 201, "uid-p"),
    ]
    filtered(world.ledger, "uid-p", now=START)
    bind_called(world.ledger, "uid-p", now=START)
    assert world.heard() == [
        (2, "app-1", 1, 206, ""),
        (2, "app-1", 2, 200, "uid-p"),
        (3, "n1", 2, 303, "uid-p"),
        (5, "nobody", 2, 603, "root.a"),
    ]
    assert world.tell(on.PodObserved(make_pod("p", node="n1", version=2))) == []
    assert world.tell(on.PodDeleted(PodUid("uid-p")), at=5) == [
        (2, "app-1", 1, 207, ""),
        (3, "n1", 3, 303, "uid-p"),
        (2, "app-1", 3, 500, "uid-p"),
        (5, "nobody", 3, 603, "root.a"),
    ]
    assert world.tell(on.TimePassed(), at=50) == [
        (2, "app-1", 1, 208, ""),
        (4, "root.a", 3, 405, "app-1"),
        (2, "app-1", 3, 0, ""),
    ]


@pytest.mark.rule("REST-38")
def test_a_rejected_application_says_why() -> None:
    world = World()
    found = world.tell(on.PodObserved(make_pod("p", queue="root.no")))
    assert found == [(2, "app-1", 2, 203, ""), (2, "app-1", 1, 202, "")]
    assert world.records[-1].message == "PlacementFailed: no queue root.no"


@pytest.mark.rule("REST-38")
def test_a_request_that_goes_and_a_victim_that_goes() -> None:
    world = World()
    world.tell(on.PodObserved(make_pod("p")))
    world.tell(on.PodObserved(make_pod("q", node="n1")))
    assert (2, "app-1", 3, 100, "uid-p") in world.tell(on.PodDeleted(PodUid("uid-p")))
    marked(world.ledger, "uid-q", "root.a")
    assert world.heard() == []
    assert (2, "app-1", 3, 501, "uid-q") in world.tell(on.PodDeleted(PodUid("uid-q")))


@pytest.mark.rule("REST-38")
def test_a_pod_of_no_queue_changes_what_is_occupied() -> None:
    world = World()
    foreign = make_pod("f", node="n1", scheduler_name="default-scheduler", app="", queue="")
    assert world.tell(on.PodObserved(foreign)) == [(3, "n1", 1, 305, "uid-f")]
    assert world.records[0].resource.resources["vcore"].value == 1000


@pytest.mark.rule("REST-38")
def test_usage_of_a_group_and_the_group_that_counts() -> None:
    world = World(LimitSpec((), ("dev",), None, 3))
    dev = Identity("alice", ("dev",))
    assert world.tell(on.PodObserved(make_pod("p", node="n1", identity=dev)))[2:] == [
        (5, "dev", 1, 602, "app-1"),
        (2, "app-1", 1, 204, ""),
        (2, "app-1", 1, 206, ""),
        (2, "app-1", 2, 200, "uid-p"),
        (3, "n1", 2, 303, "uid-p"),
        (5, "alice", 2, 603, "root.a"),
        (5, "dev", 2, 604, "root.a"),
    ]
    assert world.records[-1].resource.resources["vcore"].value == 1000


@pytest.mark.rule("REST-38")
def test_messages_end_at_so_many_bytes_and_at_a_letter() -> None:
    assert cut("x") == "x"
    assert len(cut("x" * 5000)) == MESSAGE_BYTES
    assert cut("é" * 600) == "é" * 512
    assert cut("x" + "é" * 600) == "x" + "é" * 511
