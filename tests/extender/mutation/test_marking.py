"""Markers and the gate: which pods get them, and that nothing else changes."""

from typing import Any

import pytest

from extender.mutation.marking import MARKERS
from tests.extender.mutation.reviews import changed, pod

QUEUE = {"yunikorn.apache.org/queue": "root.a"}
GATE = {"name": "paddock.dev/queue"}
MANAGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "by its scheduler": ({"schedulerName": "yunikorn"}, {}),
    "by a label": ({"labels": QUEUE}, {}),
    "by an annotation": ({"annotations": {"yunikorn.apache.org/app-id": "a"}}, {}),
    "by its namespace": ({}, {"enabled": "true"}),
    "of a system namespace by annotation": ({}, {"enabled": "true", "namespace": "kube-system"}),
}
UNMANAGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "by a bare key": ({"labels": {"queue": "root.a"}}, {}),
    "of a namespace that is out": ({}, {"enabled": "false"}),
    "of a system namespace": ({"labels": QUEUE}, {"namespace": "kube-system"}),
    "of another scheduler": ({"schedulerName": "volcano", "labels": QUEUE}, {}),
    "with a node": ({"nodeName": "n1", "labels": QUEUE}, {}),
}


def requests(thing: dict[str, Any]) -> set[str]:
    found = thing["spec"]["containers"][0].get("resources", {})
    assert found.get("requests", {}).keys() == found.get("limits", {}).keys()
    return set(found.get("requests", {}))


@pytest.mark.parametrize("name", MANAGED)
def test_a_managed_pod_is_marked_and_gated(name: str) -> None:
    spec, place = MANAGED[name]
    found = changed(pod(**spec), "mark", "gate", **place)
    assert requests(found) == set(MARKERS)
    assert found["spec"]["schedulingGates"] == [GATE]


@pytest.mark.parametrize("name", UNMANAGED)
def test_any_other_pod_stays_as_it_is(name: str) -> None:
    spec, place = UNMANAGED[name]
    assert changed(pod(**spec), "mark", "gate", **place) == pod(**spec)


def test_beside_the_clusters_scheduler_only_named_pods_are_marked() -> None:
    assert changed(pod(labels=QUEUE), "mark-named") == pod(labels=QUEUE)
    assert requests(changed(pod(schedulerName="paddock"), "mark-named")) == set(MARKERS)


@pytest.mark.parametrize("resources", [{}, None, {"requests": {"cpu": "1"}}, {"limits": {"cpu": "1"}}])
def test_other_resources_stay(resources: dict[str, Any] | None) -> None:
    container = {"name": "c"} if resources is None else {"name": "c", "resources": resources}
    found = changed(pod(labels=QUEUE, containers=[container, {"name": "d"}]), "mark")
    first, second = found["spec"]["containers"]
    for part in ("requests", "limits"):
        own = (resources or {}).get(part, {})
        assert first["resources"][part] == own | dict.fromkeys(MARKERS, "1")
    assert second == {"name": "d"}


def test_a_pod_without_containers_is_left_to_validation() -> None:
    assert changed(pod(labels=QUEUE, containers=[]), "mark") == pod(labels=QUEUE, containers=[])


def test_a_second_call_changes_nothing() -> None:
    once = changed(pod(labels=QUEUE, schedulingGates=[{"name": "other"}]), "mark", "gate")
    assert once["spec"]["schedulingGates"] == [{"name": "other"}, GATE]
    assert changed(once, "mark", "gate") == once
