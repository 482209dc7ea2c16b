"""Pods and nodes as JSON: recorded requests of a real kube-scheduler, and Go's variants of JSON."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.resource import Resource
from extender.wire.objects.node import NodeMetadata, WireNode, WireTaint
from extender.wire.objects.pod import OwnerReference, WirePod
from extender.wire.objects.sizing import node_size, pod_size

PAYLOADS = Path(__file__).parents[3] / "contract" / "payloads"
REQUESTS = sorted(PAYLOADS.glob("*/*/*.json"))


def recorded_pods(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every whole pod in a recorded request: the pod itself and, in a preempt body, the victims."""
    if "Pod" in body:
        yield body["Pod"]
    for victims in (body.get("NodeNameToVictims") or {}).values():
        yield from victims["Pods"]


def recorded(name: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((PAYLOADS / "kube-scheduler-1.36.2" / name).read_text())
    return body


def decoded(pod: dict[str, Any]) -> WirePod:
    return msgspec.json.decode(json.dumps(pod), type=WirePod)


def test_there_are_recorded_requests_of_every_verb() -> None:
    assert {path.stem for path in REQUESTS} == {"filter", "prioritize", "preempt", "bind"}
    assert sum(len(list(recorded_pods(json.loads(path.read_text())))) for path in REQUESTS) >= 8


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_recorded_pod_decodes_to_what_was_sent(path: Path) -> None:
    for sent in recorded_pods(json.loads(path.read_text())):
        pod = decoded(sent)
        assert pod.metadata.uid == sent["metadata"]["uid"]
        assert pod.metadata.name == sent["metadata"]["name"]
        assert pod.metadata.labels == sent["metadata"].get("labels")
        assert pod.spec.scheduler_name == sent["spec"]["schedulerName"]
        assert pod.spec.priority == sent["spec"].get("priority")
        assert len(pod.spec.containers or ()) == len(sent["spec"]["containers"])
        assert pod.status.phase == sent["status"]["phase"]
        assert pod_size(pod).get("pods") == 1


@pytest.mark.rule("RES-4")
@pytest.mark.parametrize("form", ["names", "nodes"])
def test_the_recorded_driver_with_init_and_sidecar_has_its_size(form: str) -> None:
    driver = decoded(recorded(f"{form}/filter.json")["Pod"])
    assert pod_size(driver) == Resource({"vcore": 1150, "memory": (1024 + 128 + 32) * 2**20, "pods": 1})
    assert (driver.metadata.labels or {})["yunikorn.apache.org/queue"] == "root.tenants.blue"


@pytest.mark.rule("RES-7")
def test_the_recorded_nodes_have_their_size() -> None:
    items = recorded("nodes/filter.json")["Nodes"]["items"]
    nodes = [msgspec.json.decode(json.dumps(item), type=WireNode) for item in items]
    assert [node.metadata.name for node in nodes] == [item["metadata"]["name"] for item in items]
    assert all(node_size(node).get("vcore") == 4000 for node in nodes)


@pytest.mark.parametrize("missing", ["null", "absent"])
def test_collections_may_be_null_or_absent(missing: str) -> None:
    collections: dict[str, Any] = {
        "metadata": ["creationTimestamp", "deletionTimestamp", "labels", "annotations", "ownerReferences"],
        "spec": ["overhead", "resources", "containers", "initContainers", "schedulingGates", "priority"],
        "status": ["conditions", "containerStatuses", "initContainerStatuses"],
    }
    body = {part: dict.fromkeys(names) if missing == "null" else {} for part, names in collections.items()}
    pod = decoded(body)
    assert pod == WirePod()
    assert pod_size(pod) == Resource({"pods": 1})


def test_a_whole_pod_is_read_field_by_field() -> None:
    pod = decoded(
        {
            "metadata": {
                "name": "p", "namespace": "ns", "uid": "u", "resourceVersion": "7",
                "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-02T00:00:00Z",
                "annotations": {"a": "b"}, "managedFields": [{"manager": "kubectl"}],
                "ownerReferences": [
                    {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "ju", "controller": True}
                ],
            },
            "spec": {
                "schedulerName": "paddock", "nodeName": "n1", "priority": -5, "priorityClassName": "low",
                "preemptionPolicy": "Never", "schedulingGates": [{"name": "paddock.dev/queue"}],
            },
            "status": {
                "phase": "Failed", "reason": "Evicted", "nominatedNodeName": "n2", "resize": "Infeasible",
                "conditions": [{"type": "PodScheduled", "status": "False", "reason": "R", "message": "M"}],
            },
        }
    )  # fmt: skip
    meta, spec, status = pod.metadata, pod.spec, pod.status
    assert (meta.name, meta.namespace, meta.uid, meta.resource_version) == ("p", "ns", "u", "7")
    assert (meta.creation_timestamp, meta.deletion_timestamp) == (
        "2026-01-01T00:00:00Z",
        "2026-01-02T00:00:00Z",
    )
    assert meta.owner_references == [
        OwnerReference(api_version="batch/v1", kind="Job", name="j", uid="ju", controller=True)
    ]
    assert (spec.scheduler_name, spec.node_name, spec.priority) == ("paddock", "n1", -5)
    assert (spec.priority_class_name, spec.preemption_policy) == ("low", "Never")
    assert [gate.name for gate in spec.scheduling_gates or ()] == ["paddock.dev/queue"]
    assert (status.phase, status.reason, status.nominated_node_name, status.resize) == (
        *("Failed", "Evicted", "n2", "Infeasible"),
    )
    (condition,) = status.conditions or ()
    assert (condition.type, condition.status, condition.reason, condition.message) == (
        *("PodScheduled", "False", "R", "M"),
    )


def test_a_whole_node_is_read_field_by_field() -> None:
    body = {
        "metadata": {
            "name": "n",
            "uid": "u",
            "resourceVersion": "3",
            "labels": {"zone": "a"},
            "annotations": None,
        },
        "spec": {"unschedulable": True, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "1"}, "capacity": {"cpu": "2"}},
    }
    node = msgspec.json.decode(json.dumps(body), type=WireNode)
    assert node.metadata == NodeMetadata("n", "3", {"zone": "a"})
    assert (node.spec.unschedulable, node.spec.taints) == (
        True,
        [WireTaint(key="k", value="v", effect="NoSchedule")],
    )
    assert node.status.allocatable == {"cpu": "1"}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"spec": {"containers": {}}}, id="an object for a list"),
        pytest.param({"spec": {"containers": [None]}}, id="null in a list"),
        pytest.param({"spec": {"overhead": {"cpu": True}}}, id="true for a quantity"),
        pytest.param({"spec": {"overhead": {"cpu": []}}}, id="a list for a quantity"),
        pytest.param({"metadata": {"name": 5}}, id="a number for a name"),
        pytest.param([], id="a list for a pod"),
    ],
)
def test_wrong_types_do_not_decode(body: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        decoded(body)


def test_a_quantity_of_endless_digits_does_not_decode() -> None:
    raw = b'{"spec": {"overhead": {"cpu": ' + b"9" * 100_000 + b"}}}"
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(raw, type=WirePod)
