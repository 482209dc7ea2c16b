"""The order of victims, and their number (PRE-6, PRE-11 to PRE-19)."""

import pytest

from core.decisions.preemption.receipts import Plan
from core.ids import NodeName
from core.ledger import events as on
from core.workload.budget import BudgetFacts
from core.workload.nodes.affinity import Requirement
from core.workload.pod import PriorityClassFacts
from tests.builders import marked
from tests.core.preemption_world import World, queue, world_of

# -- who goes ------------------------------


@pytest.mark.rule("PRE-11")
def test_the_newest_goes_first_whatever_its_priority() -> None:
    world = World(queue("root.a", guaranteed=5), queue("root.b"), nodes={"n1": 3})
    for name, created, priority in (("old", 1.0, -9), ("new", 3.0, 0), ("middle", 2.0, -99)):
        world.runs(name, "root.b", created=created, priority=priority)
    world.asks("ask", "root.a")
    assert world.victims() == {"new"}


@pytest.mark.rule("PRE-11", "LAW-1")
def test_opted_out_pods_come_after_originators_and_those_after_all_others() -> None:
    world = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={"n1": 4})
    world.runs("driver", "root.b", created=1.0, app_id="job")
    world.runs("worker", "root.b", created=2.0, app_id="job")
    world.runs("wish", "root.b", created=3.0, app_id="job", allow_preemption="false")
    world.runs("wish-and-driver", "root.b", created=4.0, allow_preemption="false")
    expected = [{"worker"}, {"worker", "driver"}, {"worker", "driver", "wish"}]
    for number, victims in enumerate(expected, 1):
        world.asks(f"ask{number}", "root.a", number)
        assert world.victims(f"ask{number}") == victims
    world.asks("all", "root.a", 4)
    plan = world.plan("all")
    assert isinstance(plan, Plan)
    assert [victim.name for victim in plan.victims] == ["worker", "driver", "wish", "wish-and-driver"]


@pytest.mark.rule("LAW-1", "PRE-15")
def test_pods_that_a_disruption_budget_guards_come_last() -> None:
    """The order holds on one node and between nodes. If only such pods are left, the plan says so."""
    world = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={"n1": 2, "n2": 1})
    world.tell(
        on.ObjectObserved(on.BUDGETS, BudgetFacts("default", "all", (Requirement("app", "Exists", ()),), 0))
    )
    world.runs("guarded", "root.b", node="n2", created=9.0, labels={"app": "x"})
    world.runs("also-guarded", "root.b", created=8.0, labels={"app": "x"})
    world.runs("wish", "root.b", created=1.0, allow_preemption="false")
    world.asks("ask", "root.a")
    assert world.victims() == {"wish"}
    world.asks("both", "root.a", 2)
    plan = world.plan("both")
    assert isinstance(plan, Plan)
    assert ([victim.name for victim in plan.victims], plan.breaks_budgets) == (["wish", "also-guarded"], True)


@pytest.mark.rule("PRE-4", "LAW-1")
@pytest.mark.parametrize(
    ("own", "of_class", "opted_out"),
    [
        ("false", "", True),
        ("true", "false", False),
        ("", "false", True),
        ("", "true", False),
        ("", "", False),
        ("", None, False),
    ],
)
def test_where_an_opt_out_stands(own: str, of_class: str | None, opted_out: bool) -> None:
    world = world_of(1)
    if of_class is not None:
        world.tell(on.ObjectObserved(on.PRIORITY_CLASSES, PriorityClassFacts("low", 0, of_class)))
    world.runs("other", "root.b", 0, created=9.0, allow_preemption=own, priority_class="low")
    world.node("n1", 2)
    world.runs("wish", "root.b", 1, created=8.0, allow_preemption=own, priority_class="low")
    world.asks("ask", "root.a")
    assert world.victims() == ({"v0"} if opted_out else {"wish"})


@pytest.mark.rule("PRE-6")
@pytest.mark.parametrize(
    "facts", [{"required_node": NodeName("n1")}, {"deleting": True}, {"priority": 1}, {"scheduler_name": "x"}]
)
def test_pods_that_may_not_be_evicted(facts: dict[str, object]) -> None:
    world = World(queue("root.a", guaranteed=5), queue("root.b"), nodes={"n1": 1})
    world.runs("v", "root.b", **facts)
    world.asks("ask", "root.a")
    assert world.victims() == set()


@pytest.mark.rule("PRE-6")
def test_one_that_was_chosen_before_is_not_chosen_again() -> None:
    world = world_of(1, 1)
    marked(world.ledger, "v1", "root.b")
    world.asks("ask", "root.a")
    assert world.victims() == {"v0"}


# -- how few go ------------------------------


@pytest.mark.rule("DIV-23", "PRE-17")
@pytest.mark.parametrize(("whole_ask", "count"), [(False, 1), (True, 3)])
def test_free_capacity_on_the_node_is_credited(whole_ask: bool, count: int) -> None:
    """Two free, an ask of three, pods of one: one is enough; YuniKorn takes three."""
    world = world_of(1, 1, 1, total=5, whole_ask=whole_ask)
    world.asks("ask", "root.a", 3)
    assert len(world.victims()) == count


