"""Effects as paths and bodies for the API server. Pure, but for the time in a condition or Event.

Every body names the pod's uid, so that nothing happens to another pod of the same name.
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
    return f"{pods_path(namespace)}/{segment(name)}"


def pods_path(namespace: str) -> str:
    return f"/api/v1/namespaces/{segment(namespace)}/pods"


def events_path(namespace: str) -> str:
    return f"/api/v1/namespaces/{segment(namespace)}/events"


def binding_path(binding: PostBinding) -> str:
    return pod_path(binding.namespace, binding.name) + "/binding"


def binding_body(binding: PostBinding) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": binding.name, "namespace": binding.namespace, "uid": binding.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": binding.node},
        }
    )


def eviction_path(eviction: EvictPod) -> str:
    return pod_path(eviction.namespace, eviction.name) + "/eviction"


def eviction_body(eviction: EvictPod) -> bytes:
    return msgspec.json.encode(
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": eviction.name, "namespace": eviction.namespace},
            "deleteOptions": {"preconditions": {"uid": eviction.uid}},
        }
    )


def deletion_body(deletion: DeletePod) -> bytes:
    grace = {"gracePeriodSeconds": 0} if deletion.at_once else {}
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": deletion.uid}, **grace}
    )


def wake_body(wake: WakePod) -> bytes:
    """The uid makes the patch fail for another pod of the same name."""
    return msgspec.json.encode({"metadata": {"uid": wake.uid, "annotations": {WAKE_ANNOTATION: wake.token}}})


def open_body(opening: OpenGate) -> bytes:
    """Merged by name on the server, so that the gates of others stay as they are by then.

    The annotation goes in the same request: a pod whose gate another removed is without it (F-7).
    """
    return msgspec.json.encode(
        {
            "metadata": {"uid": opening.uid, "annotations": {GATE_OPENED: "true"}},
            "spec": {"schedulingGates": [{"$patch": "delete", "name": OWN_GATE}]},
        }
    )


def record_body(record: WriteRecord) -> bytes:
    return msgspec.json.encode({"metadata": {"uid": record.uid, "annotations": dict(record.entries)}})


def nomination_body(nomination: NominateNode) -> bytes:
    status = {"nominatedNodeName": nomination.node or None}
    return msgspec.json.encode({"metadata": {"uid": nomination.uid}, "status": status})


def failed_body(marking: MarkFailed) -> bytes:
    status = {"phase": "Failed", "reason": marking.reason, "message": marking.message[:1000]}
    return msgspec.json.encode({"metadata": {"uid": marking.uid}, "status": status})


def condition_body(wanted: SetCondition) -> bytes:
    """Merged by type on the server, so that the conditions of others stay as they are."""
    condition = {
        "type": wanted.kind,
        "status": "True" if wanted.status else "False",
        "reason": wanted.reason,
        "message": wanted.message[:1000],
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return msgspec.json.encode({"metadata": {"uid": wanted.uid}, "status": {"conditions": [condition]}})


def event_body(event: PostEvent) -> bytes:
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
