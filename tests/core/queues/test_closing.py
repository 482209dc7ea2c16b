"""Closed queues: which ones hold an application, through changes of the tree (ACT-10 to ACT-13)."""

import pytest

from core.ids import ROOT, QueuePath
from core.queues.closing import closed_in, in_force
from core.queues.queue import Closure
from core.queues.tree import QueueTree
from core.queues.users.access import may_act
from tests.builders import make_partition, make_queue, make_tree

BY = Closure("ann", 1.0)
PARENT, LEAF = make_queue("root.p", leaf=False), make_queue("root.p.x")


def closed(tree: QueueTree, path: str) -> str | None:
    """Path of the closed queue that holds applications in one."""
    queue = tree.get(path)
    found = closed_in(queue.chain) if queue is not None else None
    return found.path if found is not None else None


@pytest.mark.rule("ACT-11")
@pytest.mark.parametrize(
    ("orders", "found"),
    [
        ((), None),
        (("root.p.x",), "root.p.x"),
        (("root.p",), "root.p"),
        ((ROOT,), ROOT),
        ((ROOT, "root.p"), "root.p"),
        (("root.p.y", "root.other"), None),
    ],
)
def test_the_nearest_closed_queue_is_named(orders: tuple[str, ...], found: str | None) -> None:
    tree = make_tree(PARENT, LEAF)
    tree.close_only({QueuePath(each): BY for each in orders})
    assert closed(tree, "root.p.x") == found


@pytest.mark.rule("ACT-13")
def test_an_order_outlives_reload_removal_and_return() -> None:
    tree = make_tree(PARENT, LEAF)
    tree.close_only({QueuePath("root.p.x"): BY})
    tree.apply(make_partition(PARENT, LEAF))
    assert closed(tree, "root.p.x") == "root.p.x"
    tree.apply(make_partition(PARENT))
    tree.remove_idle()
    assert tree.get("root.p.x") is None
    tree.apply(make_partition(PARENT, LEAF))
    assert closed(tree, "root.p.x") == "root.p.x"
    tree.close_only({})
    assert closed(tree, "root.p.x") is None


@pytest.mark.rule("ACT-11")
def test_a_queue_that_is_made_below_a_closed_one_is_closed() -> None:
    tree = make_tree(PARENT, LEAF)
    tree.close_only({QueuePath("root.p"): BY})
    tree.create([QueuePath("root.p.made")])
    assert closed(tree, "root.p.made") == "root.p"


def test_what_is_shown_of_a_queue_changes_with_those_above() -> None:
    tree = make_tree(PARENT, LEAF, make_queue("root.q"))
    before = {queue.path: queue.changes for queue in tree}
    tree.close_only({QueuePath("root.p"): BY})
    assert {queue.path for queue in tree if queue.changes != before[queue.path]} == {"root.p", "root.p.x"}


@pytest.mark.rule("ACT-12")
def test_an_order_ends_at_its_time() -> None:
    orders = {QueuePath("root.a"): Closure("ann", 1.0, until=5.0), QueuePath("root.b"): BY}
    assert set(in_force(orders, now=4.9)) == {"root.a", "root.b"}
    assert set(in_force(orders, now=5.0)) == {"root.b"}


@pytest.mark.rule("ACT-2")
@pytest.mark.parametrize(
    ("admin_acl", "acts"),
    [
        ("ann", True),
        (" dev", True),
        ("ann *", True),
        ("*", False),
        ("* ops", False),
        ("bob", False),
        ("", False),
    ],
)
def test_a_wildcard_gives_no_action(admin_acl: str, acts: bool) -> None:
    assert may_act([("*", admin_acl), ("*", "*")], "ann", ("dev",)) is acts


@pytest.mark.rule("ACT-2")
def test_names_that_are_dropped_give_no_action() -> None:
    texts = [("", "system:admin,oidc:ann system:masters,x.y")]
    assert not may_act(texts, "system:admin", ("system:masters",))
    assert not may_act(texts, "oidc:ann", ("x.y",))
