"""Distance of a queue from its guarantee, with the figures of PRE-8 and PRE-9."""

from collections.abc import Mapping

import pytest

from core.queues.guarantees import below_common, losable, preemptable, remaining
from core.queues.queue import Queue
from core.queues.tree import QueueTree
from core.queues.whatif import WhatIf
from core.resource import Resource
from tests.builders import make_queue, make_tree

C1, C2 = "root.parent.child1", "root.parent.child2"


def guaranteed_tree() -> QueueTree:
    tree = make_tree(
        make_queue("root.parent", leaf=False, guaranteed={"a": 5}),
        make_queue(C1, guaranteed={"b": 5}),
        make_queue(C2, guaranteed={"a": 5}),
    )
    object.__setattr__(tree.root.spec, "guaranteed", Resource({"a": 10}))
    return tree


def at(tree: QueueTree, path: str) -> Queue:
    found = tree.get(path)
    assert found is not None
    return found


def use(tree: QueueTree, path: str, amounts: Mapping[str, int], *, counter: str = "allocated") -> None:
    for queue in at(tree, path).chain:
        getattr(queue, counter).add(Resource(amounts))


TABLE = [
    # what each leaf uses and what is used besides; ask elsewhere, then ask in child2
    ({}, [{"a": 10}, {"a": 5}, {"a": 5, "b": 5}, {"a": 5}], [{"a": 10}, None, {"b": 5}, {"a": 5}]),
    (
        {"root.parent": {"a": 5}, C2: {"a": 5}},
        [{"a": 0}, {"a": -5}, {"a": -5, "b": 5}, {"a": -5}],
        [{"a": 0}, None, {"b": 5}, {"a": 0}],
    ),
    (
        {C1: {"b": 5}, C2: {"a": 5}, "root": {"a": 5}},
        [{"a": 0}, {"a": 0}, {"a": 0, "b": 0}, {"a": 0}],
        [{"a": 0}, None, {"b": 0}, {"a": 0}],
    ),
    (
        {C1: {"b": 10}, C2: {"a": 5}, "root": {"a": 5}},
        [{"a": 0}, {"a": 0}, {"a": 0, "b": -5}, {"a": 0}],
        [{"a": 0}, None, {"b": -5}, {"a": 0}],
    ),
]


@pytest.mark.rule("PRE-8")
@pytest.mark.parametrize(("used", "elsewhere", "in_child2"), TABLE)
def test_what_is_left_to_the_guarantee(
    used: dict[str, dict[str, int]],
    elsewhere: list[dict[str, int] | None],
    in_child2: list[dict[str, int] | None],
) -> None:
    tree = guaranteed_tree()
    for path, amounts in used.items():
        use(tree, path, amounts)
    queues = [at(tree, path) for path in ("root", "root.parent", C1, C2)]
    usage = WhatIf()
    assert [remaining(usage, queue) for queue in queues] == elsewhere
    assert [remaining(usage, queue, at(tree, C2)) for queue in queues] == in_child2


@pytest.mark.rule("PRE-8")
def test_without_any_guarantee_on_the_way_nothing_is_left_to_it() -> None:
    tree = make_tree(make_queue("root.p", leaf=False), make_queue("root.p.x"), make_queue("root.y"))
    assert remaining(WhatIf(), at(tree, "root.p.x")) is None
    assert remaining(WhatIf(), at(tree, "root.p.x"), at(tree, "root.y")) is None


@pytest.mark.rule("DIV-8")
def test_an_ancestor_is_one_by_segments_not_by_the_beginning_of_its_name() -> None:
    tree = make_tree(
        make_queue("root.a", guaranteed={"vcore": 4}), make_queue("root.ab", guaranteed={"vcore": 4})
    )
    use(tree, "root.a", {"vcore": 4})
    assert remaining(WhatIf(), at(tree, "root.a"), at(tree, "root.ab")) == {"vcore": 0}


@pytest.mark.rule("PRE-21")
def test_a_chosen_victim_counts_as_evicted() -> None:
    tree = make_tree(make_queue("root.a", guaranteed={"vcore": 4}))
    use(tree, "root.a", {"vcore": 6})
    use(tree, "root.a", {"vcore": 2}, counter="preempting")
    assert remaining(WhatIf(), at(tree, "root.a")) == {"vcore": 0}


@pytest.mark.rule("DIV-14")
def test_promises_count_on_the_path_of_the_ask_alone() -> None:
    tree = make_tree(
        make_queue("root.a", guaranteed={"vcore": 9}), make_queue("root.b", guaranteed={"vcore": 9})
    )
    for path in ("root.a", "root.b"):
        for counter, amount in (("allocated", 1), ("reserved", 2), ("triggered", 3), ("pending", 3)):
            use(tree, path, {"vcore": amount}, counter=counter)
    ask = at(tree, "root.a")
    usage = WhatIf(ask.chain, Resource({"vcore": 2}))
    assert remaining(usage, ask, ask) == {"vcore": 9 - (1 + 2 + 3 - 2)}
    assert remaining(usage, at(tree, "root.b"), ask) == {"vcore": 8}


@pytest.mark.rule("PRE-9")
def test_what_is_above_the_guarantee_at_most_what_the_parent_has() -> None:
    tree = make_tree(
        make_queue("root.p", leaf=False, guaranteed={"vcore": 7}),
        make_queue("root.p.x", guaranteed={"vcore": 2, "memory": 5}),
        make_queue("root.p.y", guaranteed={"vcore": 6}),
        make_queue("root.p.z"),
    )
    use(tree, "root.p.x", {"vcore": 5, "memory": 5})
    use(tree, "root.p.y", {"vcore": 4})
    usage = WhatIf()
    assert preemptable(usage, at(tree, "root.p")) == {"vcore": 2, "memory": 5}
    assert preemptable(usage, at(tree, "root.p.x")) == {"vcore": 2}
    assert preemptable(usage, at(tree, "root.p.y")) == {}
    assert preemptable(usage, at(tree, "root.p.z")) is None


@pytest.mark.rule("LAW-2")
def test_what_may_be_lost_up_to_the_common_ancestor() -> None:
    tree = make_tree(
        make_queue("root.p", leaf=False, guaranteed={"vcore": 7}),
        make_queue("root.p.q", leaf=False, guaranteed={"vcore": 3, "memory": 1}),
        make_queue("root.p.q.x", guaranteed={"vcore": 2}),
        make_queue("root.p.y"),
        make_queue("root.z"),
    )
    use(tree, "root.p.q.x", {"vcore": 8, "memory": 1})
    x, usage = at(tree, "root.p.q.x"), WhatIf()
    assert [queue.path for queue in below_common(x, at(tree, "root.p.y"))] == ["root.p.q.x", "root.p.q"]
    assert losable(usage, below_common(x, at(tree, "root.p.y"))) == {"vcore": 5, "memory": 0}
    assert losable(usage, below_common(x, at(tree, "root.z"))) == {"vcore": 1, "memory": 0}
    assert losable(usage, ()) == {}


def test_a_trial_leaves_queues_and_other_trials_alone() -> None:
    tree = make_tree(make_queue("root.a"))
    use(tree, "root.a", {"vcore": 4})
    leaf, size = at(tree, "root.a"), Resource({"vcore": 3})
    usage = WhatIf()
    usage.remove(leaf, size)
    other = usage.fork()
    other.place(leaf, size)
    assert [each.used(leaf)["vcore"] for each in (usage, other, usage.before())] == [1, 4, 4]
    assert leaf.allocated.get("vcore") == tree.root.allocated.get("vcore") == 4
