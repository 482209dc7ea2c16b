"""Without placement rules, an application is placed in the queue that it names (PL-1)."""

import pytest

from core.ids import AppId
from core.queues.placement.rules import Chosen, PlacementRequest, decide_queue
from core.queues.tree import QueueTree
from core.reasons import Code, Refusal
from tests.builders import make_partition, make_queue, make_tree


def decide_placement(tree: QueueTree, requested: str) -> str | Refusal:
    found = decide_queue(tree, (), PlacementRequest(requested))
    return found.path if isinstance(found, Chosen) else found


LEAVES = (
    make_queue("root.a"),
    make_queue("root.p", leaf=False),
    make_queue("root.p.x"),
    make_queue("root.b_dot_c"),
)


@pytest.mark.rule("PL-4")
@pytest.mark.parametrize(
    ("requested", "path"),
    [
        ("root.a", "root.a"),
        ("root.p.x", "root.p.x"),
        ("a", "root.a"),
        ("b.c", "root.b_dot_c"),
        ("root.A", "root.a"),
        ("A", "root.a"),
    ],
    ids=["whole path", "nested", "one level", "its dots replaced", "any case", "any case, one level"],
)
def test_the_named_queue(requested: str, path: str) -> None:
    assert decide_placement(make_tree(*LEAVES), requested) == path


@pytest.mark.rule("PL-9")
@pytest.mark.parametrize("requested", ["", "root.nowhere", "root.p", "nowhere", "ROOT.a", "root", "p.x"])
def test_else_the_default_queue(requested: str) -> None:
    assert decide_placement(make_tree(*LEAVES, make_queue("root.default")), requested) == "root.default"


@pytest.mark.parametrize(
    ("requested", "text"),
    [
        ("", "PlacementFailed: no queue named"),
        ("root.nowhere", "PlacementFailed: no queue root.nowhere"),
        ("p.x", "PlacementFailed: no queue p.x"),
        ("root.p", "QueueNotLeaf: root.p"),
        ("x" * 500, "PlacementFailed: " + "x" * 64 + " is not the name of a queue"),
    ],
    ids=["nothing named", "unknown", "a level skipped", "a parent", "a long name is cut"],
)
def test_else_refused(requested: str, text: str) -> None:
    verdict = decide_placement(make_tree(*LEAVES), requested)
    assert isinstance(verdict, Refusal)
    assert verdict.text == text


def draining(*paths: str) -> QueueTree:
    tree = make_tree(*(make_queue(path) for path in paths))
    for queue in tree.leaves():
        queue.applications.add(AppId("app", "default"))
    tree.apply(make_partition())
    return tree


@pytest.mark.rule("Q-9")
def test_a_draining_queue_takes_no_new_application() -> None:
    assert decide_placement(draining("root.a"), "root.a") == Refusal(Code.QUEUE_DRAINING, "root.a")


def test_a_draining_default_queue_is_none() -> None:
    assert decide_placement(draining("root.default"), "") == Refusal(Code.PLACEMENT_FAILED, "no queue named")


def test_a_default_queue_with_children_is_none() -> None:
    tree = make_tree(make_queue("root.default", leaf=False), make_queue("root.default.x"))
    assert decide_placement(tree, "") == Refusal(Code.PLACEMENT_FAILED, "no queue named")


@pytest.mark.rule("PL-12")
@pytest.mark.parametrize("requested", ["root.@recovery@", "@recovery@", "root.@RECOVERY@"])
def test_the_recovery_queue_cannot_be_named(requested: str) -> None:
    tree = make_tree(make_queue("root.a"))
    tree.recovery_queue()
    verdict = decide_placement(tree, requested)
    assert isinstance(verdict, Refusal)
    assert verdict.code is Code.PLACEMENT_FAILED
