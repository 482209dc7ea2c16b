"""Warnings of `paddock check` for access lists and placement filters."""

import json
from typing import Any

import pytest

from extender.checking.verdict import check_text
from extender.queueconfig.surprises.warnings import warnings_of


def warnings(queues: list[dict[str, Any]], **partition: Any) -> list[tuple[str, str, str]]:
    document = {"partitions": [{"name": "default", "queues": queues, **partition}]}
    found = warnings_of(json.dumps(document))
    return [(each.rule, each.path.removeprefix("partitions[0]."), each.message) for each in found]


def of_acl(text: str) -> list[tuple[str, str]]:
    queues = [{"name": "root", "submitacl": "*", "queues": [{"name": "a", "adminacl": text}]}]
    return [(rule, path) for rule, path, _ in warnings(queues)]


def of_filter(**spec: Any) -> list[tuple[str, str]]:
    rule = {"name": "user", "filter": spec}
    found = warnings([{"name": "root", "submitacl": "*"}], placementrules=[rule])
    return [(rule, path.removeprefix("placementrules[0].filter")) for rule, path, _ in found]


# -- access lists --------------------------------------------------------------------------------------------


@pytest.mark.rule("ACL-3")
@pytest.mark.parametrize(
    "text",
    [
        "bob,system:serviceaccount:a:b",
        "a/b",
        "99bob",
        "bob a.b",
        " staff,a:b",
        "*,bob",
        "bob *,staff",
    ],
)
def test_names_that_an_access_list_drops(text: str) -> None:
    assert of_acl(text) == [("ACL-3", "queues[0].queues[0].adminacl")]


@pytest.mark.rule("ACL-3")
@pytest.mark.parametrize(
    "text", ["", " ", "*", "* ", " *", "a/b *", "bob", "bob,al$ staff", ",bob, ", "a b c"]
)
def test_access_lists_that_drop_no_name(text: str) -> None:
    assert of_acl(text) == []


@pytest.mark.rule("ACT-2")
@pytest.mark.parametrize(
    ("acl", "expected"),
    [
        ("ann staff", []),
        (" ", []),
        ("*", ["* gives nobody"]),
        ("ann *", ["* gives nobody"]),
        ("* system:masters", ["* gives nobody", '"system:masters" cannot']),
        (
            "system:serviceaccount:a:b,ann oidc:staff,staff",
            ['"system:serviceaccount:a:b" cannot', '"oidc:staff" cannot'],
        ),
    ],
)
def test_what_gives_no_action_where_admin_acls_do(acl: str, expected: list[str]) -> None:
    queue = {"name": "root", "submitacl": "*", "queues": [{"name": "a", "adminacl": acl}]}
    document = json.dumps({"partitions": [{"name": "default", "queues": [queue]}]})

    def said(setting: str) -> list[str]:
        data = {"queues.yaml": document, "paddock.admin.acl": setting}
        text = json.dumps({"kind": "ConfigMap", "metadata": {"name": "yunikorn-configs"}, "data": data})
        found = check_text(text.encode(), name="c").warnings
        return [each.message for each in found if each.rule == "ACT-2"]

    assert said("false") == []
    assert len(said("true")) == len(expected)
    for message, begin in zip(said("true"), expected, strict=True):
        assert message.startswith(begin)
        assert "RBAC" in message


@pytest.mark.rule("ACL-3")
def test_the_first_dropped_names_are_named() -> None:
    text = ",".join(f"9{each}" for each in "abcde") + " 9g"
    queues = [{"name": "root", "submitacl": "*", "queues": [{"name": "a", "adminacl": text}]}]
    users, groups = (message for _, _, message in warnings(queues))
    assert users.startswith('"9a", "9b", "9c" and 2 more cannot be users of an access list')
    assert groups.startswith('"9g" cannot be groups')


@pytest.mark.rule("CFG-6")
@pytest.mark.parametrize("queues", [[], [{"name": "a"}, {"name": "b"}], [{"name": "a", "submitacl": "a/b"}]])
def test_an_inserted_root_that_admits_no_user(queues: list[dict[str, Any]]) -> None:
    assert ("CFG-6", "queues") in [(rule, path) for rule, path, _ in warnings(queues)]


