"""Adoption: the namespaces, the application id, the queue, and expressions that are invalid."""

from typing import Any

import pytest

from tests.extender.mutation.reviews import changed, pod

FILTER = "admissionController.filtering."
APP, QUEUE = "yunikorn.apache.org/app-id", "yunikorn.apache.org/queue"
MADE = {APP: "yunikorn-team-autogen", "applicationId": "yunikorn-team-autogen"}


def adopted(thing: dict[str, Any], **review: Any) -> tuple[str, dict[str, str]]:
    """Scheduler name and labels."""
    keys = {f"{FILTER}{name}": each for name, each in review.pop("lists", {}).items()}
    found = changed(thing, "adopt", keys=keys, **review)
    return found["spec"]["schedulerName"], found["metadata"].get("labels", {})


LISTS: dict[str, tuple[dict[str, str], bool, bool]] = {
    "none": ({}, True, True),
    "processed": ({"processNamespaces": " other , ^te"}, True, True),
    "not processed": ({"processNamespaces": "other"}, False, False),
    "bypassed": ({"bypassNamespaces": "x,am$"}, False, False),
    "processed and bypassed": ({"processNamespaces": "team", "bypassNamespaces": "team"}, False, False),
    "an empty list": ({"processNamespaces": " , ", "bypassNamespaces": ""}, True, True),
    "labelled": ({"labelNamespaces": "team"}, True, True),
    "not labelled": ({"labelNamespaces": "other"}, True, False),
    "left without labels": ({"noLabelNamespaces": "team"}, True, False),
    "invalid": ({"processNamespaces": "team-(a"}, False, False),
    "invalid beside one that matches": ({"processNamespaces": "(,team"}, True, True),
    "invalid where it does not matter": (
        {"processNamespaces": "(", "bypassNamespaces": "team"},
        False,
        False,
    ),
    "invalid among the bypassed": ({"bypassNamespaces": "other,("}, False, False),
    "invalid for labels": ({"labelNamespaces": "("}, False, False),
    "invalid for labels where labels are out": (
        {"labelNamespaces": "(", "noLabelNamespaces": "t"},
        True,
        False,
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_namespaces(name: str) -> None:
    """An expression that is invalid adopts nothing, but only where it decides."""
    lists, taken, labelled = LISTS[name]
    expected = "yunikorn" if taken else "default-scheduler"
    assert adopted(pod(), lists=lists) == (expected, MADE if labelled else {})


OUT = {"bypassNamespaces": "team", "noLabelNamespaces": "team"}
PLACES: list[tuple[dict[str, str], dict[str, str], bool, bool]] = [
    ({"enabled": "true"}, OUT, True, False),
    ({"enabled": "true", "generates": "true"}, OUT, True, True),
    ({"enabled": "false"}, {}, False, False),
    ({"enabled": "yes"}, {}, False, False),
    ({"generates": "false"}, {}, True, False),
]


@pytest.mark.parametrize(("place", "lists", "taken", "labelled"), PLACES)
def test_annotations_of_the_namespace_come_first(
    place: dict[str, str], lists: dict[str, str], taken: bool, labelled: bool
) -> None:
    scheduler, labels = adopted(pod(), lists=lists, **place)
    assert (scheduler == "yunikorn", bool(labels)) == (taken, labelled)


def test_system_pods_mirrors_and_yunikorn_itself_are_left_out() -> None:
    assert adopted(pod(), namespace="kube-system")[0] == "default-scheduler"
    assert adopted(pod(), groups=("system:nodes",))[0] == "default-scheduler"
    assert adopted(pod(labels={"app": "yunikorn"})) == ("default-scheduler", {"app": "yunikorn"})


def test_without_the_config_map_nothing_is_adopted() -> None:
    assert changed(pod(), "adopt", keys=None) == pod()


@pytest.mark.parametrize(
    ("namespace", "unique", "expected"),
    [
        ("team", "false", "yunikorn-team-autogen"),
        ("team", "true", "team-uniqueautogen"),
        ("team", "T", "team-uniqueautogen"),
        ("x" * 30, "1", f"{'x' * 26}-uniqueautogen"),
        ("y" * 60, "false", f"yunikorn-{'y' * 54}"),
    ],
)
def test_the_id_of_a_pod_without_one(namespace: str, unique: str, expected: str) -> None:
    _, labels = adopted(pod(), namespace=namespace, lists={"generateUniqueAppId": unique})
    assert labels == {APP: expected, "applicationId": expected}


def test_an_id_that_would_end_with_a_hyphen_is_left_to_paddock() -> None:
    assert adopted(pod(), namespace="x" * 53) == ("yunikorn", {})


@pytest.mark.parametrize(
    ("keys", "added"),
    [
        ({"labels": {APP: "mine"}}, {"applicationId": "mine"}),
        ({"labels": {"applicationId": "old"}}, {}),
        ({"labels": {"spark-app-selector": "s"}}, {}),
        ({"labels": {APP: ""}}, MADE),
        ({"annotations": {APP: "mine"}}, {}),
        ({"annotations": {QUEUE: "root.b"}}, MADE),
    ],
    ids=repr,
)
def test_what_the_pod_says_stays(keys: dict[str, dict[str, str]], added: dict[str, str]) -> None:
    _, labels = adopted(pod(**keys))
    assert labels == keys.get("labels", {}) | added


@pytest.mark.parametrize(
    ("labels", "default", "added"),
    [
        ({}, "root.a", {QUEUE: "root.a", "queue": "root.a"}),
        ({QUEUE: "root.b"}, "root.a", {"queue": "root.b"}),
        ({"queue": "root.b"}, "root.a", {}),
        ({}, "root a", {}),
        ({}, "x" * 64, {}),
        ({}, "", {}),
    ],
    ids=repr,
)
def test_the_default_queue(labels: dict[str, str], default: str, added: dict[str, str]) -> None:
    _, found = adopted(pod(labels=labels), lists={"defaultQueue": default})
    assert found == labels | MADE | added
