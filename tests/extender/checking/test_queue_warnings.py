"""Warnings of `paddock check` for queues: shape, max, properties, offsets, and dynamic queues."""

import json
from typing import Any

import pytest

from extender.queueconfig.surprises.warnings import warnings_of

TAG = {"name": "tag", "value": "namespace", "create": True}
PROVIDED = {"name": "provided", "create": True}
DISABLED = {"application.sort.priority": "disabled"}


def queue(name: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, **({"queues": list(children)} if children else {}), **more}


def root(*children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return queue("root", *children, submitacl="*", **more)


def found(*queues: dict[str, Any], **partition: Any) -> list[tuple[str, str]]:
    """Rule and place of every warning. Places are relative to the root or the partition."""
    document = {"partitions": [{"name": "default", "queues": list(queues), **partition}]}
    front = "partitions[0].queues[0]."
    warnings = warnings_of(json.dumps(document))
    return [(each.rule, each.path.removeprefix(front)) for each in warnings]


def offset(value: int | str, **more: str) -> dict[str, Any]:
    return {"properties": {"priority.offset": str(value), **more}}


def test_a_document_without_surprises() -> None:
    sizes = {"guaranteed": {"vcore": "0"}, "max": {"vcore": "0", "memory": "1G"}}
    properties = {
        "application.sort.policy": "fair",
        "application.sort.priority": "Enabled",
        "priority.policy": "Fence",
        "priority.offset": "-5",
        "preemption.policy": "FENCE",
        "preemption.delay": "1m30s",
        "application.unschedasks.backoff": "5",
        "application.unschedasks.backoff.delay": "10s",
    }
    child = queue("a", queue("b", resources=sizes, properties=properties), properties=DISABLED, parent=True)
    assert found(root(child, parent=True), usergroupresolver={"type": "os"}) == []


# -- shape and size ------------------------------------------------------------------------------------------


@pytest.mark.rule("Q-1")
def test_parent_false_above_children() -> None:
    assert found(root(queue("a", queue("b"), parent=False))) == [("Q-1", "queues[0].parent")]
    assert found(root(parent=False)) == [("Q-1", "parent")]
    assert found(root(queue("a", queue("b")), queue("c", parent=False))) == []


def test_a_template_on_a_leaf() -> None:
    template = {"maxapplications": 5}
    assert found(root(queue("a", childtemplate=template))) == [("TPL-2", "queues[0].childtemplate")]
    assert found(root(queue("a", childtemplate=template, parent=True), childtemplate=template)) == []


@pytest.mark.rule("Q-2")
@pytest.mark.parametrize(
    ("amounts", "is_surprising"),
    [
        ({"memory": "0"}, True),
        ({"memory": "0Gi", "vcore": "0m"}, True),
        ({"memory": "0", "vcore": "10"}, False),
        ({"memory": "0", "vcore": "x"}, False),
        ({}, False),
    ],
)
def test_a_max_of_zeros(amounts: dict[str, str], is_surprising: bool) -> None:
    own = found(root(queue("a", resources={"max": amounts})))
    of_template = found(root(childtemplate={"resources": {"max": amounts}}))
    assert own == ([("Q-2", "queues[0].resources.max")] if is_surprising else [])
    assert of_template == ([("Q-2", "childtemplate.resources.max")] if is_surprising else [])


@pytest.mark.rule("CFG-4")
def test_partitions_that_are_not_used() -> None:
    other = {"name": "gpu", "queues": [queue("x", parent=False, resources={"max": {"a": "0"}})]}
    default = {"name": "DEFAULT", "queues": [root()]}
    warnings = warnings_of(json.dumps({"partitions": [default, other]}))
    assert [(each.rule, each.path) for each in warnings] == [("CFG-4", "partitions[1].name")]
    assert [each.rule for each in warnings_of(json.dumps({"partitions": [other]}))] == ["CFG-4", "CFG-4"]
    assert [each.rule for each in warnings_of("# nothing")] == ["CFG-4"]


def test_a_resolver_that_is_not_here() -> None:
    place = "partitions[0].usergroupresolver.type"
    assert found(root(), usergroupresolver={"type": "ldap"}) == [("ID-4", place)]


# -- properties ----------------------------------------------------------------------------------------------


@pytest.mark.rule("Q-4")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("application.sort.policy", "Fair"),
        ("application.sort.priority", ""),
        ("application.sort.polcy", "fair"),
        ("Priority.Policy", "fence"),
        ("priority.policy", "fenced"),
        ("priority.offset", "3000000000"),
        ("priority.offset", "1.5"),
        ("preemption.policy", "off"),
        ("preemption.delay", "0s"),
        ("preemption.delay", "30"),
        ("application.unschedasks.backoff", "-1"),
        ("application.unschedasks.backoff.delay", "soon"),
        ("custom", "x"),
    ],
)
def test_a_property_that_has_no_effect(key: str, value: str) -> None:
    shown = f'["{key}"]' if "." in key else f".{key}"
    own = found(root(queue("a", properties={key: value})))
    assert own == [("Q-4", f"queues[0].properties{shown}")]
    rule = "Q-4" if value else "TPL-1"
    of_template = found(root(childtemplate={"properties": {key: value}}))
    assert of_template == [(rule, f"childtemplate.properties{shown}")]


