"""Paths and bodies of the requests that carry out effects.

Pure, except for the current time in a condition or an Event. A body that changes a pod names the pod's uid,
so that the API server refuses it for another pod of the same name.
"""

from datetime import UTC, datetime

import msgspec

from core.ledger.effects import (
    DeletePod,
    EvictPod,
    MarkFailed,
    NominateNode,
    OpenGate,
    PostEvent,
    SetCondition,
    WakePod,
    WriteRecord,
)
from core.workload.pod import GATE_OPENED, OWN_GATE
from extender.kube.connection.api import segment
from extender.verbs.bind import PostBinding

WAKE_ANNOTATION = "paddock.dev/wake"


def pod_path(namespace: str, name: str) -> str:
    """Path of one pod. Raises `BadName` for a name that no object can have."""
    return f"{pods_path(namespace)}/{segment(name)}"


def status_path(namespace: str, name: str) -> str:
    """Path of the status of one pod. Raises `BadName`."""
    return f"{pod_path(namespace, name)}/status"


def pods_path(namespace: str) -> str:
    """Path of the pods of a namespace. Raises `BadName`."""
    return f"/api/v1/namespaces/{segment(namespace)}/pods"


def events_path(namespace: str) -> str:
    """Path of the Events of a namespace. Raises `BadName`."""
    return f"/api/v1/namespaces/{segment(namespace)}/events"


def binding_path(binding: PostBinding) -> str:
    """Path to which a Binding is posted. Raises `BadName`."""
    return pod_path(binding.namespace, binding.name) + "/binding"


def binding_body(binding: PostBinding) -> bytes:
    """The Binding of a pod to a node."""
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": binding.name, "namespace": binding.namespace, "uid": binding.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": binding.node},
        }
    )


def eviction_path(eviction: EvictPod) -> str:
    """Path to which an Eviction is posted. Raises `BadName`."""
    return pod_path(eviction.namespace, eviction.name) + "/eviction"


def eviction_body(eviction: EvictPod) -> bytes:
    """The Eviction of a pod. Its grace period is that of the pod."""
    return msgspec.json.encode(
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": eviction.name, "namespace": eviction.namespace},
            "deleteOptions": {"preconditions": {"uid": eviction.uid}},
        }
    )


def deletion_body(deletion: DeletePod) -> bytes:
    """Options for the deletion of a pod, with its own grace period or with none."""
    grace = {"gracePeriodSeconds": 0} if deletion.at_once else {}
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": deletion.uid}, **grace}
    )


def wake_body(wake: WakePod) -> bytes:
    """Merge patch that changes an annotation, so that kube-scheduler tries the pod again."""
    return msgspec.json.encode({"metadata": {"uid": wake.uid, "annotations": {WAKE_ANNOTATION: wake.token}}})


def open_body(opening: OpenGate) -> bytes:
    """Strategic merge patch that removes Paddock's gate and records that Paddock removed it (F-7)."""
    # The API server merges gates by name, so that the gates of others stay as they are.
    # Annotation and gate change in one request: a pod whose gate someone else removed lacks the annotation.
    return msgspec.json.encode(
        {
            "metadata": {"uid": opening.uid, "annotations": {GATE_OPENED: "true"}},
            "spec": {"schedulingGates": [{"$patch": "delete", "name": OWN_GATE}]},
        }
    )


def record_body(record: WriteRecord) -> bytes:
    """Merge patch that writes annotations on a pod."""
    return msgspec.json.encode({"metadata": {"uid": record.uid, "annotations": dict(record.entries)}})


def nomination_body(nomination: NominateNode) -> bytes:
    """Merge patch of the status that nominates a node, or removes the nomination."""
    status = {"nominatedNodeName": nomination.node or None}
    return msgspec.json.encode({"metadata": {"uid": nomination.uid}, "status": status})


def failed_body(marking: MarkFailed) -> bytes:
    """Merge patch of the status that ends a pod as Failed."""
    status = {"phase": "Failed", "reason": marking.reason, "message": marking.message[:1000]}
    return msgspec.json.encode({"metadata": {"uid": marking.uid}, "status": status})


def condition_body(wanted: SetCondition) -> bytes:
    """Strategic merge patch that sets one condition. Conditions of other types stay as they are."""
    condition = {
        "type": wanted.kind,
        "status": "True" if wanted.status else "False",
        "reason": wanted.reason,
        "message": wanted.message[:1000],
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return msgspec.json.encode({"metadata": {"uid": wanted.uid}, "status": {"conditions": [condition]}})


def event_body(event: PostEvent) -> bytes:
    """A Kubernetes Event with the current time. The API server completes its name."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{event.name}.", "namespace": event.namespace},
            "involvedObject": {
                "kind": event.kind,
                "apiVersion": "v1",
                "namespace": event.namespace,
                "name": event.name,
                **({"uid": event.uid} if event.uid else {}),
            },
            "reason": event.reason,
            **({"action": event.action} if event.action else {}),
            "message": event.message[:1000],
            "type": "Warning" if event.warning else "Normal",
            "source": {"component": "paddock"},
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
        }
    )
