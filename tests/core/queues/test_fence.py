"""The queues in which an ask may find victims, and its priority there (PRE-6, LAW-6, LAW-7)."""

from dataclasses import replace

import pytest

from core.decisions.preemption.case import case_of, gather_case
from core.ledger import events as on
from core.queues.fence import Bound
from tests.builders import triggered
from tests.core.preemption_world import World, queue

TWO_LEAVES = ("root.parent1.leaf1", "root.parent2.leaf2")


def two_parents(first: dict[str, str], second: dict[str, str], **settings: bool) -> World:
    """An ask of priority 0 in one queue, and two pods of priority -1000 in the other."""
    world = World(
        queue("root.parent1", leaf=False, **first),
        queue("root.parent1.leaf1", guaranteed=5),
        queue("root.parent2", leaf=False, **second),
        queue("root.parent2.leaf2"),
        nodes={"n1": 2},
        **settings,
    )
    world.runs("v1", "root.parent2.leaf2", priority=-1000)
    world.runs("v2", "root.parent2.leaf2", priority=-1000)
    world.asks("ask", "root.parent1.leaf1", 2)
    return world


@pytest.mark.rule("PRE-6", "LAW-6")
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ({}, {}, True),
        ({}, {"priority_offset": "1000"}, True),
        ({}, {"priority_offset": "1001"}, False),
        ({}, {"priority_policy": "fence", "priority_offset": "1"}, False),
        ({}, {"priority_policy": "fence", "priority_offset": "-1"}, True),
        ({"priority_policy": "fence", "priority_offset": "-1000"}, {}, True),
        ({"priority_policy": "fence", "priority_offset": "-1001"}, {}, False),
    ],
)
def test_offsets_and_fences_between_two_queues(
    first: dict[str, str], second: dict[str, str], both: bool, shared: bool
) -> None:
    world = two_parents(first, second, shared_ancestor_priority=shared)
    assert world.victims() == ({"v1", "v2"} if both else set())


@pytest.mark.rule("PRE-6", "LAW-6")
def test_below_a_fence_that_is_low_enough_any_priority_is_fair_game() -> None:
    world = World(
        queue("root.a", guaranteed=5),
        queue("root.p", leaf=False, priority_policy="fence"),
        queue("root.p.b", priority_offset="500"),
        nodes={"n1": 1},
    )
    world.runs("v", "root.p.b", priority=2_000_000_000)
    world.asks("ask", "root.a")
    assert world.victims() == {"v"}


@pytest.mark.rule("PRE-6", "DIV-6")
def test_a_nested_fence_with_too_high_an_offset_is_passed_by_also_below_an_outer_one() -> None:
    world = World(
        queue("root.a", guaranteed=5),
        queue("root.p", leaf=False, priority_policy="fence"),
        queue("root.p.b", priority_policy="fence", priority_offset="1"),
        nodes={"n1": 1},
    )
    world.runs("v", "root.p.b", priority=-5)
    world.asks("ask", "root.a")
    assert world.victims() == set()


def siblings(shared: bool, properties: dict[str, str], *, ask: int, victim: int) -> bool:
    """True if an ask takes from its sibling below a parent that has an offset or fence."""
    world = World(
        queue("root.p", leaf=False, **properties),
        queue("root.p.a", guaranteed=5),
        queue("root.p.b"),
        nodes={"n1": 1},
        shared_ancestor_priority=shared,
    )
    world.runs("v", "root.p.b", priority=victim)
    world.asks("ask", "root.p.a", priority=ask)
    return world.victims() == {"v"}


FENCED = {"priority_policy": "fence"}


@pytest.mark.rule("DIV-6", "PRI-8")
@pytest.mark.parametrize(
    ("properties", "ask", "victim", "corrected", "as_yunikorn"),
    [
        ({"priority_offset": "100"}, 0, 50, False, True),
        (FENCED, 1000, 500, True, False),
        (FENCED, -5, 0, False, True),
        ({}, 7, 7, True, True),
        ({}, 7, 8, False, False),
    ],
)
def test_what_a_shared_ancestor_does_to_priorities(
    properties: dict[str, str], ask: int, victim: int, corrected: bool, as_yunikorn: bool
) -> None:
    assert siblings(False, properties, ask=ask, victim=victim) is corrected
    assert siblings(True, properties, ask=ask, victim=victim) is as_yunikorn


