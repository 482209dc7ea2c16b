"""Fields of a pod about preemption, read from its JSON."""

from typing import Any

import msgspec
import pytest

from core.ids import PodUid
from core.workload.daemon_set import Controller, DaemonSetFacts, DaemonSetKey
from core.workload.nodes.affinity import Requirement
from core.workload.pod import PodFacts
from extender.wire.translate import (
    DAEMON_SET,
    LARGEST_SELECTOR,
    POD,
    PRIORITY_CLASS,
    daemon_set_from,
    pod_from,
    priority_class_from,
)

CONTAINER = {"name": "main"}


def facts(
    spec: dict[str, Any] | None = None,
    *,
    status: dict[str, Any] | None = None,
    **metadata: Any,
) -> PodFacts:
    body = {
        "metadata": {"uid": "u", "name": "p", "namespace": "default", **metadata},
        "spec": {"containers": [CONTAINER], **(spec or {})},
        "status": status or {},
    }
    return pod_from(POD.decode(msgspec.json.encode(body)))


def test_a_pod_that_says_nothing() -> None:
    pod = facts()
    assert (pod.never_preempts, pod.allow_preemption, pod.priority_class) == (False, "", "")
    assert (pod.required_node, pod.complex, pod.grace, pod.labels) == ("", False, 30, {})
    assert not pod.disrupted
    assert pod == PodFacts(uid=PodUid("u"), namespace="default", name="p", size=pod.size)


@pytest.mark.rule("DESIGN-3")
@pytest.mark.parametrize(
    ("status", "reason", "broke_off"),
    [
        ("False", "SchedulerError", True),
        ("False", "Unschedulable", False),
        ("False", "SchedulingGated", False),
        ("True", "SchedulerError", False),
        ("False", "", False),
    ],
)
def test_only_an_error_of_kube_scheduler_means_that_the_attempt_broke_off(
    status: str, reason: str, *, broke_off: bool
) -> None:
    said = {"type": "PodScheduled", "status": status, "reason": reason, "message": "text"}
    found = facts(status={"conditions": [{"type": "Ready", "status": "False"}, said]})
    assert found.attempt_broke_off is broke_off
    assert found.unscheduled == ("text" if status == "False" else "")


@pytest.mark.rule("PRE-4", "DIV-7")
@pytest.mark.parametrize(
    ("policy", "never"), [(None, False), ("PreemptLowerPriority", False), ("Never", True), ("never", False)]
)
def test_only_the_policy_never_keeps_a_pod_from_preempting(policy: str | None, never: bool) -> None:
    assert facts({"preemptionPolicy": policy}).never_preempts is never


@pytest.mark.rule("PRE-4")
@pytest.mark.parametrize(
    ("text", "read"), [("true", "true"), ("false", "false"), ("False", ""), ("yes", ""), ("", "")]
)
def test_an_opt_out_is_written_exactly(text: str, read: str) -> None:
    annotations = {"yunikorn.apache.org/allow-preemption": text}
    assert facts(annotations=annotations).allow_preemption == read
    made = PRIORITY_CLASS.decode(
        msgspec.json.encode({"metadata": {"name": "low", "annotations": annotations}, "value": 7})
    )
    assert priority_class_from(made).allow_preemption == text


def test_the_name_of_the_class_its_labels_and_its_grace() -> None:
    pod = facts({"priorityClassName": "low", "terminationGracePeriodSeconds": 0}, labels={"b": "2", "a": "1"})
    assert (pod.priority_class, pod.grace) == ("low", 0)
    assert pod.labels == {"a": "1", "b": "2"}
    assert facts(labels={"a": "1"}).labels is facts(labels={"a": "1"}).labels


OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "x", "controller": True}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pinned(*values: str, key: str = "metadata.name", operator: str = "In") -> dict[str, Any]:
    field = {"key": key, "operator": operator, "values": list(values)}
    terms = [{"matchExpressions": None}, {"matchFields": [field]}]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}


def fields(*values: str, key: str = "metadata.name", operator: str = "In") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


@pytest.mark.rule("RNP-1")
def test_a_pod_of_a_daemon_set_is_for_one_node() -> None:
    pod = facts(pinned("n7"), ownerReferences=[OWNER])
    assert (pod.required_node, pod.daemon_set) == ("n7", Controller("d", "x"))


@pytest.mark.rule("RNP-1")
@pytest.mark.parametrize(
    ("terms", "node"),
    [
        ([{"matchFields": [fields("n7")]}, {"matchFields": [fields("n7")]}], "n7"),
        ([{"matchFields": [fields("n7"), fields("n7", "n8")]}], "n7"),
        ([{"matchFields": [fields("n7")], "matchExpressions": [fields("eu", key="zone")]}], "n7"),
        ([{"matchFields": [fields("n7")]}, {"matchFields": [fields("n8")]}], ""),
        ([{"matchFields": [fields("n7")]}, {"matchExpressions": [fields("eu", key="zone")]}], ""),
        ([{"matchFields": [fields("n7"), fields("n8")]}], ""),
        ([{"matchFields": [fields()]}], ""),
    ],
    ids=["twice", "each must hold", "and labels", "either", "or anywhere", "neither", "none"],
)
def test_fields_are_read_as_kube_scheduler_reads_them(terms: list[dict[str, Any]], node: str) -> None:
    assert facts(required(*terms), ownerReferences=[OWNER]).required_node == node