@pytest.mark.rule("DIV-23", "PRE-17")
@pytest.mark.parametrize(("whole_ask", "victims"), [(False, {"v0"}), (True, set())])
def test_one_victim_and_free_capacity_may_suffice_together(whole_ask: bool, victims: set[str]) -> None:
    """The node has one free, the ask wants five, and the one victim has four."""
    world = world_of(4, total=5, whole_ask=whole_ask)
    world.asks("ask", "root.a", 5)
    assert world.victims() == victims


@pytest.mark.rule("DIV-23")
def test_a_victim_that_turns_out_not_to_be_needed_is_given_back() -> None:
    world = world_of(3, 1, total=4)
    world.asks("ask", "root.a", 3)
    assert world.victims() == {"v0"}


@pytest.mark.rule("DIV-12", "PRE-13")
def test_one_larger_than_the_asks_queue_lacks_is_passed_over() -> None:
    """Size 2, then the newest of size 3, with 2 left to the guarantee."""
    world = world_of(2, 3, guaranteed=2)
    world.asks("ask", "root.a", 2)
    assert world.victims() == {"v0"}


@pytest.mark.rule("DIV-13", "PRE-19")
def test_every_victim_that_the_node_needs_goes() -> None:
    world = World(
        queue("root.a", guaranteed={"vcore": 9, "memory": 9}),
        queue("root.b"),
        nodes={"n1": {"vcore": 4, "memory": 2}},
    )
    world.runs("older", "root.b", {"vcore": 1, "memory": 1}, created=1.0)
    world.runs("newer", "root.b", {"vcore": 3, "memory": 1}, created=2.0)
    world.asks("ask", "root.a", {"vcore": 2, "memory": 2})
    assert world.victims() == {"older", "newer"}


def below_a_max(total: int, sizes: dict[str, tuple[str, int]], ask: int, **settings: bool) -> World:
    """PRE-18: three leaves below a parent with a max, two nodes with capacity, pods by queue and node."""
    world = World(
        queue("root.p", leaf=False, max=total),
        *(queue(f"root.p.child{number}", guaranteed=15 if number == 2 else None) for number in (1, 2, 3)),
        nodes={"n1": 100, "n2": 100},
        **settings,
    )
    for number, (name, (place, size)) in enumerate(sizes.items()):
        leaf, node = place.split()
        world.runs(name, f"root.p.{leaf}", size, node, created=float(number))
    world.asks("ask", "root.p.child2", ask)
    return world


@pytest.mark.rule("PRE-16", "PRE-17", "PRE-18")
@pytest.mark.parametrize("whole_ask", [False, True])
def test_where_only_the_queues_are_short_the_newest_go_wherever_they_run(whole_ask: bool) -> None:
    pods = {"v1": ("child1 n1", 5), "v2": ("child1 n2", 5), "v3": ("child3 n2", 5)}
    world = below_a_max(18, pods, 10, whole_ask=whole_ask)
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert ([victim.name for victim in plan.victims], plan.node) == (["v3", "v2"], "n1")
    assert not plan.on_its_node


@pytest.mark.rule("PRE-18", "DIV-23")
@pytest.mark.parametrize(("whole_ask", "victims"), [(False, {"v2"}), (True, set())])
def test_free_headroom_is_credited(whole_ask: bool, victims: set[str]) -> None:
    """A max of 8 of which 4 are used, an ask of 5, two victims of 2."""
    world = below_a_max(8, {"v1": ("child1 n1", 2), "v2": ("child1 n2", 2)}, 5, whole_ask=whole_ask)
    assert world.victims() == victims


@pytest.mark.rule("PRE-18")
def test_a_node_that_can_never_hold_it_takes_no_part() -> None:
    world = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={"n1": 5, "n2": 4})
    world.runs("v1", "root.b", 4, "n1")
    world.runs("v2", "root.b", 2, "n2")
    world.asks("ask", "root.a", 5)
    assert world.victims() == {"v1"}
    spare = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={"n1": 5, "n2": 4}, whole_ask=True)
    spare.runs("v1", "root.b", 4, "n1")
    spare.runs("v2", "root.b", 2, "n2")
    spare.asks("ask", "root.a", 5)
    assert spare.victims() == set()


@pytest.mark.rule("PRE-16")
def test_a_plan_may_need_victims_on_its_node_and_elsewhere() -> None:
    world = World(
        queue("root.p", leaf=False, max=6),
        queue("root.p.a", guaranteed=4),
        queue("root.p.b"),
        queue("root.c"),
        nodes={"n1": 4, "n2": 4},
    )
    for number in range(2):
        world.runs(f"b{number}", "root.p.b", 2, "n2", created=float(number))
    world.runs("b2", "root.p.b", 2, "n1", created=9.0)
    world.runs("c", "root.c", 2, "n1")
    world.asks("ask", "root.p.a", 4)
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert {(victim.name, victim.node) for victim in plan.victims} == {("b1", "n2"), ("b0", "n2")}
    assert plan.node == "n2"
