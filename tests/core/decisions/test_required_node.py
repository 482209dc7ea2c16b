"""Capacity for a pod that may run on one node only (RNP-1 to RNP-5)."""

from typing import Any

import pytest

from core.decisions.preemption.receipts import Kind, Plan, Stop
from core.ids import NodeName, PodUid
from core.ledger import events as on
from tests.builders import marked, triggered
from tests.core.preemption_world import World, queue

HERE = NodeName("n1")


def world_of(free: int, **pods: dict[str, Any]) -> World:
    """``root.a`` asks; pods of ``root.b`` run on ``n1``. ``prio``: priority, ``at``: creation."""
    world = World(queue("root.a"), queue("root.b"), nodes={"n1": 0, "n2": 100})
    total = free
    for name, pod in pods.items():
        size, at = pod.pop("size", 1), float(pod.pop("at", 0))
        total += size
        app = name if pod.pop("originator", False) else "app"
        values = {"priority": pod.pop("prio", 0), "created": at, "app_id": app, **pod}
        world.runs(name, "root.b", size, **values)
    world.runs("first", "root.b", 0, "n2", app_id="app", created=-1.0)
    world.node("n1", total)
    return world


def ask(world: World, size: Any, priority: int = 20, queue: str = "root.a", **facts: Any) -> None:
    world.asks("ask", queue, size, priority=priority, required_node=HERE, **facts)


EXAMPLE: dict[str, dict[str, Any]] = {
    "ask5": {"prio": 5, "size": 5},
    "ask1": {"prio": 10, "size": 10, "at": 9},
    "ask4": {"prio": 10, "size": 5, "at": 5},
    "ask2": {"prio": 10, "size": 8, "at": 1},
    "ask3": {"prio": 15, "size": 10},
    "ask6": {"prio": 10, "size": 10, "at": 9, "allow_preemption": "false"},
    "ask7": {"prio": 10, "size": 8, "at": 1, "allow_preemption": "false"},
    "ask8": {"prio": 15, "size": 10, "allow_preemption": "false"},
    "ask10": {"prio": 5, "size": 5, "originator": True},
    "ask9": {"prio": 10, "size": 5, "originator": True},
}
ORDER = list(EXAMPLE)


def example(free: int = 0) -> World:
    return world_of(free, **{name: dict(pod) for name, pod in EXAMPLE.items()})


@pytest.mark.rule("RNP-3", "RNP-4", "DIV-15")
@pytest.mark.parametrize(
    ("size", "free", "count"), [(25, 0, 4), (25, 5, 3), (5, 0, 1), (6, 1, 1), (71, 0, 9), (76, 0, 10)]
)
def test_victims_come_from_the_front_of_the_order(size: int, free: int, count: int) -> None:
    world = example(free)
    ask(world, size)
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert [victim.name for victim in plan.victims] == ORDER[:count]
    assert (plan.kind, plan.node) == (Kind.REQUIRED_NODE, "n1")


@pytest.mark.rule("RNP-4")
def test_candidates_that_do_not_help_are_no_victims() -> None:
    world = example()
    ask(world, {"first": 5, "vcore": 5})
    assert world.refused().stop is Stop.NO_VICTIMS


@pytest.mark.rule("RNP-4")
def test_free_capacity_counts_from_the_first_victim_on() -> None:
    """With 4 free, an ask of 5 and pods of 2, one pod is evicted and not three."""
    world = world_of(4, v1={"size": 2, "at": 1}, v2={"size": 2, "at": 2}, v3={"size": 2, "at": 3})
    ask(world, 5)
    assert world.victims() == {"v3"}


@pytest.mark.rule("RNP-3")
def test_of_equal_pods_the_smaller_goes_first() -> None:
    world = world_of(0, big={"size": 3}, small={"size": 2})
    ask(world, 2)
    assert world.victims() == {"small"}


@pytest.mark.rule("RNP-4")
def test_no_victim_more_than_needed() -> None:
    world = world_of(0, small={"size": 2, "at": 2}, big={"size": 5, "at": 1})
    ask(world, 5)
    assert world.victims() == {"big"}


@pytest.mark.rule("RNP-2")
@pytest.mark.parametrize(
    "pod",
    [
        {"required_node": HERE},
        {"prio": 21},
        {"deleting": True},
        {"scheduler_name": "x"},
    ],
)
def test_pods_that_are_spared(pod: dict[str, Any]) -> None:
    world = world_of(0, v=pod)
    ask(world, 1)
    assert world.refused().stop is Stop.NO_VICTIMS


@pytest.mark.rule("RNP-2")
def test_one_that_was_chosen_before_is_spared_and_counted() -> None:
    world = world_of(0, v={})
    marked(world.ledger, "v", "root.b")
    ask(world, 1)
    refusal = world.refused()
    assert refusal.text == "no fit on required node, preemption does not help (1 chosen already)"


@pytest.mark.rule("RNP-1", "RNP-5", "LAW-3")
def test_neither_guarantees_nor_fences_nor_switches_nor_applications_count() -> None:
    world = World(
        queue("root.a", guaranteed=5, preemption_policy="fence", preemption_delay="1h"), nodes={"n1": 1}
    )
    world.runs("v", "root.a", app_id="app")
    world.configure(*world.queues, preemption=False)
    ask(world, 1, app_id="app", priority=0, never_preempts=True)
    assert world.victims() == {"v"}


@pytest.mark.rule("RNP-1")
def test_not_while_its_queue_has_no_capacity_for_it() -> None:
    world = World(queue("root.a", max=1), queue("root.b"), nodes={"n1": 5})
    world.runs("v", "root.b", 5)
    ask(world, 2)
    assert world.refused().stop is Stop.HEADROOM


@pytest.mark.rule("RNP-1")
def test_an_unknown_node_and_one_with_capacity() -> None:
    world = world_of(1)
    ask(world, 1)
    assert world.refused().stop is Stop.ENOUGH_CAPACITY
    world.tell(on.ObjectDeleted(on.NODES, HERE))
    assert world.refused().stop is Stop.NO_NODE


@pytest.mark.rule("RNP-5")
def test_once_only() -> None:
    world = world_of(0, v={})
    ask(world, 1)
    triggered(world.ledger, PodUid("ask"))
    assert world.refused().stop is Stop.TRIGGERED
