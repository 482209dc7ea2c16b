"""Queues that a document defines: their kind, order, amounts and properties."""

import pytest

from core.queues.spec import QueueSpec, RuleSpec
from core.resource import Limit, Resource
from extender.queueconfig.load import DEFAULT_DOCUMENT, load_document
from tests.extender.queueconfig.documents import chain, found, of_tree, paths


def by_path(text: str) -> dict[str, QueueSpec]:
    return {spec.path: spec for spec in load_document(text).queues}


@pytest.mark.rule("SRC-8")
def test_the_built_in_document_is_one_open_root_with_a_queue_per_namespace() -> None:
    spec = load_document(DEFAULT_DOCUMENT)
    (root,) = spec.queues
    assert (root.path, root.submit_acl, root.is_leaf, root.parent) == ("root", "*", False, None)
    assert spec.rules == (RuleSpec("tag", create=True, value="namespace"),)


@pytest.mark.rule("CFG-27", verdict="rejected")
def test_what_a_queue_guarantees_itself_counts_and_not_what_its_children_get() -> None:
    own = [f"resources: {{guaranteed: {{memory: {amount}}}}}" for amount in (6, 7, 1)]
    assert found(chain("", *own)) == [("CFG-25", "queues[0].queues[0].resources.guaranteed.memory")]


@pytest.mark.rule("Q-1")
def test_leaf_or_parent() -> None:
    text = of_tree("{name: a}", "{name: b, parent: true}", "{name: c, parent: false, queues: [{name: d}]}")
    assert {path: spec.is_leaf for path, spec in by_path(text).items()} == {
        "root": False,
        "root.a": True,
        "root.b": False,
        "root.c": False,
        "root.c.d": True,
    }


@pytest.mark.rule("Q-2")
@pytest.mark.parametrize(
    ("amounts", "found"),
    [
        ("{memory: 0}", None),
        ("{}", None),
        ("~", None),
        ("{memory: 0, vcore: 10}", {"memory": 0, "vcore": 10_000}),
    ],
)
def test_amounts_without_a_value_above_zero_are_undefined(amounts: str, found: dict[str, int] | None) -> None:
    text = of_tree(
        f"{{name: a, resources: {{max: {amounts}}}}}", f"{{name: b, resources: {{guaranteed: {amounts}}}}}"
    )
    queues = by_path(text)
    assert queues["root.a"].max == (None if found is None else Limit(found))
    assert queues["root.b"].guaranteed == (None if found is None else Resource(found))


@pytest.mark.rule("Q-4")
def test_properties_stay_as_written_and_are_not_inherited() -> None:
    properties = "{application.sort.policy: fair, Own.Key: 007, flag: true, none: ~}"
    queues = by_path(of_tree(f"{{name: a, properties: {properties}, queues: [{{name: b}}]}}"))
    expected = {"application.sort.policy": "fair", "Own.Key": "007", "flag": "true", "none": ""}
    assert dict(queues["root.a"].properties) == expected
    assert dict(queues["root.a.b"].properties) == {}


def test_queues_come_root_first_parents_before_children_in_document_order() -> None:
    text = of_tree("{name: b, queues: [{name: z}, {name: y}]}", "{name: a, queues: [{name: x}]}")
    below = ["root.b", "root.b.z", "root.b.y", "root.a", "root.a.x"]
    assert paths(load_document(text)) == ["root", *below]
