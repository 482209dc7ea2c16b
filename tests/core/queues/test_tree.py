"""The tree of queues after a document, at the start and at a reload."""

import pytest

from core.ids import DEFAULT_QUEUE, RECOVERY_QUEUE, ROOT, AppId, QueuePath
from core.queues.queue import Queue
from core.queues.tree import QueueTree, over_max
from core.resource import Limit, Resource, Tally
from tests.builders import make_partition, make_queue, make_tree


def queue_of(tree: QueueTree, path: str) -> Queue:
    queue = tree.get(path)
    assert queue is not None
    return queue


def test_before_the_first_document_there_is_a_bare_root() -> None:
    tree = QueueTree()
    assert [queue.path for queue in tree] == [ROOT]
    assert (tree.root.is_leaf, tree.root.max) == (False, None)


@pytest.mark.rule("Q-1")
def test_applications_live_in_leaves_only() -> None:
    tree = make_tree(
        make_queue("root.p", leaf=False), make_queue("root.p.x"), make_queue("root.empty", leaf=False)
    )
    assert [queue.path for queue in tree.leaves()] == ["root.p.x"]


def test_a_chain_runs_from_a_queue_to_the_root() -> None:
    tree = make_tree(make_queue("root.p", leaf=False), make_queue("root.p.x"))
    assert [queue.path for queue in queue_of(tree, "root.p.x").chain] == ["root.p.x", "root.p", "root"]


@pytest.mark.rule("Q-12")
@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("root.a", "root.a"),
        ("ROOT.A", "root.a"),
        ("Root.a", "root.a"),
        ("a", None),
        ("root.a.b", None),
        ("", None),
    ],
)
def test_a_queue_is_found_by_its_whole_path_in_any_case(path: str, found: str | None) -> None:
    queue = make_tree(make_queue("root.a")).get(path)
    assert (queue and queue.path) == found


@pytest.mark.rule("QUO-1")
@pytest.mark.parametrize(
    ("capacity", "cap"),
    [
        ({"vcore": 10, "memory": 5}, Limit({"vcore": 10, "memory": 5})),
        ({"vcore": 10, "gpu": 0}, Limit({"vcore": 10})),
        ({"vcore": 0}, None),
        ({}, None),
    ],
    ids=["the sum of the nodes", "zero types pruned", "all zero is undefined", "no node is undefined"],
)
def test_the_roots_max_is_what_the_nodes_offer(capacity: dict[str, int], cap: Limit | None) -> None:
    assert make_tree(capacity=capacity).root.max == cap


@pytest.mark.rule("QUO-1")
def test_a_document_does_not_change_the_roots_max() -> None:
    tree = make_tree(capacity={"vcore": 10})
    tree.apply(make_partition(make_queue("root.a", max={"vcore": 5})))
    assert tree.root.max == Limit({"vcore": 10})


def test_a_new_document_changes_the_limits_and_keeps_the_usage() -> None:
    tree = make_tree(make_queue("root.a", max={"vcore": 5}))
    queue = queue_of(tree, "root.a")
    queue.allocated.add(Resource({"vcore": 3}))
    tree.apply(make_partition(make_queue("root.a", max={"vcore": 2}, guaranteed={"vcore": 1})))
    assert tree.get("root.a") is queue
    assert (queue.max, queue.guaranteed) == (Limit({"vcore": 2}), Resource({"vcore": 1}))
    assert queue.allocated == Tally({"vcore": 3})


@pytest.mark.rule("Q-9")
def test_a_queue_that_is_no_longer_named_drains_while_it_has_applications() -> None:
    tree = make_tree(make_queue("root.p", leaf=False), make_queue("root.p.x"), make_queue("root.p.y"))
    queue_of(tree, "root.p.x").applications.add(AppId("app", "default"))
    tree.apply(make_partition())
    assert tree.remove_idle() == ("root.p.y",)
    assert [(queue.path, queue.draining) for queue in tree] == [
        ("root", False),
        ("root.p", True),
        ("root.p.x", True),
    ]


