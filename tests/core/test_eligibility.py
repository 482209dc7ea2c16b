"""Which asks plan now (PRE-5)."""

import pytest

from core.decisions.eligibility import ATTEMPTS_PER_LEAF, due_asks
from core.ids import NodeName, PodUid
from core.ledger import events as on
from tests.builders import START
from tests.core.preemption_world import LATER, World, queue


def world() -> World:
    return World(queue("root.a", guaranteed=5), queue("root.b"), nodes={})


def due(world: World, now: float) -> list[str]:
    return [str(uid) for uid in due_asks(world.ledger.snapshot, now=now)]


@pytest.mark.rule("PRE-5")
def test_from_creation_plus_delay_on_and_every_15_seconds_after() -> None:
    """Delay 30 s, created at 0: first at 30; tried, next at 45, then at 60."""
    found = world()
    found.asks("ask", "root.a")
    tried = []
    for second in range(62):
        if due(found, START + second):
            tried.append(second)
            found.tell(on.PreemptionTried(PodUid("ask")), now=START + second)
    assert tried == [30, 45, 60]


@pytest.mark.rule("PRE-5")
def test_ten_asks_of_a_leaf_at_most_the_most_important_first() -> None:
    found = world()
    for number in range(ATTEMPTS_PER_LEAF + 2):
        found.asks(f"a{number:02}", "root.a", priority=number)
    found.asks("b", "root.b")
    assert due(found, LATER) == [*(f"a{number:02}" for number in range(11, 1, -1)), "b"]


@pytest.mark.rule("PRE-5", "RNP-5")
@pytest.mark.parametrize("facts", [{}, {"required_node": NodeName("n1")}])
def test_not_one_that_has_triggered(facts: dict[str, object]) -> None:
    found = world()
    found.asks("ask", "root.a", **facts)
    assert due(found, LATER) == ["ask"]
    found.tell(on.PreemptionTriggered(PodUid("ask")))
    assert due(found, LATER) == []


@pytest.mark.rule("RNP-1")
def test_one_for_a_single_node_waits_for_no_delay() -> None:
    found = world()
    found.asks("ask", "root.a", required_node=NodeName("n1"), never_preempts=True)
    found.configure(*found.queues, preemption=False)
    assert due(found, START) == ["ask"]


@pytest.mark.rule("PRE-1", "PRE-4")
def test_not_one_that_never_preempts_nor_any_with_the_switch_off() -> None:
    found = world()
    found.asks("never", "root.a", never_preempts=True)
    found.asks("ask", "root.a")
    assert due(found, LATER) == ["ask"]
    found.configure(*found.queues, preemption=False)
    assert due(found, LATER) == []
