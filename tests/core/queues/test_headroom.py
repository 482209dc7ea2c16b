"""Headroom under the limits on the path to the root, with the figures of the specification."""

from collections.abc import Mapping

import pytest

from core.ids import QueuePath
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
from core.resource import UNLIMITED, Limit, Resource, Tally
from tests.builders import make_queue, make_tree


def chain_of(tree: QueueTree, path: str) -> tuple[Queue, ...]:
    queue = tree.get(path)
    assert queue is not None
    return queue.chain


def hold(tree: QueueTree, path: str, **amounts: int) -> None:
    """Set one queue's own counter, not its ancestors': the examples give every queue's usage."""
    chain_of(tree, path)[0].allocated.add(Resource(amounts))


def under_parent(
    leaf: Mapping[str, int] | None, parent: Mapping[str, int] | None, root: Mapping[str, int] | None
) -> tuple[Queue, ...]:
    tree = make_tree(
        make_queue("root.p", leaf=False, max=parent), make_queue("root.p.x", max=leaf), capacity=root
    )
    return chain_of(tree, "root.p.x")


@pytest.fixture
def example() -> QueueTree:
    """The tree of QUO-3; the root is undefined."""
    tree = make_tree(
        make_queue("root.p", leaf=False, max={"a": 20, "b": 10}),
        make_queue("root.p.leaf1", max={"a": 10, "c": 10}),
        make_queue("root.p.leaf2", max={"d": 10}),
    )
    hold(tree, "root.p", a=5, b=5, c=10, d=5)
    hold(tree, "root.p.leaf1", a=5, b=5, c=5)
    hold(tree, "root.p.leaf2", c=5, d=5)
    return tree


@pytest.mark.rule("QUO-3")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("root", UNLIMITED),
        ("root.p", Limit({"a": 15, "b": 5})),
        ("root.p.leaf1", Limit({"a": 5, "b": 5, "c": 5})),
        ("root.p.leaf2", Limit({"a": 15, "b": 5, "d": 5})),
    ],
)
def test_headroom_is_the_smallest_one_on_the_path_to_the_root(
    example: QueueTree, path: str, expected: Limit
) -> None:
    assert headroom(chain_of(example, path)) == expected


@pytest.mark.rule("QUO-3")
def test_reserved_amounts_are_no_headroom(example: QueueTree) -> None:
    chain_of(example, "root.p")[0].reserved.add(Resource({"a": 14, "z": 1}))
    assert headroom(chain_of(example, "root.p.leaf1")) == Limit({"a": 1, "b": 5, "c": 5})


@pytest.mark.rule("QUO-3")
def test_negative_headroom_stays_negative() -> None:
    tree = make_tree(make_queue("root.a", max={"vcore": 3}))
    hold(tree, "root.a", vcore=5)
    assert headroom(chain_of(tree, "root.a")) == Limit({"vcore": -2})


@pytest.mark.rule("QUO-4")
def test_max_headroom_leaves_the_cluster_out(example: QueueTree) -> None:
    example.set_capacity(Tally({"a": 6, "e": 1}))
    assert headroom(chain_of(example, "root.p")) == Limit({"a": 6, "b": 5, "e": 1})
    assert max_headroom(chain_of(example, "root.p")) == Limit({"a": 15, "b": 5})
    assert max_headroom(chain_of(example, "root")) == UNLIMITED


@pytest.mark.rule("QUO-5")
@pytest.mark.parametrize(
    ("leaf", "parent", "root", "effective", "configured"),
    [
        ({"a": 5, "b": 10}, None, {"a": 10, "b": 5}, {"a": 5, "b": 5}, {"a": 5, "b": 10}),
        ({"a": 5, "b": 10}, {"c": 2}, {"a": 10, "b": 5}, {"a": 5, "b": 5, "c": 2}, {"a": 5, "b": 10, "c": 2}),
        ({"a": 5, "b": 10}, {"b": 5, "c": 2}, None, {"a": 5, "b": 5, "c": 2}, {"a": 5, "b": 5, "c": 2}),
        (None, None, {"a": 10}, {"a": 10}, None),
        (None, None, None, None, None),
    ],
    ids=["root and leaf", "parent adds a type", "without root", "only the cluster", "nobody sets any"],
)
def test_effective_and_configured_max(
    leaf: Mapping[str, int] | None,
    parent: Mapping[str, int] | None,
    root: Mapping[str, int] | None,
    effective: Mapping[str, int] | None,
    configured: Mapping[str, int] | None,
) -> None:
    chain = under_parent(leaf, parent, root)
    assert effective_max(chain) == (None if effective is None else Limit(effective))
    assert configured_max(chain) == (None if configured is None else Limit(configured))


@pytest.mark.rule("QUO-6")
@pytest.mark.parametrize(
    ("leaf", "parent", "root", "fair"),
    [
        ({"vcore": 1200}, None, {"vcore": 1000}, {"vcore": 1200}),
        ({"vcore": 1200}, {"vcore": 500}, {"vcore": 1000}, {"vcore": 1200}),
        (None, {"vcore": 500}, {"vcore": 1000, "memory": 7}, {"memory": 7, "vcore": 500}),
        ({"gpu": 0, "vcore": 1}, None, {"vcore": 1000, "gpu": 4}, {"gpu": 0, "vcore": 1}),
        ({"vcore": 1200}, None, None, None),
    ],
    ids=["child larger", "child wins over parent", "parent overlays root", "explicit zero kept", "no nodes"],
)
def test_fair_max_lets_the_child_win(
    leaf: Mapping[str, int] | None,
    parent: Mapping[str, int] | None,
    root: Mapping[str, int] | None,
    fair: Mapping[str, int] | None,
) -> None:
    assert fair_max(under_parent(leaf, parent, root)) == (None if fair is None else Limit(fair))


