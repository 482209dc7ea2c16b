"""Peaks and sums of applications."""

from dataclasses import replace

import pytest

from core.ids import AppId, PodUid
from core.ledger import events as on
from core.resource import Resource
from core.workload.application import Application
from extender.rest.members import members
from extender.rest.memory.allocations import INSTANCE_TYPE, Allocations
from tests.builders import START, bind_called, filtered, make_ledger, make_node, make_pod, make_queue, marked


class World:
    """A ledger whose events the memory is told of."""

    def __init__(self, *, most: int = 10) -> None:
        self.ledger = make_ledger(make_queue("root.a"))
        small = replace(make_node("n1"), labels={INSTANCE_TYPE: "small"}, version=2)
        self.ledger.apply(on.ObjectObserved(on.NODES, small), now=START)
        self.memory = Allocations(most=most)

    def tell(self, event: on.Event, *, at: float = 0.0) -> None:
        self.ledger.apply(event, now=START + at)
        self.memory.settled(self.ledger.view, self.ledger.settled, now=START + at)

    def bound(self, name: str, *, at: float = 0.0, **facts: object) -> None:
        self.tell(on.PodObserved(make_pod(name, node="n1", **facts)), at=at)  # type: ignore[arg-type]

    def ended(self, name: str, *, at: float) -> None:
        self.tell(on.PodDeleted(PodUid(f"uid-{name}")), at=at)

    def application(self, name: str = "app-1") -> Application:
        found = self.ledger.view.application(AppId(name, "default"))
        assert found is not None
        return found


@pytest.mark.rule("REST-7")
def test_the_peak_is_the_most_of_each_resource_at_any_time() -> None:
    world = World()
    assert world.memory.peak(Application(AppId("none", ""), "")) == Resource({})
    world.bound("a", cpu=3000)
    world.ended("a", at=1)
    world.bound("b", cpu=1000, memory=5)
    world.bound("c", cpu=1000)
    world.bound("holder", cpu=9000, placeholder=True)
    assert dict(world.memory.peak(world.application()).items()) == {"memory": 5, "pods": 2, "vcore": 3000}


@pytest.mark.rule("REST-7")
def test_sums_of_what_has_ended_by_kind_and_instance_type() -> None:
    world = World()
    assert members(world.memory.history(Application(AppId("none", ""), ""))) == {}
    world.bound("stays", cpu=1)
    world.bound("plain", cpu=1000)
    world.bound("holder", cpu=500, placeholder=True)
    world.bound("victim", cpu=2000)
    marked(world.ledger, "uid-victim", "root.a")
    world.memory.settled(world.ledger.view, world.ledger.settled, now=START)
    assert members(world.memory.history(world.application())) == {}
    for name in ("plain", "holder", "victim"):
        world.ended(name, at=10)
    assert members(world.memory.history(world.application())) == {
        "resourceUsage": {"small": {"pods": 10, "vcore": 10_000}},
        "preemptedResource": {"small": {"pods": 10, "vcore": 20_000}},
        "placeholderResource": {"small": {"pods": 10, "vcore": 5000}},
    }


@pytest.mark.rule("REST-7")
def test_a_resize_is_no_end() -> None:
    world = World()
    world.bound("p", cpu=1000)
    world.tell(on.PodObserved(make_pod("p", cpu=4000, node="n1", version=2)), at=5)
    assert members(world.memory.history(world.application())) == {}
    assert world.memory.peak(world.application()).get("vcore") == 4000


@pytest.mark.rule("REST-42")
def test_an_application_that_ended_keeps_its_own() -> None:
    world = World()
    for name, at, cpu in (("p", 0, 3000), ("r", 100, 1000)):
        world.bound(name, at=at, cpu=cpu)
        world.ended(name, at=at + 10)
        world.tell(on.TimePassed(), at=at + 50)
    world.bound("q", at=200, cpu=7)
    ended = world.ledger.view.identities.all_ended()
    assert [world.memory.peak(each).get("vcore") for each in ended] == [3000, 1000]
    assert world.memory.peak(world.application()).get("vcore") == 7


def test_those_that_ended_first_are_forgotten_first() -> None:
    world = World(most=1)
    for name, at in (("p", 0), ("r", 100)):
        world.bound(name, at=at)
        world.ended(name, at=at + 10)
        world.tell(on.TimePassed(), at=at + 50)
    ended = world.ledger.view.identities.all_ended()
    assert [world.memory.peak(each).get("vcore") for each in ended] == [0, 1000]


def test_a_binding_that_fails_leaves_nothing() -> None:
    world = World()
    world.tell(on.PodObserved(make_pod("p")))
    filtered(world.ledger, "uid-p", now=START)
    bind_called(world.ledger, "uid-p", now=START)
    world.memory.settled(world.ledger.view, [PodUid("uid-p")], now=START)
    assert world.memory.peak(world.application()).get("vcore") == 1000
    world.tell(on.BindFailed(PodUid("uid-p"), certain=True), at=3)
    assert world.memory.history(world.application()).resource_usage == {}
