"""Placement rules, one by one and in order (PL-2 to PL-14)."""

from dataclasses import replace

import pytest

from core.ids import AppId
from core.queues.placement.rules import MOST_LEVELS, Chosen, PlacementRequest, decide_queue
from core.queues.spec import FilterSpec, QueueSpec, RuleSpec, TemplateSpec
from core.queues.tree import QueueTree
from core.reasons import Refusal
from core.resource import Limit
from tests.builders import make_partition, make_queue, make_tree

NAMESPACE = {"namespace": "dev"}


def placed(tree: QueueTree, *rules: RuleSpec, user: str = "alice", **request: object) -> str:
    """Return the path, with ``+`` before each new level, or the text of the refusal."""
    asked = PlacementRequest(user=user, groups=(user,), **request)  # type: ignore[arg-type]
    found = decide_queue(tree, rules, asked)
    if isinstance(found, Refusal):
        return found.text
    return "".join(f"+{path} " for path in found.create).strip() or found.path


def closed(queue: QueueSpec, submit: str = "") -> QueueSpec:
    return replace(queue, submit_acl=submit)


def tree_of(*queues: QueueSpec, root: str = "*") -> QueueTree:
    tree = QueueTree()
    partition = make_partition(*queues)
    tree.apply(replace(partition, queues=(closed(partition.queues[0], root), *partition.queues[1:])))
    return tree


PARENT = (make_queue("root.p", leaf=False), make_queue("root.p.leaf"), make_queue("root.a"))


@pytest.mark.rule("PL-4")
@pytest.mark.parametrize(
    ("rule", "request_", "path"),
    [
        (RuleSpec("provided"), {"requested": "root.a"}, "root.a"),
        (RuleSpec("provided", create=True), {"requested": "new"}, "+root.new"),
        (RuleSpec("provided", create=True), {"requested": "root.x.y"}, "+root.x +root.x.y"),
        (RuleSpec("provided", create=True), {"requested": "a.b"}, "+root.a_dot_b"),
        (RuleSpec("provided", create=True), {"requested": "root.NEW"}, "+root.new"),
        (RuleSpec("user", create=True), {}, "+root.alice"),
        (RuleSpec("user", create=True), {"user": "finance.test"}, "+root.finance_dot_test"),
        (RuleSpec("tag", create=True, value="namespace"), {"tags": NAMESPACE}, "+root.dev"),
        (RuleSpec("tag", create=True, value="NameSpace"), {"tags": NAMESPACE}, "+root.dev"),
        (RuleSpec("tag", create=True, value="t"), {"tags": {"t": "root.q.r"}}, "+root.q +root.q.r"),
        (RuleSpec("fixed", value="root.p.leaf"), {}, "root.p.leaf"),
        (RuleSpec("fixed", value="P.Leaf"), {}, "root.p.leaf"),
        (RuleSpec("fixed", create=True, value="x.y"), {}, "+root.x +root.x.y"),
        (RuleSpec("user", create=True, parent=RuleSpec("fixed", value="p")), {}, "+root.p.alice"),
        (
            RuleSpec("user", create=True, parent=RuleSpec("tag", create=True, value="namespace")),
            {"tags": NAMESPACE},
            "+root.dev +root.dev.alice",
        ),
        (RuleSpec("provided", parent=RuleSpec("fixed", value="nowhere")), {"requested": "root.a"}, "root.a"),
        pytest.param(
            RuleSpec("tag", create=True, value="namespace", parent=RuleSpec("fixed", value="root")),
            {"tags": NAMESPACE},
            "+root.root +root.root.dev",
            id="P1 the root as a parent rule",
        ),
    ],
)
def test_what_a_rule_says(rule: RuleSpec, request_: dict[str, object], path: str) -> None:
    assert placed(tree_of(*PARENT), rule, **request_) == path  # type: ignore[arg-type]


@pytest.mark.rule("PL-1")
@pytest.mark.rule("PL-4")
@pytest.mark.parametrize(
    ("rule", "request_"),
    [
        (RuleSpec("provided"), {"requested": "root.new"}),
        (RuleSpec("provided"), {}),
        (RuleSpec("tag", create=True, value="absent"), {}),
        (RuleSpec("user", create=True, parent=RuleSpec("tag", value="absent")), {}),
        (RuleSpec("user", create=True, parent=RuleSpec("fixed", value="nowhere")), {}),
        (RuleSpec("user", create=True, filter=FilterSpec(users=("bob",))), {}),
    ],
)
def test_a_rule_without_an_answer_leaves_it_to_the_next(rule: RuleSpec, request_: dict[str, object]) -> None:
    tree = tree_of(*PARENT)
    assert placed(tree, rule, RuleSpec("fixed", value="root.a"), **request_) == "root.a"  # type: ignore[arg-type]
    assert placed(tree, rule, **request_).startswith("PlacementFailed")  # type: ignore[arg-type]