@pytest.mark.rule("PRE-6")
@pytest.mark.parametrize(
    ("used", "size", "size_of_max", "bound", "root"),
    [
        (200, {"vcore": 100}, {"vcore": 200}, Bound.MAX, "root.p"),
        (100, {"vcore": 100}, {"vcore": 200}, Bound.ROOT, "root"),
        (200, {"memory": 100}, {"memory": 200}, Bound.ROOT, "root"),
    ],
)
def test_a_queue_that_cannot_take_the_ask_is_a_fence(
    used: int, size: dict[str, int], size_of_max: dict[str, int], bound: Bound, root: str
) -> None:
    world = World(
        queue("root.p", leaf=False, max=size_of_max),
        queue("root.p.a"),
        queue("root.p.b"),
        nodes={"n1": {"vcore": 1000, "memory": 1000}},
    )
    world.runs("v", "root.p.b", used)
    record = world.asks("ask", "root.p.a", size)
    view = world.ledger.view
    leaf = view.tree.get("root.p.a")
    known = view.pod(record.uid)
    assert leaf is not None
    assert known is not None
    fence = case_of(view, known, leaf).fence
    assert (fence.bound, fence.root.path) == (bound, root)


@pytest.mark.rule("LAW-7")
def test_many_leaves_are_gathered_in_steps_between_which_some_may_go() -> None:
    world = World(queue("root.a"), *(queue(f"root.b{number:03}") for number in range(120)), nodes={"n1": 1})
    record, view = world.asks("ask", "root.a"), world.ledger.view
    known, leaf = view.pod(record.uid), view.tree.get("root.a")
    assert known is not None
    assert leaf is not None
    steps, work = gather_case(view, known, leaf), []
    while True:
        try:
            work.append(next(steps))
        except StopIteration as end:
            found = end.value
            break
        world.configure(*(each for each in world.queues if each.path != "root.b119"))
        world.tell(on.CleanerDue())
    assert work == [50, 50, 19]
    assert [path for path in found.reach if path.startswith("root.b11")][-1] == "root.b118"


def tenants(*, a: int, b: int, system: int) -> World:
    """Ten cores, a fenced tenant with the queues a (fenced) and b, and a system queue."""
    world = World(
        queue("root.t1", leaf=False, preemption_policy="fence"),
        queue("root.t1.a", guaranteed=5, preemption_policy="fence"),
        queue("root.t1.b", guaranteed=5),
        queue("root.system", guaranteed=5),
        nodes={"n1": 10},
    )
    for path, count in (("root.t1.a", a), ("root.t1.b", b), ("root.system", system)):
        for number in range(count):
            world.runs(f"{path[-1]}{number}", path, created=float(number))
    return world


@pytest.mark.rule("PRE-2", "LAW-7", "PRE-21")
def test_a_fence_keeps_the_search_in_but_lets_others_come_in() -> None:
    world = tenants(a=6, b=1, system=3)
    world.asks("ask", "root.t1.b")
    assert world.victims() == {"a5"}
    triggered(world.ledger, "ask", "a5")
    world.asks("theirs", "root.system")
    assert world.victims("theirs") == set()


@pytest.mark.rule("PRE-2", "LAW-7")
def test_a_fenced_leaf_takes_from_no_queue() -> None:
    world = tenants(a=3, b=7, system=0)
    world.asks("ask", "root.t1.a")
    assert world.refused().law == "LAW-7"


@pytest.mark.rule("LAW-7")
def test_no_ask_below_a_fence_takes_from_outside_and_outside_takes_from_inside() -> None:
    world = tenants(a=0, b=4, system=6)
    world.asks("ask", "root.t1.b")
    world.refused()
    world = tenants(a=6, b=0, system=4)
    world.asks("ask", "root.system")
    assert world.victims() == {"a5"}


@pytest.mark.rule("PRE-2", "DIV-5")
@pytest.mark.parametrize(("policy", "free"), [("disabled", False), ("DISABLED", False), ("nonsense", True)])
@pytest.mark.parametrize("place", ["root", "root.p", "root.p.b"])
def test_the_policy_disabled_protects_the_leaf_and_those_that_inherit_it(
    place: str, policy: str, free: bool
) -> None:
    specs = [queue("root", leaf=False), queue("root.a", guaranteed=5), queue("root.p", leaf=False)]
    world = World(
        *(
            replace(each, properties={"preemption.policy": policy} if each.path == place else {})
            for each in (*specs, queue("root.p.b"))
        ),
        nodes={"n1": 1},
    )
    world.runs("v", "root.p.b")
    world.asks("ask", "root.a")
    assert world.victims() == ({"v"} if free else set())
    if not free:
        assert [(path, found.law) for path, found in world.refused().queues] == [("root.p.b", "PRE-2")]


@pytest.mark.rule("PRE-2")
def test_the_policy_disabled_does_not_keep_a_queues_own_asks_from_preempting() -> None:
    world = World(
        queue("root.a", guaranteed=5, preemption_policy="disabled"), queue("root.b"), nodes={"n1": 1}
    )
    world.runs("v", "root.b")
    world.asks("ask", "root.a")
    assert world.victims() == {"v"}