@pytest.mark.rule("Q-4")
def test_what_counts_instead_is_said() -> None:
    document = {
        "partitions": [
            {"queues": [root(properties={"preemption.delay": "0s", "application.sortPolicy": "x"})]}
        ]
    }
    delay, unknown = (each.message for each in warnings_of(json.dumps(document)))
    assert delay == '"0s" is not a duration above zero, such as 30s: 30s counts'
    assert unknown.endswith("did you mean application.sort.policy")


def test_an_empty_priority_policy_is_the_default() -> None:
    assert found(root(queue("a", properties={"priority.policy": ""}))) == []


def test_properties_that_wait_for_a_switch_of_the_partition() -> None:
    delays = {"quota.preemption.delay": "1m", "preemption.delay": "1m"}
    tree = root(queue("a", properties=delays))
    place = "queues[0].properties"
    quota, preemption = f'{place}["quota.preemption.delay"]', f'{place}["preemption.delay"]'
    assert found(tree) == [("QUO-12", quota)]
    assert found(tree, preemption={"quotapreemptionenabled": True}) == []
    both = found(tree, preemption={"enabled": False, "quotapreemptionenabled": True})
    assert both == [("Q-4", preemption)]


def test_priorities_of_the_root_are_not_used() -> None:
    properties = {"priority.policy": "fence", "priority.offset": "5", **DISABLED}
    places = [("PRI-8", f'properties["priority.{each}"]') for each in ("policy", "offset")]
    assert found(root(properties=properties)) == places


# -- offsets -------------------------------------------------------------------------------------------------


def test_an_offset_that_reaches_the_system_classes_alone() -> None:
    assert found(root(queue("a", **offset(999_999_999)))) == []
    assert found(root(queue("a", **offset(1_000_000_000)))) == [("PRI-9", OFFSET_OF_A)]
    assert found(root(queue("a", **offset(2_147_483_647)))) == [("PRI-9", OFFSET_OF_A)]


OFFSET_OF_A = 'queues[0].properties["priority.offset"]'


def test_offsets_add_up_towards_the_root() -> None:
    half = offset(500_000_000)
    assert found(root(queue("a", queue("b", **half), **half))) == [("PRI-9", OFFSET_OF_A)]
    assert found(root(queue("a", queue("b", **half), **offset(499_999_999)))) == []
    assert found(root(queue("a", queue("b", queue("c", **half), **offset(-1)), **half))) == []
    assert found(root(queue("a", queue("b", **half)), queue("c", **half))) == []


def test_a_fence_shows_its_own_offset() -> None:
    half, fence = offset(500_000_000), {"priority.policy": "fence"}
    assert found(root(queue("a", queue("b", **half), **offset(500_000_000, **fence)))) == []
    fenced = queue("a", queue("b", **half, parent=True), **offset(1_500_000_000, **fence))
    assert found(root(fenced)) == [("PRI-9", OFFSET_OF_A)]


def test_an_offset_of_a_template_counts() -> None:
    template = {"properties": {"priority.offset": "600000000"}}
    parent = queue("a", parent=True, childtemplate=template, **offset(400_000_000))
    assert found(root(parent)) == [("PRI-9", OFFSET_OF_A)]
    assert found(root(childtemplate={"properties": {"priority.offset": "1000000000"}})) == [
        ("PRI-9", 'childtemplate.properties["priority.offset"]')
    ]


