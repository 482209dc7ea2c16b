"""Victims of a quota that has shrunk (QCP-1 to QCP-8)."""

from typing import Any

import pytest

from core.decisions.preemption.quota_reclaim import HOUR, candidates, excess, pick, plan_reclaim, shares
from core.ids import NodeName
from core.queues.queue import Queue
from core.queues.quota_change import QuotaTerms, is_due, start_after, start_after_growth
from core.queues.tree import QueueTree
from core.resource import Limit, Resource
from tests.builders import make_queue, make_tree, marked
from tests.core.preemption_world import World, queue

NOW = 1000.0


def terms(delay: float = 10, **cap: int) -> QuotaTerms:
    return QuotaTerms(Limit(cap) if cap else None, delay)


def started(
    old: QuotaTerms, new: QuotaTerms, *, start: float | None = None, running: bool = False, **used: int
) -> float | None:
    return start_after(old, new, start=start, allocated=Resource(used or {"a": 9}), running=running, now=NOW)


@pytest.mark.rule("QCP-2")
@pytest.mark.parametrize(
    ("old", "new", "start", "begins"),
    [
        (terms(a=5), terms(0, a=5), 1005.0, None),
        (terms(a=5), terms(), 1005.0, None),
        (terms(a=5), terms(a=9), 1005.0, None),
        (terms(0, a=5), terms(a=5), None, 1010.0),
        (terms(a=5), terms(a=5), None, None),
        (terms(10, a=5), terms(40, a=5), 1005.0, 1035.0),
        (terms(a=10), terms(a=5), None, 1010.0),
        (terms(10, a=6), terms(15, a=5), 1005.0, 1010.0),
        (terms(a=6), terms(a=5), 1005.0, 1005.0),
        (terms(a=5), terms(a=6), None, None),
        (terms(10, a=5), terms(20, a=6), 1005.0, 1015.0),
        (terms(a=5), terms(a=6), 1005.0, 1005.0),
    ],
)
def test_when_it_begins(old: QuotaTerms, new: QuotaTerms, start: float | None, begins: float | None) -> None:
    assert started(old, new, start=start) == begins


@pytest.mark.rule("QCP-2")
def test_nothing_changes_while_it_runs() -> None:
    assert started(terms(a=5), terms(0), start=900.0, running=True) == 900.0


@pytest.mark.rule("QCP-2", "DIV-17")
@pytest.mark.parametrize(
    ("old", "new", "used", "begins"),
    [
        (terms(a=10, b=5), terms(a=5, b=9), {"a": 9, "b": 1}, 1010.0),
        (terms(a=10, b=5), terms(a=5, b=9), {"a": 1, "b": 20}, None),
        (terms(), terms(a=5), {"a": 9}, 1010.0),
        (terms(b=5), terms(a=5, b=5), {"a": 9}, 1010.0),
    ],
)
def test_any_lowered_type_of_which_more_is_used_begins_it(
    old: QuotaTerms, new: QuotaTerms, used: dict[str, int], begins: float | None
) -> None:
    assert started(old, new, **used) == begins


@pytest.mark.rule("QCP-2")
@pytest.mark.parametrize(
    ("of", "start", "on_", "begins"),
    [
        (terms(a=5), None, True, 1010.0),
        (terms(a=5), None, False, None),
        (terms(0, a=5), None, True, None),
        (terms(a=9), None, True, None),
        (terms(), None, True, None),
        (terms(a=5), 700.0, True, 700.0),
    ],
)
def test_usage_that_grows_unasked_begins_it_too(
    of: QuotaTerms, start: float | None, on_: bool, begins: float | None
) -> None:
    found = start_after_growth(of, start=start, allocated=Resource({"a": 9}), switched_on=on_, now=NOW)
    assert found == begins


def at(tree: QueueTree, path: str) -> Queue:
    found = tree.get(path)
    assert found is not None
    return found


