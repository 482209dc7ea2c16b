"""The planner: who may ask, who goes first, how few go, and what a refusal says (PRE-1 to PRE-19)."""

from dataclasses import replace

import pytest

from core.decisions.preemption import Planning
from core.decisions.receipts import NoPlan, Plan, Stop
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.keeping import keep, let_go
from core.queues.spec import LimitSpec
from core.resource import Limit
from core.workload.affinity import Requirement
from core.workload.budget import BudgetFacts
from core.workload.pod import PriorityClassFacts
from tests.builders import START, marked, triggered, untriggered
from tests.core.preemption_world import LATER, World, queue


def world_of(*sizes: int, total: int | None = None, guaranteed: int = 5, **settings: bool) -> World:
    """A queue without anything and one with pods v0, v1 ...: each newer than the one before; one node."""
    world = World(
        queue("root.a", guaranteed=guaranteed),
        queue("root.b"),
        nodes={"n1": sum(sizes) if total is None else total},
        **settings,
    )
    for number, size in enumerate(sizes):
        world.runs(f"v{number}", "root.b", size, created=float(number))
    return world


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
def test_nobody_goes_in_the_asks_own_queue() -> None:
    world = World(queue("root.a", guaranteed=5), nodes={"n1": 1})
    world.runs("v", "root.a", priority=-100)
    world.asks("ask", "root.a")
    assert world.refused().law == "LAW-7"


@pytest.mark.rule("PRE-10")
def test_what_an_ask_holds_itself_is_not_counted_against_it() -> None:
    """Admitted by filter, so that its queues count it already; another one's promise does count."""
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
    gone: set[str] = set()
    for number in range(8):
        world.asks(f"ask{number}", "root.a")
        victims = world.victims(f"ask{number}")
        for victim in victims:
            marked(world.ledger, PodUid(victim), PodUid(f"ask{number}"))
        if victims:
            triggered(world.ledger, PodUid(f"ask{number}"))
        gone |= victims
    assert gone == {"v7", "v6", "v5"}


# -- who goes ------------------------------


@pytest.mark.rule("PRE-11")
def test_the_newest_goes_first_whatever_its_priority() -> None:
    world = World(queue("root.a", guaranteed=5), queue("root.b"), nodes={"n1": 3})
    for name, created, priority in (("old", 1.0, -9), ("new", 3.0, 0), ("middle", 2.0, -99)):
        world.runs(name, "root.b", created=created, priority=priority)
    world.asks("ask", "root.a")
    assert world.victims() == {"new"}


@pytest.mark.rule("PRE-11", "LAW-1")
def test_who_opted_out_goes_behind_originators_and_those_behind_all_others() -> None:
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
def test_whom_a_disruption_budget_guards_goes_behind_everybody() -> None:
    """On a node, and when nodes are compared; where nobody else is left, the plan says so."""
    world = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={"n1": 2, "n2": 1})
    world.tell(on.BudgetObserved(BudgetFacts("default", "all", (Requirement("app", "Exists", ()),), 0)))
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
        world.tell(on.PriorityClassObserved(PriorityClassFacts("low", 0, of_class)))
    world.runs("other", "root.b", 0, created=9.0, allow_preemption=own, priority_class="low")
    world.node("n1", 2)
    world.runs("wish", "root.b", 1, created=8.0, allow_preemption=own, priority_class="low")
    world.asks("ask", "root.a")
    assert world.victims() == ({"v0"} if opted_out else {"wish"})


@pytest.mark.rule("PRE-6")
@pytest.mark.parametrize(
    "facts", [{"required_node": NodeName("n1")}, {"deleting": True}, {"priority": 1}, {"scheduler_name": "x"}]
)
def test_who_may_not_go(facts: dict[str, object]) -> None:
    world = World(queue("root.a", guaranteed=5), queue("root.b"), nodes={"n1": 1})
    world.runs("v", "root.b", **facts)
    world.asks("ask", "root.a")
    assert world.victims() == set()


@pytest.mark.rule("PRE-6")
def test_one_that_was_chosen_before_is_not_chosen_again() -> None:
    world = world_of(1, 1)
    marked(world.ledger, PodUid("v1"), PodUid("other"))
    world.asks("ask", "root.a")
    assert world.victims() == {"v0"}


# -- how few go ------------------------------


@pytest.mark.rule("DIV-23", "PRE-17")
@pytest.mark.parametrize(("whole_ask", "count"), [(False, 1), (True, 3)])
def test_free_room_on_the_node_is_credited(whole_ask: bool, count: int) -> None:
    """Two free, an ask of three, pods of one: one is enough; YuniKorn takes three."""
    world = world_of(1, 1, 1, total=5, whole_ask=whole_ask)
    world.asks("ask", "root.a", 3)
    assert len(world.victims()) == count


@pytest.mark.rule("DIV-23", "PRE-17")
@pytest.mark.parametrize(("whole_ask", "victims"), [(False, {"v0"}), (True, set())])
def test_one_victim_and_free_room_may_make_a_whole(whole_ask: bool, victims: set[str]) -> None:
    """One free, an ask of five, one victim of four."""
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
    """PRE-18: three leaves below a parent with a max, two nodes with room, pods by (queue and node)."""
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


# -- which node ------------------------------


