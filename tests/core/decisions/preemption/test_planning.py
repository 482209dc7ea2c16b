"""The node of a plan, the way to it, and the texts of plans and refusals (PRE-7, PRE-12 to PRE-15)."""

import pytest

from core.decisions.preemption.planning import Planning
from core.decisions.preemption.receipts import NoPlan, Plan, Stop
from core.ids import PodUid
from core.ledger import events as on
from tests.builders import reserved_on
from tests.core.preemption_world import LATER, World, queue, world_of

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
def test_where_a_node_and_the_queues_have_capacity_no_pod_is_evicted() -> None:
    world = world_of(1, total=1)
    world.node("n2", 1)
    world.asks("ask", "root.a")
    assert world.refused().stop is Stop.ENOUGH_CAPACITY
    assert world.victims(candidates=["n1", "n2"]) == {"v0"}


@pytest.mark.rule("PRE-12")
def test_nodes_that_do_not_take_the_ask() -> None:
    world = world_of(1)
    world.node("n1", 1, unschedulable=True)
    world.asks("ask", "root.a")
    assert world.refused().nodes.examples == (("n1", "cordon"),)


@pytest.mark.rule("PRE-12")
def test_a_node_reserved_for_another_ask_takes_no_part() -> None:
    world = on_two([{"size": 1}], [{"size": 1}], 1)
    world.asks("other", "root.b")
    for name, victims in (("other", {"n2-0"}), ("ask", {"n1-0"})):
        reserved_on(world.ledger, name, "n1")
        assert world.ledger.view.reserved_nodes == {"n1": name}
        assert world.victims() == victims
        reserved_on(world.ledger, name, "")


@pytest.mark.rule("PRE-12")
def test_only_the_nodes_that_kube_scheduler_names() -> None:
    world = on_two([{"size": 1}], [{"size": 1}], 1)
    assert world.victims(candidates=["n2", "ghost"]) == {"n2-0"}
    assert world.victims(candidates=[]) == set()


# -- how it is made and told ------------------------------


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
    planning = Planning(world.ledger.view, PodUid("ask"), now=LATER)
    slices = 0
    while planning.slice() and planning.result is None:
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
        "LAW-4: wants vcore=1, left to its guarantee after the evictions: vcore=5",
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
    text = "QueueNotBelowGuarantee (LAW-4): wants vcore=2m, left to its guarantee: vcore=1m"
    assert refusal.refused().as_text() == text
    assert refusal.refused().as_dict()["law"] == "LAW-4"