@pytest.mark.rule("RNP-1")
@pytest.mark.parametrize(
    ("spec", "owner"),
    [
        (pinned("n7"), {"kind": "ReplicaSet"}),
        (pinned("n7"), {"apiVersion": "extensions/v1beta1"}),
        (pinned("n7"), {"apiVersion": "example.com/v1"}),
        (pinned("n7"), {"controller": False}),
        (pinned("n7"), {"controller": None}),
        (pinned("n7", "n8"), {}),
        (pinned("n7", operator="NotIn"), {}),
        (pinned("n7", key="other"), {}),
        ({}, {}),
        ({"affinity": {}}, {}),
    ],
)
def test_other_pods_are_for_no_one_node(spec: dict[str, Any], owner: dict[str, Any]) -> None:
    assert facts(spec, ownerReferences=[{**OWNER, **owner}]).required_node == ""


def test_a_daemon_set() -> None:
    body = {
        "metadata": {"name": "d", "namespace": "infra", "uid": "x", "labels": {"app": "z"}},
        "spec": {
            "selector": {
                "matchLabels": {"app": "d"},
                "matchExpressions": [{"key": "tier", "operator": "Exists"}],
            },
            "template": {"metadata": {"labels": {"app": "d"}}},
        },
    }
    found = daemon_set_from(DAEMON_SET.decode(msgspec.json.encode(body)))
    selector = (Requirement("app", "In", ("d",)), Requirement("tier", "Exists", ()))
    assert found == DaemonSetFacts(DaemonSetKey("infra", "d"), "x", selector)
    assert daemon_set_from(DAEMON_SET.decode(b"{}")).selector == ()


def test_a_daemon_set_with_a_huge_selector_selects_no_pod() -> None:
    """Each event of a pod with this field would have the cost again."""
    for count, read in ((LARGEST_SELECTOR // 2, LARGEST_SELECTOR // 2), (LARGEST_SELECTOR // 2 + 1, 0)):
        labels = {f"l{at}": "v" for at in range(count)}
        body = {"metadata": {"name": "d", "uid": "x"}, "spec": {"selector": {"matchLabels": labels}}}
        assert len(daemon_set_from(DAEMON_SET.decode(msgspec.json.encode(body))).selector) == read


TERM = {"topologyKey": "zone"}


@pytest.mark.parametrize(
    "spec",
    [
        {"affinity": {"podAffinity": {REQUIRED: [TERM]}}},
        {"affinity": {"podAntiAffinity": {REQUIRED: [TERM]}}},
        {"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]},
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
        {"volumes": [{"name": "v", "ephemeral": {}}]},
        {"resourceClaims": [{"name": "gpu"}]},
        {"containers": [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]},
    ],
)
def test_what_a_node_alone_cannot_tell(spec: dict[str, Any]) -> None:
    assert facts(spec).complex


@pytest.mark.parametrize(
    "spec",
    [
        {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}},
        {"affinity": {"podAntiAffinity": {REQUIRED: None}}},
        {"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]},
        {"volumes": [{"name": "token", "projected": {"sources": []}}, {"name": "tmp", "emptyDir": {}}]},
        {"containers": [{"name": "main", "ports": [{"containerPort": 80}]}]},
    ],
)
def test_what_a_node_alone_can_tell(spec: dict[str, Any]) -> None:
    assert not facts(spec).complex


@pytest.mark.parametrize(
    ("volume", "by_claim"),
    [
        ({"persistentVolumeClaim": {"claimName": "c"}}, True),
        ({"ephemeral": {}}, True),
        ({"emptyDir": {}}, False),
    ],
)
def test_volumes_by_claims_are_noticed(volume: dict[str, Any], by_claim: bool) -> None:
    """F-27."""
    assert facts({"volumes": [{"name": "v", **volume}]}).has_volumes is by_claim


@pytest.mark.rule("PRE-21")
@pytest.mark.parametrize(
    ("condition", "disrupted"),
    [
        (("DisruptionTarget", "True", "PreemptionByScheduler"), True),
        (("DisruptionTarget", "False", "PreemptionByScheduler"), False),
        (("DisruptionTarget", "True", "EvictionByEvictionAPI"), False),
        (("Ready", "True", "PreemptionByScheduler"), False),
    ],
)
def test_pods_preempted_by_kube_scheduler(condition: tuple[str, str, str], disrupted: bool) -> None:
    kind, status, reason = condition
    pod = facts(status={"conditions": [{"type": kind, "status": status, "reason": reason}]})
    assert pod.disrupted is disrupted


def test_the_preemptor_of_a_victim_and_the_reason() -> None:
    pod = facts(annotations={"paddock.dev/preempted-for": "uid-7 guarantee: LAW-5 left: vcore=-1"})
    assert (pod.preempted_for, pod.preempted_why) == ("uid-7", "guarantee: LAW-5 left: vcore=-1")
    assert (facts().preempted_for, facts().preempted_why) == ("", "")


def test_by_which_plan_a_victim_goes() -> None:
    pod = facts(annotations={"paddock.dev/preempted-for": "uid-7/12-uid-7 guarantee: LAW-5"})
    assert (pod.preempted_for, pod.preempted_plan) == ("uid-7", "12-uid-7")
    assert pod.preempted_why == "guarantee: LAW-5"