@pytest.mark.rule("Q-9")
def test_a_draining_queue_that_is_named_again_is_active() -> None:
    tree = make_tree(make_queue("root.a"))
    queue_of(tree, "root.a").applications.add(AppId("app", "default"))
    tree.apply(make_partition())
    assert queue_of(tree, "root.a").draining
    tree.apply(make_partition(make_queue("root.a")))
    assert not queue_of(tree, "root.a").draining


@pytest.mark.rule("Q-10")
def test_a_draining_queue_goes_when_it_is_empty_children_first() -> None:
    tree = make_tree(make_queue("root.p", leaf=False), make_queue("root.p.x"))
    queue_of(tree, "root.p.x").applications.add(AppId("app", "default"))
    tree.apply(make_partition())
    assert tree.remove_idle() == ()
    queue_of(tree, "root.p.x").applications.clear()
    assert tree.remove_idle() == ("root.p.x", "root.p")
    assert [queue.path for queue in tree] == [ROOT]
    assert not tree.root.children


@pytest.mark.rule("Q-10")
def test_active_queues_and_the_root_are_never_removed() -> None:
    tree = make_tree(make_queue("root.a"))
    assert tree.remove_idle() == ()
    assert len(tree) == 2


@pytest.mark.rule("PL-12")
def test_the_recovery_queue_is_made_when_needed_and_goes_when_empty() -> None:
    tree = make_tree(make_queue("root.a"))
    queue = tree.recovery_queue()
    assert (queue.path, queue.is_leaf, queue.max, queue.parent) == (RECOVERY_QUEUE, True, None, tree.root)
    assert tree.recovery_queue() is queue
    queue.applications.add(AppId("app", "default"))
    tree.apply(make_partition(make_queue("root.a")))
    assert not queue.draining
    assert tree.remove_idle() == ()
    queue.applications.clear()
    assert tree.remove_idle() == (RECOVERY_QUEUE,)


def test_a_queue_that_runs_applications_cannot_become_a_parent() -> None:
    tree = make_tree(make_queue("root.a"))
    document = make_partition(make_queue("root.a", leaf=False), make_queue("root.a.x"))
    assert tree.conflicts(document) == ()
    queue_of(tree, "root.a").applications.add(AppId("app", "default"))
    assert tree.conflicts(document) == ("root.a runs 1 applications and cannot become a parent queue",)


def test_a_parent_named_as_a_leaf_is_none_while_its_children_drain() -> None:
    tree = make_tree(make_queue("root.p", leaf=False), make_queue("root.p.x"))
    queue_of(tree, "root.p.x").applications.add(AppId("app", "default"))
    tree.apply(make_partition(make_queue("root.p")))
    assert not queue_of(tree, "root.p").is_leaf
    queue_of(tree, "root.p.x").applications.clear()
    tree.remove_idle()
    assert queue_of(tree, "root.p").is_leaf


def test_a_document_without_queues_leaves_the_root() -> None:
    tree = make_tree(make_queue(DEFAULT_QUEUE))
    tree.apply(make_partition())
    assert [queue.path for queue in tree if not queue.draining] == [ROOT]
    tree.remove_idle()
    assert [queue.path for queue in tree] == [ROOT]


@pytest.mark.parametrize(
    ("cap", "over"),
    [
        ({"vcore": 10}, None),
        ({"vcore": 9, "memory": 5}, Resource({"vcore": 1})),
        ({"memory": 1}, Resource({"memory": 1})),
        (None, None),
    ],
    ids=["exactly full", "one type over", "another type over", "no max"],
)
def test_by_how_much_a_queue_is_over_its_max(cap: dict[str, int] | None, over: Resource | None) -> None:
    queue = queue_of(make_tree(make_queue("root.a", max=cap)), QueuePath("root.a"))
    queue.allocated.add(Resource({"vcore": 7, "memory": 2}))
    queue.reserved.add(Resource({"vcore": 3}))
    assert over_max(queue) == over
