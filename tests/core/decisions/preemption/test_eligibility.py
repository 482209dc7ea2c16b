"""Eligibility of an ask for preemption: switches, delay, and a guarantee worth it (PRE-1 to PRE-10)."""

from dataclasses import replace

import pytest

from core.decisions.preemption.receipts import Stop
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.queues.spec import LimitSpec
from core.resource import Limit
from tests.builders import START, triggered, untriggered
from tests.core.preemption_world import World, queue, world_of

# -- may it ask at all ------------------------------


@pytest.mark.rule("PRE-1")
def test_the_partitions_switch() -> None:
    world = world_of(1)
    world.asks("ask", "root.a")
    world.configure(*world.queues, preemption=False)
    assert world.refused().stop is Stop.SWITCHED_OFF
    world.configure(*world.queues)
    assert world.victims() == {"v0"}


@pytest.mark.rule("PRE-4", "PRE-5")
def test_one_that_never_preempts() -> None:
    world = world_of(1)
    world.asks("ask", "root.a", never_preempts=True)
    assert world.refused().stop is Stop.NEVER_PREEMPTS


@pytest.mark.rule("PRE-5")
def test_one_that_has_triggered_before_does_not_again_until_that_is_undone() -> None:
    world = world_of(1)
    world.asks("ask", "root.a")
    triggered(world.ledger, PodUid("ask"))
    assert world.refused().stop is Stop.TRIGGERED
    untriggered(world.ledger, PodUid("ask"))
    assert world.victims() == {"v0"}


@pytest.mark.rule("PRE-3", "PRE-5")
@pytest.mark.parametrize(
    ("properties", "delay"),
    [
        ({}, 30),
        ({"preemption_delay": "5s"}, 5),
        ({"preemption_delay": "0s"}, 30),
        ({"preemption_delay": "-5s"}, 30),
        ({"preemption_delay": "soon"}, 30),
    ],
)
def test_the_delay_is_that_of_the_leaf_and_inherited(properties: dict[str, str], delay: int) -> None:
    world = World(
        queue("root.p", leaf=False, **properties),
        queue("root.p.a", guaranteed=5),
        queue("root.b"),
        nodes={"n1": 1},
    )
    world.runs("v", "root.b")
    world.asks("ask", "root.p.a")
    assert world.refused(now=START + delay - 0.1).stop is Stop.TOO_YOUNG
    assert world.victims(now=START + delay) == {"v"}


@pytest.mark.rule("PRE-5")
@pytest.mark.parametrize(
    "facts",
    [{"node": NodeName("n1")}, {"deleting": True}, {"gates": ("example.com/wait",)}, {"scheduler_name": "x"}],
)
def test_only_an_ask_in_a_queue_may(facts: dict[str, object]) -> None:
    world = world_of(1)
    world.asks("ask", "root.a", **facts)
    assert world.refused().stop is Stop.NOT_AN_ASK
    assert world.refused("ghost").stop is Stop.NOT_AN_ASK


@pytest.mark.rule("PRE-5")
def test_a_limit_of_its_user_never_starts_a_preemption() -> None:
    world = world_of(1)
    world.asks("ask", "root.a")
    limit = LimitSpec(("nobody",), (), Limit({"vcore": 0}))
    world.configure(*(replace(each, limits=(limit,)) for each in world.queues))
    refusal = world.refused()
    assert (refusal.stop, refusal.law) == (Stop.LIMITED, "CYC-5")


def test_what_a_node_alone_cannot_tell_is_for_kube_scheduler_unless_a_setting_says_otherwise() -> None:
    world = world_of(1)
    world.asks("ask", "root.a", complex=True)
    assert world.refused().stop is Stop.COMPLEX
    assert world.victims(candidates=["n1"]) == {"v0"}
    bold = world_of(1, plans_complex=True)
    bold.asks("ask", "root.a", complex=True)
    assert bold.victims() == {"v0"}


# -- is it worth it ------------------------------


@pytest.mark.rule("PRE-10", "LAW-4")
def test_without_a_guarantee_on_the_way_never() -> None:
    world = World(queue("root.a"), queue("root.b"), nodes={"n1": 1})
    world.runs("v", "root.b")
    world.asks("ask", "root.a")
    refusal = world.refused()
    assert (refusal.stop, refusal.law) == (Stop.GUARANTEE, "LAW-4")
    assert "no guarantee" in refusal.text


@pytest.mark.rule("PRE-10", "LAW-4")
@pytest.mark.parametrize(("size", "found"), [(5, True), (6, False)])
def test_the_whole_ask_must_fit_into_what_is_left(size: int, found: bool) -> None:
    world = world_of(1, 1, 1, 1, 1, 1)
    world.asks("ask", "root.a", size)
    assert bool(world.victims()) is found


@pytest.mark.rule("DIV-11")
def test_something_that_is_wanted_must_be_guaranteed() -> None:
    world = World(
        queue("root.a", guaranteed={"gpu": 1}),
        queue("root.b"),
        nodes={"n1": {"vcore": 1, "gpu": 1}},
    )
    world.runs("v", "root.b")
    world.asks("ask", "root.a")
    assert world.refused().law == "LAW-4"
    world.asks("both", "root.a", {"vcore": 1, "gpu": 1})
    assert world.victims("both") == {"v"}


@pytest.mark.rule("LAW-5")
def test_a_queue_that_is_guaranteed_something_else_is_not_taken_from() -> None:
    world = World(
        queue("root.a", guaranteed={"vcore": 5}),
        queue("root.b", guaranteed={"gpu": 1}),
        nodes={"n1": 4},
    )
    for number in range(4):
        world.runs(f"v{number}", "root.b")
    world.asks("ask", "root.a")
    assert [found.law for _, found in world.refused().queues] == ["LAW-5"]


@pytest.mark.rule("LAW-3")
def test_no_pod_of_the_asks_own_queue_is_evicted() -> None:
    world = World(queue("root.a", guaranteed=5), nodes={"n1": 1})
    world.runs("v", "root.a", priority=-100)
    world.asks("ask", "root.a")
    assert world.refused().law == "LAW-7"


@pytest.mark.rule("PRE-10")
def test_what_an_ask_holds_itself_is_not_counted_against_it() -> None:
    """Filter has admitted the ask, so its queues already count it. The promise of another ask counts, too."""
    world = world_of(1, guaranteed=1)
    world.asks("ask", "root.a")
    world.tell(on.PodAdmitted(PodUid("ask"), 1))
    assert world.victims() == {"v0"}
    world.asks("other", "root.a")
    assert world.refused("other").law == "LAW-4"


@pytest.mark.rule("DIV-14")
def test_asks_of_one_queue_take_no_more_than_its_guarantee_lacks() -> None:
    world = world_of(*[1] * 8, guaranteed=5, total=10)
    for number in range(2):
        world.runs(f"mine{number}", "root.a")
    deleted: set[str] = set()
    for number in range(8):
        world.asks(f"ask{number}", "root.a")
        victims = world.victims(f"ask{number}")
        if victims:
            triggered(world.ledger, f"ask{number}", *sorted(victims))
        deleted |= victims
    assert deleted == {"v7", "v6", "v5"}