@pytest.mark.rule("ACL-5")
def test_a_root_that_admits_no_user() -> None:
    found = warnings([{"name": "root", "queues": [{"name": "a"}, {"name": "b", "queues": [{"name": "c"}]}]}])
    assert [(rule, path) for rule, path, _ in found] == [("ACL-5", "queues[0].submitacl")]


@pytest.mark.rule("ACL-5")
def test_the_topmost_queue_that_admits_no_user_is_named() -> None:
    closed = {"name": "b", "queues": [{"name": "c"}, {"name": "d"}]}
    found = warnings([{"name": "a", "adminacl": "bob", "queues": [{"name": "x"}]}, closed])
    assert [(rule, path) for rule, path, _ in found] == [("ACL-5", "queues[1].submitacl")]
    assert '"root.b"' in found[0][2]


@pytest.mark.rule("ACL-5")
@pytest.mark.parametrize(
    "queues",
    [
        [{"name": "root", "adminacl": "bob", "queues": [{"name": "a"}]}],
        [{"name": "root", "queues": [{"name": "a", "submitacl": " staff"}]}],
        [{"name": "a", "queues": [{"name": "b", "submitacl": "*"}]}],
    ],
)
def test_somebody_is_let_in(queues: list[dict[str, Any]]) -> None:
    assert warnings(queues) == []


# -- filters -------------------------------------------------------------------------------------------------


@pytest.mark.rule("PL-5")
@pytest.mark.parametrize("entry", ["dev*", "team-?", "a.b*", "dev*-x", "my-*.ci"])
def test_a_single_entry_that_looks_like_a_file_pattern(entry: str) -> None:
    assert of_filter(groups=[entry]) == [("PL-5", ".groups[0]")]


@pytest.mark.rule("PL-5")
@pytest.mark.parametrize("entry", ["dev", "^dev", "dev.*", "(dev|ops)", "[a-z]+", "^dev.*$", "dev+"])
def test_a_single_entry_that_is_meant_as_it_is(entry: str) -> None:
    assert of_filter(groups=[entry]) == []


@pytest.mark.rule("PL-5")
def test_what_was_probably_meant_is_said() -> None:
    rule = {"name": "user", "filter": {"users": ["a.dev*"]}}
    ((_, _, message),) = warnings([{"name": "root", "submitacl": "*"}], placementrules=[rule])
    assert message.endswith('perhaps "^a[.]dev.*$" is meant')


@pytest.mark.rule("PL-5")
def test_a_user_that_ends_in_a_dollar_sign_is_a_regular_expression() -> None:
    assert of_filter(users=["host$"]) == [("PL-5", ".users[0]")]
    assert of_filter(users=["host$", "other$"]) == []


@pytest.mark.rule("PL-5")
def test_entries_that_are_dropped_from_a_list_of_several() -> None:
    assert of_filter(users=["bob", "dev*", "a b"], groups=["x@y", "staff"]) == [
        ("PL-5", ".users[1]"),
        ("PL-5", ".users[2]"),
        ("PL-5", ".groups[0]"),
    ]


@pytest.mark.rule("PL-5")
def test_a_filter_that_denies_everybody() -> None:
    assert of_filter(type="deny") == [("PL-5", "")]
    assert of_filter(type="DENY", users=["bob"]) == [("PL-5", ".type")]
    assert of_filter(type="allow") == of_filter(type="deny", users=["bob"]) == []


@pytest.mark.rule("PL-5")
def test_filters_of_nested_rules() -> None:
    parent = {"name": "fixed", "value": "a", "parent": {"name": "user", "filter": {"type": "deny"}}}
    rule = {"name": "user", "parent": parent}
    ((_, path, _),) = warnings([{"name": "root", "submitacl": "*"}], placementrules=[rule])
    assert path == "placementrules[0].parent.parent.filter"
