"""The body of a placeholder by GANG-3, and invalid templates."""

import json
from typing import Any

import pytest

from core.workload.gangs.gang import Gang
from core.workload.pod import OWN_GATE
from extender.wire.annotations.gang import gang_from
from extender.wire.placeholder import (
    DEFAULT_PARTS,
    PlaceholderSettings,
    placeholder_pod,
    template_parts_from,
)
from extender.wire.translate import POD, pod_from
from tests.builders import make_placeholder

DOMAIN = "yunikorn.apache.org/"
PLACEHOLDER = "internal.yunikorn.apache.org/placeholder"
POLICY = "gangSchedulingStyle=Hard placeholderTimeoutInSeconds=20"


def gang(policy: str = "", **more: Any) -> Gang:
    group = {"name": "g", "minMember": 2, "minResource": {"cpu": "500m", "memory": "1Gi"}, **more}
    annotations = {DOMAIN + "task-groups": json.dumps([group])}
    found = gang_from(annotations | ({DOMAIN + "schedulingPolicyParameters": policy} if policy else {}))
    assert isinstance(found, Gang)
    return found


def body(settings: PlaceholderSettings | None = None, **wanted: Any) -> dict[str, Any]:
    wanted.setdefault("gang", gang())
    return placeholder_pod(make_placeholder(**wanted), settings or PlaceholderSettings())


@pytest.mark.rule("GANG-3")
def test_a_placeholder_of_a_plain_group() -> None:
    defined = gang()
    amounts = {"cpu": "500m", "memory": "1Gi"}
    assert body(gang=defined, scheduler_name="yunikorn") == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "tg-app-1-g-0",
            "namespace": "default",
            "labels": {DOMAIN + "app-id": "app-1", DOMAIN + "queue": "root.a"},
            "annotations": {
                PLACEHOLDER: "true",
                DOMAIN + "task-group-name": "g",
                DOMAIN + "task-groups": defined.written,
            },
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": "first",
                    "uid": "uid-first",
                    "controller": False,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "schedulerName": "yunikorn",
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "hostNetwork": False,
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "pause",
                    "image": "registry.k8s.io/pause:3.7",
                    "imagePullPolicy": "IfNotPresent",
                    "resources": {"requests": amounts, "limits": amounts},
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "privileged": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        },
    }


@pytest.mark.rule("GANG-3")
def test_what_it_takes_from_its_originator() -> None:
    spec = body(
        scheduler_name="paddock",
        priority_class="high",
        pull_secrets=("s1", "s2"),
        markers=("paddock.dev/bind", "paddock.dev/filter"),
        gated=True,
    )["spec"]
    assert spec["schedulerName"] == "paddock"
    assert spec["priorityClassName"] == "high"
    assert spec["imagePullSecrets"] == [{"name": "s1"}, {"name": "s2"}]
    assert spec["schedulingGates"] == [{"name": OWN_GATE}]
    resources = spec["containers"][0]["resources"]
    assert resources["requests"] == resources["limits"]
    assert resources["requests"] == {
        "cpu": "500m",
        "memory": "1Gi",
        "paddock.dev/bind": "1",
        "paddock.dev/filter": "1",
    }


@pytest.mark.rule("GANG-3")
def test_what_it_takes_from_its_group() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    toleration = {"key": "k", "operator": "Exists"}
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    defined = gang(
        POLICY,
        labels={"l": "1"},
        annotations={"a": "2"},
        nodeSelector={"disk": "ssd"},
        tolerations=[toleration],
        affinity=affinity,
        topologySpreadConstraints=[constraint],
        minResource={"nvidia.com/gpu": 2, "hugepages-2Mi": "4Mi", "paddock.dev/bind": "9", "": "1"},
    )
    made = body(PlaceholderSettings(copied=template_parts_from("any")), gang=defined)
    assert made["metadata"]["labels"]["l"] == "1"
    assert made["metadata"]["annotations"]["a"] == "2"
    assert made["metadata"]["annotations"][DOMAIN + "schedulingPolicyParameters"] == POLICY
    spec = json.loads(json.dumps(made["spec"]))
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert spec["tolerations"] == [toleration]
    assert spec["affinity"] == affinity
    assert spec["topologySpreadConstraints"] == [constraint]
    amounts = {"nvidia.com/gpu": "2", "hugepages-2Mi": "4Mi"}
    assert spec["containers"][0]["resources"] == {"requests": amounts, "limits": amounts}


@pytest.mark.rule("GANG-3")
def test_what_the_operator_sets() -> None:
    spec = body(PlaceholderSettings("mirror/pause:1", 1000, 2000, 3000))["spec"]
    assert spec["containers"][0]["image"] == "mirror/pause:1"
    ids = {"runAsUser": 1000, "runAsGroup": 2000, "fsGroup": 3000}
    assert spec["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
        **ids,
    }


