"""Part of preemption: tried or not, stopped by which law, and when it is tried next."""

import pytest

from core.decisions.explanation import preempting
from core.decisions.explanation.explaining import explain_at_once
from core.decisions.explanation.values import OtherPod, Preempting
from core.decisions.preemption.receipts import Stop
from core.ids import PodUid, QueuePath
from core.ledger import events as on
from tests.core.preemption_world import LATER, START, World, queue, world_of


def part(world: World, *, now: float = LATER) -> Preempting:
    found = explain_at_once(world.ledger.view, PodUid("ask"), now=now)
    assert found is not None
    assert found.preemption is not None
    return found.preemption


def asking(world: World, size: int = 2) -> World:
    world.asks("ask", "root.a", size)
    return world


def test_a_plan_that_could_be_made_names_its_victims() -> None:
    found = part(asking(world_of(1, 1, 1)))
    assert found.possible
    assert found.victims == (
        OtherPod("default", "v2", QueuePath("root.b")),
        OtherPod("default", "v1", QueuePath("root.b")),
    )
    assert (found.stop, found.under_way) == (None, False)


@pytest.mark.rule("PRE-3")
def test_a_young_ask_says_when_it_is_tried() -> None:
    found = part(asking(world_of(1, 1, 1)), now=START + 1)
    assert (found.stop, found.law) == (Stop.TOO_YOUNG, "PRE-3")
    assert (found.tried_at, found.tried_next) == (None, START + 30.0)


@pytest.mark.rule("PRE-5")
def test_after_an_attempt_both_times_are_known() -> None:
    world = asking(world_of(1, 1, 1))
    world.tell(on.PreemptionTried(PodUid("ask")), now=START + 40)
    found = part(world)
    assert (found.tried_at, found.tried_next) == (START + 40, START + 55)


@pytest.mark.rule("LAW-4")
def test_an_ask_beyond_its_guarantee_names_queue_and_resource() -> None:
    found = part(asking(world_of(3, 3, guaranteed=1)))
    assert (found.stop, found.law) == (Stop.GUARANTEE, "LAW-4")
    assert (found.queue, found.resource) == ("root.a", "vcore")


@pytest.mark.rule("LAW-2")
def test_a_guarantee_that_spares_the_victims_is_named() -> None:
    world = World(
        queue("root.a", guaranteed={"vcore": 2000, "memory": 2**31}),
        queue("root.b", guaranteed={"vcore": 1000, "memory": 2**30}),
        nodes={"n1": {"vcore": 4000, "memory": 2**30}},
    )
    world.runs("v", "root.b", {"vcore": 4000, "memory": 2**30})
    world.asks("ask", "root.a", {"vcore": 1000, "memory": 2**29})
    found = part(world)
    assert (found.stop, found.law) == (Stop.NO_NODE, "LAW-2")
    assert (found.queue, found.resource) == ("root.b", "memory")


def test_a_plan_under_way_is_named_with_its_victims() -> None:
    world = asking(world_of(1, 1, 1))
    victim = on.ChosenVictim(PodUid("v2"), "")
    world.tell(on.PlanCommitted(PodUid("ask"), "plan", world.ledger.view.pod(PodUid("v2")).node, (victim,)))  # type: ignore[union-attr]
    found = part(world)
    assert found.under_way
    assert [each.name for each in found.victims] == ["v2"]


def test_beyond_the_budget_the_outcome_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preempting, "UNITS_AT_MOST", 0)
    found = part(asking(world_of(1, 1, 1)))
    assert (found.possible, found.stop) == (False, None)
