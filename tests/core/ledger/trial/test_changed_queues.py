"""Queues of a trial: only those that a change touches are copied."""

from core.ids import NodeName, QueuePath
from core.ledger.trial.change import NO_CHANGE, Change, Raise
from core.ledger.trial.changed_queues import ChangedQueues, tree_after
from core.queues.limit_state import LimitKey, LimitKind
from core.queues.queue import Queue
from core.queues.tree import QueueTree
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from tests.builders import make_partition, make_queue

PATHS = ("root", "root.a", "root.a.x", "root.a.y", "root.b", "root.b.z")


def tree() -> QueueTree:
    found = QueueTree()
    found.apply(
        make_partition(
            make_queue("root.a", leaf=False, max={"vcore": 4000}),
            make_queue("root.b", leaf=False),
            *(make_queue(path, max={"vcore": 2000}) for path in PATHS if path.count(".") == 2),
        )
    )
    return found


def copied(base: QueueTree, change: Change) -> set[str]:
    changed = ChangedQueues(base, change)
    return {path for path in PATHS if changed.get(path) is not base.get(path)}


def raised(path: str, by: int) -> Raise:
    return Raise(LimitKey(LimitKind.QUEUE, QueuePath(path), "", "vcore"), by)


def test_a_raise_copies_its_queue_and_those_below_it() -> None:
    assert copied(tree(), Change((raised("root.a", 1),))) == {"root.a", "root.a.x", "root.a.y"}


def test_a_new_node_changes_the_root_which_all_have_above_them() -> None:
    node = NodeFacts(NodeName("new"), Resource({"vcore": 1000}))
    assert copied(tree(), Change(node=node)) == set(PATHS)


def test_a_copy_shares_all_that_stays_the_same() -> None:
    base = tree()
    known = base.get("root.a.x")
    assert known is not None
    known.asked[5], known.changes = 1, 7
    twin = ChangedQueues(base, Change((raised("root.a", 500),))).get("root.a.x")
    assert twin is not None
    differing = {name for name in Queue.__slots__ if getattr(twin, name) is not getattr(known, name)}
    assert differing == {"chain", "parent"}
    assert twin.parent is not None
    assert twin.parent.max is not None
    assert twin.parent.max.get("vcore") == 4500


def test_a_chain_is_that_of_the_copy_and_leaves_its_queue_uncopied() -> None:
    base = tree()
    known, changed = base.get("root.a.x"), ChangedQueues(base, Change((raised("root.a", 500),)))
    assert known is not None
    chain = changed.chain_of("root.a.x")
    assert chain[0] is known
    twin = changed.get("root.a.x")
    assert twin is not None
    assert chain[1:] == twin.chain[1:]
    assert changed.chain_of("root.a.x") == twin.chain
    assert changed.paths_of("root.a.x") == known.paths


def test_a_chain_has_a_changed_queue_itself() -> None:
    changed = ChangedQueues(tree(), Change((raised("root.a.x", 500),)))
    assert changed.chain_of("root.a.x")[0].max == Limit({"vcore": 2500})


def test_an_unknown_queue_has_no_chain_and_no_paths() -> None:
    base = tree()
    for each in (base, ChangedQueues(base, Change((raised("root.a", 500),)))):
        assert not each.chain_of("root.c")
        assert not each.paths_of("root.c")


def test_without_a_change_the_tree_itself_stays() -> None:
    base = tree()
    assert tree_after(base, NO_CHANGE) is base