# -- dynamic queues ------------------------------------------------------------------------------------------

PRIORITY_OF_ROOT = 'properties["application.sort.priority"]'
PRIORITY_OF_A = f"queues[0].{PRIORITY_OF_ROOT}"


@pytest.mark.rule("Q-6")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        *DISABLED.items(),
        ("application.sort.policy", "fair"),
        ("preemption.policy", "disabled"),
        ("preemption.delay", "1m"),
        ("application.unschedasks.backoff", "3"),
    ],
)
def test_a_property_above_dynamic_queues_that_they_do_not_inherit(key: str, value: str) -> None:
    place = f'properties["{key}"]'
    assert found(root(properties={key: value}), placementrules=[TAG]) == [("Q-6", place)]
    assert found(root(properties={key: value}), placementrules=[{**TAG, "create": False}]) == []
    in_template = root(properties={key: value}, childtemplate={"properties": {key: value}})
    assert found(in_template, placementrules=[TAG]) == []


@pytest.mark.rule("Q-6")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("application.sort.priority", "enabled"),
        ("application.sort.policy", "fifo"),
        ("preemption.policy", "fence"),
        ("preemption.delay", "30s"),
        ("application.unschedasks.backoff", "0"),
    ],
)
def test_a_default_or_what_no_child_inherits_is_no_loss(key: str, value: str) -> None:
    assert found(root(properties={key: value}), placementrules=[TAG]) == []


@pytest.mark.rule("Q-6")
@pytest.mark.parametrize(
    ("rule", "is_above"),
    [
        (PROVIDED, True),
        (TAG, False),
        ({**TAG, "value": "team"}, True),
        ({**TAG, "parent": {"name": "fixed", "value": "a"}}, True),
        ({**TAG, "parent": {"name": "fixed", "value": "ROOT.A"}}, True),
        ({**TAG, "parent": {"name": "fixed", "value": "b"}}, False),
        ({**TAG, "parent": {"name": "fixed", "value": "a.new"}}, True),
        ({"name": "user", "create": True}, False),
        ({"name": "user", "create": True, "parent": {"name": "user"}}, True),
        ({"name": "fixed", "create": True, "value": "a.new"}, True),
        ({"name": "fixed", "create": True, "value": "a.leaf"}, False),
        ({"name": "fixed", "create": True, "value": "new"}, False),
        ({"name": "fixed", "create": True, "value": "x", "parent": {"name": "user"}}, True),
    ],
)
def test_which_rules_make_queues_below_a_parent(rule: dict[str, Any], is_above: bool) -> None:
    tree = root(queue("a", queue("leaf"), properties=DISABLED), queue("b", queue("c")))
    assert found(tree, placementrules=[rule]) == ([("Q-6", PRIORITY_OF_A)] if is_above else [])


@pytest.mark.rule("Q-6")
def test_a_property_is_lost_below_a_configured_child_too_and_reported_once() -> None:
    children = queue("b", parent=True), queue("c", parent=True)
    tree = root(queue("a", *children, properties=DISABLED))
    assert found(tree, placementrules=[PROVIDED]) == [("Q-6", PRIORITY_OF_A)]


@pytest.mark.rule("Q-6")
def test_a_child_that_sets_it_back_loses_nothing() -> None:
    enabled = {"application.sort.priority": "enabled"}
    under_a = {**TAG, "parent": {"name": "fixed", "value": "a"}}
    tree = root(queue("a", parent=True, properties=enabled), properties=DISABLED)
    assert found(tree, placementrules=[under_a]) == []
    assert found(tree, placementrules=[TAG]) == [("Q-6", PRIORITY_OF_ROOT)]


@pytest.mark.rule("TPL-3")
def test_the_template_in_force_is_the_nearest_that_is_not_empty() -> None:
    template, under_a = {"properties": DISABLED}, {**TAG, "parent": {"name": "fixed", "value": "a"}}
    for own, lost in (({}, []), ({"maxapplications": 1}, [("Q-6", PRIORITY_OF_ROOT)])):
        child = queue("a", parent=True, childtemplate=own)
        tree = root(child, properties=DISABLED, childtemplate=template)
        assert found(tree, placementrules=[under_a]) == lost