def using(tree: QueueTree, **used: int) -> None:
    for name, amount in used.items():
        path = next(each.path for each in tree if each.path.endswith(f".{name}"))
        for each in at(tree, path).chain:
            each.allocated.add(Resource({"memory": amount}))


@pytest.mark.rule("QCP-3", "QCP-1")
def test_what_fires() -> None:
    tree = make_tree(make_queue("root.x", max={"memory": 10}))
    using(tree, x=11)
    x = at(tree, "root.x")
    assert [is_due(x, start, now=NOW) for start in (None, NOW + 1, NOW, NOW - 5)] == [
        False,
        False,
        True,
        True,
    ]
    x.dynamic = True
    assert not is_due(x, NOW, now=NOW)
    x.dynamic = False
    x.max = Limit({"memory": 11})
    assert not is_due(x, NOW, now=NOW)


def one_leaf(leaf: int | None, parent: int | None, *, used: int = 1500, other: int = 0) -> Queue:
    tree = make_tree(
        make_queue("root.p", leaf=False, guaranteed={"memory": parent} if parent else None),
        make_queue("root.p.x", max={"memory": 1000}, guaranteed={"memory": leaf} if leaf else None),
        make_queue("root.p.other"),
    )
    using(tree, x=used, other=other)
    for each in at(tree, "root.p.x").chain:
        each.allocated.add(Resource({"other": 7}))
    return at(tree, "root.p.x")


@pytest.mark.rule("QCP-4")
@pytest.mark.parametrize(
    ("leaf", "parent", "used", "amount"),
    [
        (None, None, 1500, 500),
        (None, 1200, 1500, 300),
        (None, 900, 1500, 500),
        (1400, 1200, 1500, 100),
        (1600, None, 1500, 0),
        (None, None, 1000, 0),
    ],
)
def test_how_much_goes(leaf: int | None, parent: int | None, used: int, amount: int) -> None:
    assert excess(one_leaf(leaf, parent, used=used)) == (Resource({"memory": amount}) if amount else None)


@pytest.mark.rule("QCP-4", "PRE-21")
def test_what_was_chosen_before_is_not_asked_for_again() -> None:
    leaf = one_leaf(None, None)
    for each in leaf.chain:
        each.preempting.add(Resource({"memory": 400}))
    assert excess(leaf) == Resource({"memory": 100})


def family() -> QueueTree:
    """The example of QCP-5, a level deeper below the first two."""
    ten = {"memory": 10}
    tree = make_tree(
        make_queue("root.parent", leaf=False),
        make_queue("root.parent.leaf1", leaf=False, guaranteed=ten),
        make_queue("root.parent.leaf1.leaf11", guaranteed=ten),
        make_queue("root.parent.leaf1.leaf12", guaranteed=ten),
        make_queue("root.parent.leaf2", leaf=False),
        make_queue("root.parent.leaf2.leaf21"),
        make_queue("root.parent.leaf2.leaf22"),
        make_queue("root.parent.leaf3"),
        make_queue("root.parent.leaf4", guaranteed=ten),
    )
    using(tree, leaf11=30, leaf12=20, leaf21=50, leaf22=30, leaf4=10)
    return tree


@pytest.mark.rule("QCP-5")
@pytest.mark.parametrize(
    ("amount", "parts"),
    [(100, [22, 11, 41, 24]), (200, [44, 22, 83, 49]), (50, [10, 5, 20, 12])],
)
def test_how_a_parents_amount_is_split(amount: int, parts: list[int]) -> None:
    found = shares(at(family(), "root.parent"), Resource({"memory": amount, "vcore": 5}))
    assert {path.rpartition(".")[2]: part.get("memory") for path, part in found.items()} == dict(
        zip(("leaf11", "leaf12", "leaf21", "leaf22"), parts, strict=True)
    )
    assert all("vcore" not in part for part in found.values())


@pytest.mark.rule("QCP-5")
def test_a_part_for_the_first_level() -> None:
    tree = make_tree(
        make_queue("root.parent", leaf=False),
        make_queue("root.parent.leaf1", guaranteed={"memory": 10, "vcore": 100}),
        make_queue("root.parent.leaf2"),
    )
    using(tree, leaf1=50, leaf2=80)
    found = shares(at(tree, "root.parent"), Resource({"memory": 100}))
    assert [part.get("memory") for part in found.values()] == [33, 66]