@pytest.mark.rule("QUO-11")
@pytest.mark.parametrize(
    ("leaf", "parent", "actual"),
    [
        ({"memory": 80, "vcore": 5}, {"memory": 50}, {"memory": 50, "vcore": 5}),
        (None, {"memory": 50}, {"memory": 50}),
        ({"memory": 80}, None, {"memory": 80}),
        (None, None, None),
    ],
    ids=["smaller of both", "the parent's shows through", "own only", "none"],
)
def test_actual_guarantee_is_the_pure_minimum(
    leaf: Mapping[str, int] | None, parent: Mapping[str, int] | None, actual: Mapping[str, int] | None
) -> None:
    tree = make_tree(
        make_queue("root.p", leaf=False, guaranteed=parent),
        make_queue("root.p.x", guaranteed=leaf),
        make_queue("root.p.y", guaranteed={"memory": 80}),
    )
    assert actual_guaranteed(chain_of(tree, "root.p.x")) == (None if actual is None else Limit(actual))


def blocked_by(chain: tuple[Queue, ...], **size: int) -> tuple[str, str] | None:
    short = shortfall(chain, Resource(size))
    return None if short is None else (short.queue.path, short.resource)


CLUSTER = {"a": 100, "b": 100}


@pytest.mark.rule("QUO-8")
def test_only_the_types_asked_for_are_checked() -> None:
    tree = make_tree(make_queue("root.q", max={"a": 1, "b": 0}), capacity=CLUSTER)
    hold(tree, "root.q", b=1)
    chain = chain_of(tree, "root.q")
    assert blocked_by(chain, a=1) is None
    assert blocked_by(chain, b=1) == ("root.q", "b")
    assert blocked_by(chain, a=1, b=0) is None


@pytest.mark.rule("QUO-8")
@pytest.mark.parametrize(
    ("leaf", "parent", "size", "blocked"),
    [
        ({"a": 3}, {"a": 10}, {"a": 3}, None),
        ({"a": 3}, {"a": 10}, {"a": 4}, ("root.p.x", "a")),
        (None, {"a": 3}, {"a": 4}, ("root.p", "a")),
        (None, None, {"a": 101}, ("root", "a")),
        ({"a": 3}, {"a": 2}, {"a": 4}, ("root.p.x", "a")),
        ({"a": 3}, None, {"b": 50}, None),
        (None, None, {"gpu": 1}, ("root", "gpu")),
        ({"gpu": 5}, None, {"gpu": 1}, ("root", "gpu")),
        (None, None, {"gpu": 0, "a": 1}, None),
        (None, None, {}, None),
    ],
    ids=[
        "exactly fits",
        "leaf",
        "parent",
        "cluster",
        "leaf is named before parent",
        "undefined below the root is unlimited",
        "unknown to the cluster",
        "unknown to the cluster though a queue allows it",
        "nothing of an unknown type",
        "nothing at all",
    ],
)
def test_the_first_limit_from_the_leaf_up_is_named(
    leaf: Mapping[str, int] | None,
    parent: Mapping[str, int] | None,
    size: dict[str, int],
    blocked: tuple[str, str] | None,
) -> None:
    assert blocked_by(under_parent(leaf, parent, CLUSTER), **size) == blocked


@pytest.mark.rule("QUO-1")
def test_without_nodes_nothing_fits() -> None:
    short = shortfall(under_parent(None, None, None), Resource({"pods": 1, "vcore": 0}))
    assert short is not None
    assert (short.queue.path, short.limit) == ("root", "has no pods")


@pytest.mark.rule("QUO-3")
def test_a_queue_over_a_lowered_max_takes_nothing_of_that_type() -> None:
    tree = make_tree(make_queue("root.q", max={"a": 3}), capacity=CLUSTER)
    hold(tree, "root.q", a=5)
    assert blocked_by(chain_of(tree, "root.q"), a=1) == ("root.q", "a")
    assert blocked_by(chain_of(tree, "root.q"), a=0, b=1) is None


def test_extra_usage_counts_in_the_types_asked_for_and_where_it_is() -> None:
    chain = under_parent({"a": 5}, {"a": 10}, CLUSTER)
    extra = {QueuePath("root.p"): Tally({"a": 7, "b": 1000}), QueuePath("root"): Tally({"b": 1000})}
    assert shortfall(chain, Resource({"a": 3}), extra=extra) is None
    assert shortfall(chain, Resource({"a": 1, "b": 0}), extra=extra) is None
    short = shortfall(chain, Resource({"a": 4}), extra=extra)
    assert short is not None
    assert short.queue.path == "root.p"


@pytest.mark.parametrize(
    ("cap", "limit"),
    [
        ({"vcore": 2000}, "max vcore=2"),
        ({"vcore": 1500}, "max vcore=1500m"),
    ],
)
def test_a_limit_is_named_without_usage(cap: Mapping[str, int], limit: str) -> None:
    tree = make_tree(make_queue("root.q", max=cap), capacity={"vcore": 100_000})
    hold(tree, "root.q", vcore=777)
    short = shortfall(chain_of(tree, "root.q"), Resource({"vcore": 3000}))
    assert short is not None
    assert short.limit == limit
