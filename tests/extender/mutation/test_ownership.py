"""Owners of pods and templates: who is named, and which templates stay as they are."""

import json
from typing import Any

import pytest

from extender.mutation.ownership import own_info, owner_changes
from extender.mutation.review import BadReview, Caller
from tests.extender.mutation.reviews import Json, changed, pod, request_of

INFO = "yunikorn.apache.org/user.info"
ALICE = '{"user":"alice","groups":["system:authenticated"]}'


def workload(template: Json | None, plural: str = "deployments") -> Json:
    inner = {} if template is None else {"template": template}
    return {"spec": {"jobTemplate": {"spec": inner}} if plural == "cronjobs" else inner}


def template_in(thing: Json, plural: str) -> Json:
    spec = thing["spec"]["jobTemplate"]["spec"] if plural == "cronjobs" else thing["spec"]
    found: Json = spec["template"]
    return found


def owner(template: Json) -> str | None:
    found: str | None = template.get("metadata", {}).get("annotations", {}).get(INFO)
    return found


def test_a_pod_is_of_its_caller_unless_it_names_somebody() -> None:
    assert changed(pod(), "user-info")["metadata"]["annotations"] == {INFO: ALICE}
    named = pod(annotations={INFO: "{}"})
    assert changed(named, "user-info") == named


@pytest.mark.parametrize("user", ["system:kube-controller-manager", "system:serviceaccount:kube-system:x"])
def test_what_copies_a_template_names_no_owner(user: str) -> None:
    assert changed(pod(), "user-info", user=user) == pod()
    thing = workload({"metadata": {}})
    assert changed(thing, "user-info", plural="jobs", user=user) == thing


@pytest.mark.parametrize("plural", ["deployments", "cronjobs", "replicationcontrollers"])
@pytest.mark.parametrize("metadata", [{}, {"metadata": {}}, {"metadata": {"annotations": {"a": "b"}}}])
def test_a_new_template_is_of_its_author(plural: str, metadata: Json) -> None:
    thing = workload({**metadata, "spec": {}}, plural)
    found = template_in(changed(thing, "user-info", plural=plural), plural)
    assert owner(found) == ALICE
    assert found["metadata"]["annotations"].get("a") == metadata.get("metadata", {}).get(
        "annotations", {}
    ).get("a")


CHANGES: dict[str, tuple[Json | None, Json | None, str | None]] = {
    "written without the owner": (
        {"spec": {"a": 2}},
        {"metadata": {"annotations": {INFO: "bob's"}}, "spec": {"a": 1}},
        "bob's",
    ),
    "from before, unchanged": ({"spec": {"a": 1}}, {"spec": {"a": 1}}, None),
    "from before, changed": ({"spec": {"a": 2}}, {"spec": {"a": 1}}, ALICE),
    "named": ({"metadata": {"annotations": {INFO: "x"}}}, {"spec": {}}, "x"),
    "new": ({"spec": {}}, None, ALICE),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_template_that_changes(name: str) -> None:
    new, old, expected = CHANGES[name]
    thing = workload(new)
    before = None if old is None else workload(old)
    found = changed(thing, "user-info", plural="deployments", old=before)
    assert owner(template_in(found, "deployments")) == expected


def test_a_workload_without_a_template_stays() -> None:
    assert changed(workload(None), "user-info", plural="jobs") == workload(None)


@pytest.mark.parametrize("thing", [[], {"spec": []}, workload([]), workload({"metadata": 1})], ids=repr)  # type: ignore[arg-type]
def test_another_shape_is_refused(thing: Any) -> None:
    with pytest.raises(BadReview, match="no template"):
        owner_changes(request_of(thing, plural="deployments"))


@pytest.mark.parametrize("name", ["alice", 'a"b', "a\\b", "a\nb\x00\x1f", "é\u2028\U0001f600\x7f", ""])
def test_names_are_json_and_control_characters_are_escaped_by_number(name: str) -> None:
    text = own_info(Caller(name, (name, "g")))
    assert json.loads(text) == {"user": name, "groups": [name, "g"]}
    assert not any(char < " " for char in text)
    assert "\\n" not in text
