"""Room in queues: the worked examples of QUO-1 to QUO-11."""

from collections.abc import Mapping

import pytest

from core.ledger import events as on
from core.queues.headroom import (
    actual_guaranteed,
    configured_max,
    effective_max,
    fair_max,
    headroom,
    max_headroom,
    shortfall,
)
from core.queues.queue import Queue
from core.queues.tree import QueueTree
from core.resource import Limit, Resource, Tally
from tests.builders import START, make_ledger, make_node, make_partition, make_queue

Amounts = Mapping[str, int]


def tree_of(
    root: Amounts | None, *queues: tuple[str, Amounts | None, Amounts], leaves: tuple[str, ...] = ()
) -> QueueTree:
    """Queues as (path, max, allocated), parents first; ``leaves`` are those that are."""
    tree = QueueTree()
    specs = [make_queue(path, leaf=path in leaves, max=cap) for path, cap, _ in queues]
    tree.apply(make_partition(*specs))
    tree.root.max = Limit(root) if root else None
    for path, _, allocated in queues:
        at(tree, path).allocated.add(Resource(allocated))
    return tree


def at(tree: QueueTree, path: str) -> Queue:
    queue = tree.get(path)
    assert queue is not None
    return queue


@pytest.mark.rule("QUO-3")
def test_headroom_is_the_smallest_room_on_the_path() -> None:
    tree = tree_of(
        None,
        ("root.p", {"a": 20, "b": 10}, {"a": 5, "b": 5, "c": 10, "d": 5}),
        ("root.p.leaf1", {"a": 10, "c": 10}, {"a": 5, "b": 5, "c": 5}),
        ("root.p.leaf2", {"d": 10}, {"c": 5, "d": 5}),
    )
    assert headroom(tree.root.chain) == Limit({})
    assert headroom(at(tree, "root.p").chain) == Limit({"a": 15, "b": 5})
    assert headroom(at(tree, "root.p.leaf1").chain) == Limit({"a": 5, "b": 5, "c": 5})
    assert headroom(at(tree, "root.p.leaf2").chain) == Limit({"a": 15, "b": 5, "d": 5})


@pytest.mark.rule("QUO-3")
def test_reserved_quota_is_no_room_and_a_lowered_max_goes_negative() -> None:
    tree = tree_of(None, ("root.a", {"x": 10}, {"x": 8}))
    at(tree, "root.a").reserved.add(Resource({"x": 5}))
    assert headroom(at(tree, "root.a").chain) == Limit({"x": -3})


@pytest.mark.rule("QUO-4")
def test_max_headroom_leaves_the_cluster_out() -> None:
    tree = tree_of({"x": 1}, ("root.a", {"x": 10}, {"x": 4}))
    assert max_headroom(at(tree, "root.a").chain) == Limit({"x": 6})
    assert max_headroom(tree.root.chain) == Limit({})


@pytest.mark.rule("QUO-5")
def test_effective_and_configured_max() -> None:
    tree = tree_of(
        {"first": 10, "second": 5},
        ("root.leaf", {"first": 5, "second": 10}, {}),
        ("root.p", {"second": 5, "third": 2}, {}),
        ("root.p.leaf", {"first": 5, "second": 10}, {}),
        ("root.p3", {"third": 2}, {}),
        ("root.p3.leaf", {"first": 5, "second": 10}, {}),
        ("root.free", None, {}),
    )
    assert effective_max(at(tree, "root.leaf").chain) == Limit({"first": 5, "second": 5})
    assert effective_max(at(tree, "root.p3.leaf").chain) == Limit({"first": 5, "second": 5, "third": 2})
    assert configured_max(at(tree, "root.p.leaf").chain) == Limit({"first": 5, "second": 5, "third": 2})
    assert configured_max(at(tree, "root.free").chain) is None


@pytest.mark.rule("QUO-6")
def test_fair_max_takes_the_childs_value_even_if_larger() -> None:
    tree = tree_of(
        {"vcore": 1000, "memory": 7}, ("root.p", None, {}), ("root.p.leaf", {"vcore": 1200, "gpu": 0}, {})
    )
    fair = fair_max(at(tree, "root.p.leaf").chain)
    assert fair == Limit({"vcore": 1200, "memory": 7, "gpu": 0})
    assert fair_max(at(tree_of(None, ("root.a", {"x": 1}, {})), "root.a").chain) is None


@pytest.mark.rule("QUO-8")
@pytest.mark.parametrize(
    ("size", "blocked"),
    [
        pytest.param({"a": 1}, None, id="a type with room"),
        pytest.param({"b": 1}, "b", id="a type whose max is used up"),
        pytest.param({"a": 1, "b": 0}, None, id="zero of a type that is over"),
        pytest.param({"z": 1}, "z", id="a type no node offers"),
    ],
)
def test_only_the_types_asked_for_are_checked(size: Amounts, blocked: str | None) -> None:
    tree = tree_of({"a": 9, "b": 9}, ("root.q", {"a": 1, "b": 0}, {"b": 1}))
    short = shortfall(at(tree, "root.q").chain, Resource(size))
    assert (short and short.resource) == blocked


@pytest.mark.rule("QUO-8")
def test_an_ancestor_refuses_what_the_leaf_would_take() -> None:
    tree = tree_of({"x": 100}, ("root.p", {"x": 5}, {"x": 5}), ("root.p.q", {"x": 50}, {}))
    short = shortfall(at(tree, "root.p.q").chain, Resource({"x": 1}))
    assert short is not None
    assert (short.queue.path, short.resource) == ("root.p", "x")


def test_usage_counted_on_top_makes_the_room_smaller() -> None:
    tree = tree_of({"x": 100}, ("root.q", {"x": 5}, {"x": 1}))
    queue = at(tree, "root.q")
    extra = Tally()
    extra.add(Resource({"x": 3}))
    assert shortfall(queue.chain, Resource({"x": 2})) is None
    assert shortfall(queue.chain, Resource({"x": 2}), extra={queue.path: extra}) is not None


@pytest.mark.rule("QUO-11")
def test_actual_guaranteed_is_a_pure_minimum() -> None:
    tree = QueueTree()
    tree.apply(
        make_partition(
            make_queue("root.p", leaf=False, guaranteed={"mem": 50}),
            make_queue("root.p.leaf", guaranteed={"mem": 80, "vcore": 5}),
            make_queue("root.p.none"),
        )
    )
    assert actual_guaranteed(at(tree, "root.p.leaf").chain) == Limit({"mem": 50, "vcore": 5})
    assert actual_guaranteed(at(tree, "root.p.none").chain) == Limit({"mem": 50})
    assert actual_guaranteed(tree.root.chain) is None


@pytest.mark.rule("QUO-1")
def test_roots_max_is_the_sum_of_its_nodes() -> None:
    ledger = make_ledger(make_queue("root.a"), nodes=0)
    root = ledger.snapshot.tree.root
    assert root.max is None
    for name, cpu in (("n1", 4000), ("n2", 2000)):
        ledger.apply(on.NodeObserved(make_node(name, cpu=cpu, memory=0, pods=10)), now=START)
    assert root.max == Limit({"vcore": 6000, "pods": 20})
    ledger.apply(on.NodeObserved(make_node("n2", cpu=3000, memory=0, pods=10)), now=START)
    assert root.max == Limit({"vcore": 7000, "pods": 20})
    ledger.apply(on.NodeDeleted(make_node("n1").name), now=START)
    assert root.max == Limit({"vcore": 3000, "pods": 10})