def on_two(first: list[dict[str, object]], second: list[dict[str, object]], ask: int) -> World:
    world = World(queue("root.a", guaranteed=9), queue("root.b"), nodes={})
    for node, pods in (("n1", first), ("n2", second)):
        sizes = [pod.pop("size") for pod in pods]
        world.node(node, sum(sizes))  # type: ignore[call-overload]
        world.runs(f"first-{node}", "root.b", 0, node, app_id="app", created=-1.0)
        for number, (size, pod) in enumerate(zip(sizes, pods, strict=True)):
            world.runs(f"{node}-{number}", "root.b", size, node, app_id="app", **pod)  # type: ignore[arg-type]
    world.asks("ask", "root.a", ask)
    return world


@pytest.mark.rule("PRE-15", "LAW-1")
def test_a_node_whose_victims_do_not_mind_wins() -> None:
    world = on_two([{"size": 2, "allow_preemption": "false"}], [{"size": 1}, {"size": 1}], 2)
    assert world.victims() == {"n2-0", "n2-1"}


@pytest.mark.rule("PRE-15")
def test_a_node_with_fewer_victims_wins() -> None:
    world = on_two([{"size": 1}, {"size": 1}, {"size": 1}], [{"size": 3}], 3)
    assert world.victims() == {"n2-0"}


@pytest.mark.rule("PRE-15")
def test_of_equal_nodes_the_first_by_name_wins() -> None:
    assert on_two([{"size": 1}], [{"size": 1}], 1).victims() == {"n1-0"}


@pytest.mark.rule("PRE-14")
def test_where_a_node_and_the_queues_have_room_nobody_goes() -> None:
    world = world_of(1, total=1)
    world.node("n2", 1)
    world.asks("ask", "root.a")
    assert world.refused().stop is Stop.THERE_IS_ROOM
    assert world.victims(candidates=["n1", "n2"]) == {"v0"}


@pytest.mark.rule("PRE-12")
def test_nodes_that_do_not_take_the_ask() -> None:
    world = world_of(1)
    world.node("n1", 1, unschedulable=True)
    world.asks("ask", "root.a")
    assert world.refused().nodes.examples == (("n1", "cordon"),)


@pytest.mark.rule("PRE-12")
def test_a_node_that_is_kept_for_another_ask_takes_no_part() -> None:
    world = on_two([{"size": 1}], [{"size": 1}], 1)
    world.asks("other", "root.b")
    for name, victims in (("other", {"n2-0"}), ("ask", {"n1-0"})):
        state = world.ledger._state
        record = state.pods[PodUid(name)]
        keep(state, record, NodeName("n1"))
        assert world.victims() == victims
        let_go(state, record)


@pytest.mark.rule("PRE-12")
def test_only_the_nodes_that_kube_scheduler_names() -> None:
    world = on_two([{"size": 1}], [{"size": 1}], 1)
    assert world.victims(candidates=["n2", "ghost"]) == {"n2-0"}
    assert world.victims(candidates=[]) == set()


# -- how it is done ------------------------------


@pytest.mark.rule("PRE-7")
def test_planning_changes_nothing_and_says_the_same_again() -> None:
    world = world_of(1, 2, 3)
    world.asks("ask", "root.a", 4)
    tree = [(repr(each), repr(each.allocated), repr(each.preempting)) for each in world.tree]
    assert world.plan() == world.plan()
    assert tree == [(repr(each), repr(each.allocated), repr(each.preempting)) for each in world.tree]


def test_a_plan_made_in_slices_is_judged_on_what_is_known_at_its_end() -> None:
    world = World(queue("root.a", guaranteed=5), queue("root.b"), nodes={})
    for number in range(400):
        world.node(f"n{number:03}", 1)
        world.runs(f"v{number:03}", "root.b", 1, f"n{number:03}", created=0.0, priority=int(number < 399))
    world.asks("ask", "root.a")
    planning = Planning(world.ledger.snapshot, PodUid("ask"), now=LATER)
    slices = 0
    while planning.slice() is None:
        slices += 1
        world.tell(on.PodDeleted(PodUid("ask")))
    assert slices > 0
    assert isinstance(planning.result, NoPlan)
    assert planning.result.stop is Stop.STALE


def test_what_a_receipt_says() -> None:
    world = World(queue("root.a", guaranteed=5000), queue("root.b", guaranteed=1000), nodes={"n1": 3000})
    for number in range(3):
        world.runs(f"v{number}", "root.b", 1000, created=float(number), app_id="job")
    world.asks("ask", "root.a", 1000)
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert plan.receipt.as_text().splitlines() == [
        "LAW-7: victims come from below root (root)",
        "LAW-4: wants vcore=1, left to its guarantee with victims gone: vcore=5",
        "default/v2 in root.b on n1",
        "  LAW-2: gives vcore=1, above guarantees: vcore=2",
        "  LAW-3: application job",
        "  LAW-5: left to its queue's guarantee: vcore=-2",
        "  LAW-6: priority 0, allowed: at most 0",
        "  LAW-7: below root",
        "nodes considered: 1",
    ]
    assert plan.receipt.as_dict()["kind"] == "guarantee"
    refusal = world_of(1, guaranteed=1)
    refusal.asks("ask", "root.a", 2)
    told = "QueueNotBelowGuarantee (LAW-4): wants vcore=2m, left to its guarantee: vcore=1m"
    assert refusal.refused().as_text() == told
    assert refusal.refused().as_dict()["law"] == "LAW-4"