@pytest.mark.rule("GANG-3")
def test_a_template_does_not_pass_for_paddock() -> None:
    forged = {
        PLACEHOLDER: "false",
        DOMAIN + "task-group-name": "other",
        DOMAIN + "task-groups": "[]",
        DOMAIN + "schedulingPolicyParameters": "gangSchedulingStyle=Hard",
        DOMAIN + "app-id": "other",
        DOMAIN + "queue": "root.other",
        DOMAIN + "user.info": '{"user": "root"}',
        "paddock.dev/reserved-node": "n1",
        "paddock.dev/gang": "x",
        "kept": "yes",
    }
    defined = gang(annotations=forged, labels={DOMAIN + "app-id": "other", DOMAIN + "queue": "root.other"})
    made = body(PlaceholderSettings(copied=template_parts_from("any")), gang=defined, queue="")
    assert made["metadata"]["labels"] == {DOMAIN + "app-id": "app-1", DOMAIN + "queue": ""}
    assert made["metadata"]["annotations"] == {
        PLACEHOLDER: "true",
        DOMAIN + "task-group-name": "g",
        DOMAIN + "task-groups": defined.written,
        "kept": "yes",
    }


@pytest.mark.rule("POD-3", "POD-5")
@pytest.mark.parametrize(
    ("app", "queue"),
    [("a" * 64, "root.a"), ("app 1", "root.@b"), ("-app", "root." + "q" * 60), ("app-1", "root.a")],
)
def test_what_no_label_can_hold_is_an_annotation(app: str, queue: str) -> None:
    defined = gang(labels={DOMAIN + "app-id": "other", DOMAIN + "queue": "root.other"})
    facts = pod_from(POD.decode(json.dumps(body(gang=defined, app=app, queue=queue)).encode()))
    assert (facts.app_id, facts.queue, facts.placeholder, facts.owner) == (app, queue, True, "uid-first")
    assert facts.marked


def test_it_reads_back_as_what_was_asked_for() -> None:
    defined = gang(POLICY)
    markers = ("paddock.dev/bind", "paddock.dev/filter")
    made = body(gang=defined, markers=markers, pull_secrets=("s",), priority_class="high", gated=True)
    facts = pod_from(POD.decode(json.dumps(made).encode()))
    assert facts.size == defined.groups[0].size
    assert (facts.task_group, facts.gang, facts.gates) == ("g", defined, (OWN_GATE,))
    assert (facts.markers, facts.pull_secrets, facts.priority_class) == (markers, ("s",), "high")
    assert (facts.grace, facts.asks_filter) == (0, True)


# -- what a template may give its placeholders (F-16) -----------------------------------------------------

TEMPLATE = {
    "labels": {"team": "x", "privileged": "yes"},
    "annotations": {"note": "1", "secret": "2"},
    "tolerations": [
        {"key": "only", "operator": "Exists"},
        {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    ],
    "nodeSelector": {"zone": "b"},
}


@pytest.mark.parametrize(
    ("written", "labels", "annotations", "tolerations"),
    [
        ("", {"team"}, {"note"}, 2),
        ("any", {"team", "privileged"}, {"note", "secret"}, 2),
        ("originator", {"team"}, {"note"}, 1),
        ("labels=any", {"team", "privileged"}, {"note"}, 2),
        ("tolerations=originator, annotations=any", {"team"}, {"note", "secret"}, 1),
    ],
    ids=["by default", "any", "originator", "labels", "two parts"],
)
def test_a_placeholder_carries_what_its_originator_does(
    written: str, labels: set[str], annotations: set[str], tolerations: int
) -> None:
    """The originator has one of each. A nodeSelector only narrows, so it always stays."""
    defined = gang(**TEMPLATE)
    pod = {
        "metadata": {
            "uid": "u",
            "labels": {"team": "x", "privileged": "no"},
            "annotations": {"note": "1", DOMAIN + "task-groups": defined.written},
        },
        "spec": {
            "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]
        },
    }
    first = pod_from(POD.decode(json.dumps(pod)))
    made = body(
        PlaceholderSettings(copied=template_parts_from(written) if written else DEFAULT_PARTS),
        gang=defined,
        labels=first.labels,
        annotations=first.gang_annotations,
        tolerations=first.constraints.tolerations,
    )
    found = made["metadata"]
    assert {key for key in found["labels"] if not key.startswith(DOMAIN)} == labels
    assert {key for key in found["annotations"] if "yunikorn" not in key} == annotations
    assert len(made["spec"]["tolerations"]) == tolerations
    assert made["spec"]["nodeSelector"] == {"zone": "b"}


@pytest.mark.parametrize(
    "written", ["all", "labels", "labels=", "labels=any,labels=any", "selector=any", "any,labels=any", ","]
)
def test_a_setting_that_names_no_part_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="labels=any"):
        template_parts_from(written)