@pytest.mark.rule("PL-3")
@pytest.mark.parametrize(
    ("rule", "request_", "says"),
    [
        (RuleSpec("provided", create=True), {"requested": "root.a b"}, "root.a b is not the name of a queue"),
        (RuleSpec("user", create=True), {"user": "u" * 65}, "u" * 64 + " is not the name of a queue"),
        (
            RuleSpec("user", create=True, parent=RuleSpec("fixed", value="root.a")),
            {},
            "root.a is a leaf and takes no child",
        ),
        *(
            pytest.param(
                RuleSpec("user", create=True, parent=RuleSpec("tag", create=True, value="t")),
                {"tags": {"t": named}, "user": user},
                f"{path} cannot be made: @recovery@ is a name of its own",
                id=f"P2 {path}",
            )
            for named, user, path in (
                ("root.@recovery@", "alice", "root.@recovery@.alice"),
                ("root.p", "@recovery@", "root.p.@recovery@"),
            )
        ),
    ],
)
def test_a_mistake_ends_the_placement(rule: RuleSpec, request_: dict[str, object], says: str) -> None:
    tree = tree_of(*PARENT, make_queue("root.default"))
    found = placed(tree, rule, RuleSpec("fixed", value="root.a"), **request_)  # type: ignore[arg-type]
    assert found == f"PlacementFailed: {says}"


@pytest.mark.rule("PL-6")
@pytest.mark.rule("PL-8")
def test_a_queue_that_does_not_take_it_leaves_it_to_the_next_rule() -> None:
    tree = tree_of(*PARENT, make_queue("root.old"))
    queue = tree.get("root.old")
    assert queue is not None
    queue.applications.add(AppId("x", "default"))
    tree.apply(make_partition(*PARENT))
    last = RuleSpec("fixed", value="root.a")
    assert placed(tree, RuleSpec("provided"), last, requested="root.old") == "root.a"
    assert placed(tree, RuleSpec("provided"), requested="root.old") == "QueueDraining: root.old"
    assert placed(tree, RuleSpec("provided"), requested="root.p") == "QueueNotLeaf: root.p"


@pytest.mark.rule("PL-7")
def test_what_is_found_only_when_the_queue_would_be_made() -> None:
    tree = tree_of(*PARENT)
    create, last = RuleSpec("provided", create=True), RuleSpec("fixed", value="root.a")
    assert placed(tree, create, last, requested="root.a.x") == (
        "PlacementFailed: root.a is a leaf and takes no child"
    )


@pytest.mark.rule("PL-6")
@pytest.mark.rule("PL-7")
@pytest.mark.rule("ACL-6")
def test_access() -> None:
    leaf, parent = make_queue("root.b"), make_queue("root.q", leaf=False)
    tree = tree_of(closed(leaf, "bob "), closed(parent, " dev"), root="")
    create = RuleSpec("provided", create=True)
    assert placed(tree, create, requested="root.b", user="bob") == "root.b"
    assert placed(tree, create, requested="root.b") == "AccessDenied: root.b"
    assert placed(tree, create, requested="root.q.new", user="dev") == "+root.q.new"
    assert placed(tree, create, requested="root.q.new", user="bob") == "AccessDenied: root.q"
    assert placed(tree, create, requested="root.new", user="bob") == "AccessDenied: root"


@pytest.mark.rule("PL-9")
def test_the_default_queue_is_the_last_resort() -> None:
    tree = tree_of(*PARENT, make_queue("root.default"))
    assert placed(tree, RuleSpec("provided"), requested="root.nowhere") == "root.default"


@pytest.mark.rule("PL-10")
@pytest.mark.rule("PL-12")
def test_a_forced_application_is_never_refused() -> None:
    tree = tree_of(*PARENT, root="")
    assert placed(tree, RuleSpec("provided"), requested="root.nowhere", forced=True) == "root.@recovery@"
    assert placed(tree_of(*PARENT), RuleSpec("provided"), requested="root.a", forced=True) == "root.a"
    named = placed(tree_of(*PARENT), RuleSpec("provided", create=True), requested="root.@recovery@")
    assert named == "PlacementFailed: no queue root.@recovery@"