def leaf_with(*sizes: int, **pods: dict[str, Any]) -> World:
    world = World(queue("root.x", max=100), nodes={"n1": 1000})
    for number, size in enumerate(sizes):
        world.runs(f"s{size}", "root.x", size, app_id="app", created=float(number))
    for name, pod in pods.items():
        world.runs(name, "root.x", pod.pop("size", 1), **{"app_id": "app", "created": 5.0, **pod})
    world.first_pods("app", queue="root.x", size={"idle": 1})
    return world


def in_order(world: World, amount: dict[str, int] | int) -> list[str]:
    size = Resource({"vcore": amount} if isinstance(amount, int) else amount)
    return [each.name for each in candidates(world.ledger.view, at(world.tree, "root.x"), size)]


@pytest.mark.rule("QCP-8")
@pytest.mark.parametrize(
    ("amount", "sizes", "taken"),
    [(8, (3, 4, 5, 6), [3, 4]), (10, (5, 6, 9), [5]), (10, (9, 11), [9]), (1, (11,), [])],
)
def test_pods_that_it_takes(amount: int, sizes: tuple[int, ...], taken: list[int]) -> None:
    world = leaf_with(*sizes)
    size = Resource({"vcore": amount})
    found = candidates(world.ledger.view, at(world.tree, "root.x"), size)
    assert [each.size.get("vcore") for each in pick(found, size)] == taken


@pytest.mark.rule("QCP-7", "DIV-18")
def test_in_which_order() -> None:
    world = leaf_with(
        driver={"app_id": "alone"},
        wish={"allow_preemption": "false"},
        mixed={"size": {"vcore": 1, "disk": 1}},
        older={"priority": -1, "created": 1.0},
        newer={"priority": -1, "created": HOUR * 2 + 1},
        same_hour={"priority": -1, "created": HOUR * 2 + 9, "size": 2},
        plain={},
    )
    assert in_order(world, 50) == ["newer", "same_hour", "older", "plain", "mixed", "driver", "wish"]


@pytest.mark.rule("QCP-6")
@pytest.mark.parametrize(
    "facts",
    [{"required_node": NodeName("n1")}, {"deleting": True}, {"size": {"disk": 1}}, {"node": NodeName("")}],
)
def test_pods_that_do_not_take_part(facts: dict[str, Any]) -> None:
    assert in_order(leaf_with(v=facts), 50) == []


@pytest.mark.rule("QCP-6")
def test_one_that_was_chosen_before_does_not_take_part() -> None:
    world = leaf_with(v={})
    marked(world.ledger, "v", "root.x")
    assert in_order(world, 50) == []


@pytest.mark.rule("QCP-1", "QCP-4")
def test_a_plan_never_undercuts_a_guarantee_and_needs_the_partitions_switch() -> None:
    world = World(
        queue("root.p", leaf=False, max=6),
        queue("root.p.x", guaranteed=4),
        queue("root.p.y"),
        nodes={"n1": 100},
    )
    for path, count in (("root.p.x", 5), ("root.p.y", 5)):
        for number in range(count):
            world.runs(f"{path[-1]}{number}", path, created=float(number))
    parent = at(world.tree, "root.p")
    assert plan_reclaim(world.ledger.view, parent) is None
    world.configure(*world.queues, quota_preemption=True)
    plan = plan_reclaim(world.ledger.view, parent)
    assert plan is not None
    assert plan.amount == Resource({"vcore": 4})
    assert {path: part.get("vcore") for path, part in plan.shares.items()} == {"root.p.y": 3}
    assert sorted(each.name for each in plan.victims) == ["y2", "y3", "y4"]
    assert plan.considered == 5
    assert plan.receipt.as_text().startswith("QCP-4: root.p is over its max by")
