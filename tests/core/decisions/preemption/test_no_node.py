"""PRE-13 by its causes, with queue and resource (E5)."""

import pytest

from core.decisions.preemption.receipts import Stop
from tests.core.preemption_world import World, queue


def stopped(world: World) -> tuple[str, str]:
    found = world.refused()
    assert found.stop is Stop.NO_NODE
    return found.law, found.text


@pytest.mark.rule("PRE-13")
def test_e5_a_guarantee_of_memory_is_named_with_its_queue() -> None:
    due = {"vcore": 4000, "memory": 2**30}
    world = World(
        queue("root.a", guaranteed={"vcore": 2000, "memory": 2**31}),
        queue("root.b", guaranteed={**due, "vcore": 1000}),
        nodes={"n1": {"vcore": 4000, "memory": 2**30}},
    )
    world.runs("v", "root.b", {"vcore": 4000, "memory": 2**30})
    world.asks("ask", "root.a", {"vcore": 1000, "memory": 2**29})
    law, text = stopped(world)
    assert law == "LAW-2"
    assert text == "root.b must keep its guarantee of 1Gi memory and uses 1Gi"


@pytest.mark.rule("PRE-12", "PRE-13")
def test_e5_nodes_that_do_not_take_it_are_counted_by_reason() -> None:
    world = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={"n1": 4, "n2": 4})
    world.runs("v1", "root.b", 4, "n1")
    world.runs("v2", "root.b", 4, "n2")
    world.asks("ask", "root.a", 5)
    assert stopped(world) == ("PRE-12", "it fits on no node: 2 too small")


@pytest.mark.rule("PRE-13")
def test_e5_too_few_pods_to_free_enough() -> None:
    world = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={"n1": 4})
    world.runs("v1", "root.b", 1, "n1")
    world.runs("v2", "root.b", 3, "n1", priority=9)
    world.asks("ask", "root.a", 4)
    law, text = stopped(world)
    assert (law, text) == ("PRE-13", "n1 lacks 4m cpu, more than the pods free that may be evicted there")