@pytest.mark.rule("PL-10")
def test_a_forced_application_does_not_fall_back_to_the_default_queue() -> None:
    """A pod that ran before Paddock's start is an exception, since this rule may have placed it there."""
    tree = tree_of(make_queue("root.default"))
    asked = {"requested": "root.nowhere", "forced": True}
    assert placed(tree, RuleSpec("provided"), **asked) == "root.@recovery@"
    assert placed(tree, RuleSpec("provided"), **asked, restored=True) == "root.default"
    assert placed(tree, RuleSpec("provided"), requested="root.nowhere") == "root.default"


@pytest.mark.rule("PL-14")
@pytest.mark.parametrize(
    ("user", "requested", "path"),
    [
        ("testchild", "", "root.testparent.testchild"),
        ("other-user", "root.fixed.leaf", "root.fixed.leaf"),
        ("unknown-user", "root.fixed.other", "AccessDenied: root.fixed"),
        ("other-user", "root.fixed", "QueueNotLeaf: root.fixed"),
    ],
)
def test_the_worked_example(user: str, requested: str, path: str) -> None:
    tree = tree_of(
        closed(make_queue("root.testparent", leaf=False), "*"),
        closed(make_queue("root.testparent.testchild")),
        closed(make_queue("root.fixed", leaf=False), "other-user "),
        closed(make_queue("root.fixed.leaf")),
        root="",
    )
    rules = (
        RuleSpec("user", parent=RuleSpec("fixed", value="testparent")),
        RuleSpec("provided", create=True),
        RuleSpec("tag", create=True, value="namespace"),
    )
    assert placed(tree, *rules, user=user, requested=requested, tags={"namespace": "default"}) == path


@pytest.mark.rule("PL-11")
@pytest.mark.rule("TPL-2")
@pytest.mark.rule("TPL-5")
def test_templates_of_queues_that_are_made() -> None:

    partition = make_partition(
        make_queue("root.parent", leaf=False), make_queue("root.notemplate", leaf=False)
    )
    root, parent, other = partition.queues
    tree = make_tree()
    twenty, more = TemplateSpec(max=Limit({"vcore": 20})), TemplateSpec(max=Limit({"vcore": 21}))
    queues = (replace(root, template=twenty), replace(parent, template=more), other)
    tree.apply(replace(partition, queues=queues))
    request = PlacementRequest
    maxima = {}
    for path in ("root.parent.x", "root.notemplate.x", "root.notemplate.y.z"):
        found = decide_queue(tree, (RuleSpec("provided", create=True),), request(path))
        assert isinstance(found, Chosen)
        queue = tree.create(found.create)
        maxima[path] = queue.max.get("vcore") if queue.max is not None else None
        assert queue.dynamic
    assert maxima == {"root.parent.x": 21, "root.notemplate.x": 20, "root.notemplate.y.z": 20}
    middle = tree.get("root.notemplate.y")
    assert middle is not None
    assert (middle.max, middle.is_leaf) == (None, False)


DEEP = "root" + ".y" * (MOST_LEVELS - 1)
"""The deepest path that a rule makes."""


@pytest.mark.rule("PL-11")
def test_a_rule_makes_a_path_of_fifty_levels_and_no_deeper_one() -> None:
    """Deeper trees would exhaust the stack. An annotation has room for 120,000 levels."""
    provided = RuleSpec("provided", create=True)
    assert placed(tree_of(), provided, requested=DEEP).endswith("+" + DEEP)
    for longer in (DEEP + ".y", "root" + ".y" * 120_000):
        refused = placed(tree_of(), provided, requested=longer)
        assert refused == f"PlacementFailed: {longer[:64]} has more than 50 levels"
        assert placed(tree_of(), provided, requested=longer, forced=True) == "root.@recovery@"


@pytest.mark.rule("PL-11", "PL-5")
def test_levels_of_a_parent_rule_count() -> None:
    above = RuleSpec("tag", create=True, value="t")
    rule = RuleSpec("user", create=True, parent=above)
    assert placed(tree_of(), rule, tags={"t": DEEP.removesuffix(".y")}).endswith(".alice")
    assert placed(tree_of(), rule, tags={"t": DEEP}).endswith("has more than 50 levels")


@pytest.mark.rule("PL-9", "PL-11")
def test_a_path_too_deep_to_exist_falls_back_like_any_other() -> None:
    tree = tree_of(make_queue("root.default"))
    assert placed(tree, requested="root" + ".y" * 120_000) == "root.default"
