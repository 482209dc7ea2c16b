"""Entries of a scenario as the objects of the Kubernetes API that they stand for. Pure.

Values are plain JSON. Source of the shapes: the Pod, Node and PriorityClass types of Kubernetes. The keys of
queues, applications and gangs are those that `extender.wire.translate` reads.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from core.workload.pod import OWN_GATE
from extender.simulator.cluster.clock import EPOCH
from extender.simulator.scenario.cluster_entries import NamespaceEntry, NodeEntry, PriorityClassEntry
from extender.simulator.scenario.daemon_sets import LABEL as DAEMON_SET_LABEL
from extender.simulator.scenario.daemon_sets import owner_reference
from extender.simulator.scenario.model import PodEntry
from extender.wire.service_keys import POLICY_GROUP
from extender.wire.translate import APP_ID, QUEUE

Json = dict[str, Any]

DOMAIN = "yunikorn.apache.org/"
POD_GROUP = "pod-group.scheduling.x-k8s.io/"

GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
"""The condition that a pod with gates is created with (pkg/registry/core/pod/strategy.go)."""

_START = datetime.fromtimestamp(EPOCH, UTC)


def stamp(at: int) -> str:
    """A moment of the scenario in Kubernetes' notation: whole seconds."""
    return (_START + timedelta(milliseconds=at)).strftime("%Y-%m-%dT%H:%M:%SZ")


def uid_of(seq: int) -> str:
    """The uid of the object created as the ``seq``-th: invented, but the same in every run."""
    return f"00000000-0000-4000-8000-{seq:012d}"


def pod_object(entry: PodEntry, name: str, classes: Mapping[str, Json], *, at: int, node: str | None) -> Json:
    """A pod as the API server would store it, without uid and version.

    ``at``: its time of creation. ``node``: the node to which it is bound already.
    """
    meta: Json = {
        "name": name,
        "namespace": entry.namespace,
        "creationTimestamp": stamp(at),
        "labels": _labels(entry),
        "annotations": _annotations(entry),
    }
    if entry.daemon_set:
        meta["ownerReferences"] = [owner_reference(entry)]
        meta["labels"][DAEMON_SET_LABEL] = entry.name
    elif entry.controller is not None:
        meta["ownerReferences"] = [_controller(entry.controller)]
    spec = {**_spec(entry, classes), **entry.spec}
    if node is not None:
        spec["nodeName"] = node
    status: Json = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [GATED]
    return {"metadata": {key: value for key, value in meta.items() if value}, "spec": spec, "status": status}


def _controller(text: str) -> Json:
    """Owner reference of a played controller. ``text``: ``Kind.group/name``."""
    typed, _, name = text.partition("/")
    kind, _, group = typed.partition(".")
    version = f"{group}/v1" if group else "v1"
    return {"apiVersion": version, "kind": kind, "name": name, "uid": f"uid-of-{name}", "controller": True}


def admitted(body: Json, classes: Mapping[str, Json], *, at: int) -> Json:
    """A posted pod as the API server would store it, without uid and version.

    Its class is one of ``classes``, or none. ``at``: its time of creation.
    """
    found = classes.get(body["spec"].get("priorityClassName", ""), {})
    policy = found.get("preemptionPolicy", "PreemptLowerPriority")
    spec = {"priority": found.get("value", 0), "preemptionPolicy": policy, **body["spec"]}
    status: Json = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [GATED]
    return {"metadata": {**body["metadata"], "creationTimestamp": stamp(at)}, "spec": spec, "status": status}


def add_gate(body: Json) -> None:
    """Add Paddock's gate, as the shipped admission policy does for a managed pod (DESIGN-6)."""
    spec, gate = body["spec"], {"name": OWN_GATE}
    gates = spec.get("schedulingGates", ())
    if gate not in gates:
        spec["schedulingGates"] = [*gates, gate]
    body["status"]["conditions"] = [GATED]


def _labels(entry: PodEntry) -> Json:
    labels: Json = {}
    if entry.app is not None:
        labels[APP_ID] = entry.app
    if entry.queue is not None:
        labels[QUEUE] = entry.queue
    if entry.pod_group is not None:
        labels[POD_GROUP + "name"] = entry.pod_group.name
        labels[POD_GROUP + "min-available"] = str(entry.pod_group.min_available)
    return {**labels, **entry.labels}


def _annotations(entry: PodEntry) -> Json:
    annotations: Json = {}
    if entry.user is not None or entry.groups:
        identity = {"user": entry.user or "", "groups": list(entry.groups)}
        annotations[DOMAIN + "user.info"] = json.dumps(identity)
    if entry.task_groups is not None:
        annotations[DOMAIN + "task-groups"] = json.dumps([dict(group) for group in entry.task_groups])
    if entry.task_group is not None:
        annotations[DOMAIN + "task-group-name"] = entry.task_group
    if entry.scheduling_policy is not None:
        annotations[DOMAIN + "schedulingPolicyParameters"] = entry.scheduling_policy
    return {**annotations, **entry.annotations}


def _spec(entry: PodEntry, classes: Mapping[str, Json]) -> Json:
    class_name = class_of(entry)
    found = classes.get(class_name, {}) if class_name else {}
    spec: Json = {
        "schedulerName": entry.scheduler_name,
        "containers": [{"name": "main", "image": "pause", "resources": {"requests": dict(entry.requests)}}],
        "priority": found.get("value", 0),
        "preemptionPolicy": entry.preemption_policy or found.get("preemptionPolicy", "PreemptLowerPriority"),
        "terminationGracePeriodSeconds": entry.grace // 1000,
        "restartPolicy": "Never",
    }
    if class_name:
        spec["priorityClassName"] = class_name
    if entry.node_selector:
        spec["nodeSelector"] = dict(entry.node_selector)
    if entry.tolerations:
        spec["tolerations"] = [dict(each) for each in entry.tolerations]
    if entry.required_node is not None:
        spec["affinity"] = _only_on(entry.required_node)
    return spec


def _only_on(node: str) -> Json:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def class_of(entry: PodEntry) -> str:
    """The PriorityClass of a pod. A bare ``priority`` has a class of its own."""
    if entry.priority_class is not None:
        return entry.priority_class
    return anonymous_class(entry.priority) if entry.priority else ""


def anonymous_class(priority: int) -> str:
    """The name of the class that stands for a bare priority."""
    return f"priority-{priority}" if priority >= 0 else f"priority-minus-{-priority}"


def priority_class_object(name: str, value: int, policy: str = "PreemptLowerPriority") -> Json:
    """A PriorityClass as JSON."""
    return {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy}


def priority_class_of_entry(entry: PriorityClassEntry) -> Json:
    """The PriorityClass of an entry as JSON."""
    made = priority_class_object(entry.name, entry.value, entry.preemption_policy)
    made["metadata"]["annotations"] = dict(entry.annotations)
    return made


def namespace_object(name: str, entry: NamespaceEntry | None = None) -> Json:
    """A namespace as JSON."""
    annotations = dict(entry.annotations) if entry is not None else {}
    return {"metadata": {"name": name, "annotations": annotations}}


def node_object(entry: NodeEntry, name: str, *, at: int) -> Json:
    """A node as its kubelet registers it, without uid and version."""
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": stamp(at),
            "labels": {"kubernetes.io/hostname": name, **entry.labels},
        },
        "spec": {
            "unschedulable": entry.unschedulable,
            "taints": [dict(taint) for taint in entry.taints],
        },
        "status": {"allocatable": dict(entry.allocatable)},
    }


def config_map_of(text: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """The ConfigMap that holds a queue document and the other keys."""
    group = settings.get(POLICY_GROUP, "queues")
    return {**settings, f"{group}.yaml": text}
