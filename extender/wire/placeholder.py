"""The pod that holds room for a member of a gang, as it is sent to the API server (GANG-3). Pure.

A group's template comes from whoever wrote the job, so nothing of it may pass for what Paddock itself says.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from core.ledger.effects import CreatePlaceholder
from core.workload.gang import Originator, PlaceholderTemplate
from core.workload.pod import OWN_GATE
from extender.service_keys import PLACEHOLDER_IMAGE, SERVICE_KEYS
from extender.wire.gang import PLACEHOLDER, POLICY, TASK_GROUP_NAME, TASK_GROUPS
from extender.wire.sizing import MARKER_PREFIX
from extender.wire.translate import APP_ID, QUEUE, USER_INFO

OWN_PREFIX: Final = MARKER_PREFIX
"""Of Paddock's annotations, as of its markers."""

_FORCED: Final = frozenset({APP_ID, QUEUE, USER_INFO, PLACEHOLDER, TASK_GROUP_NAME, TASK_GROUPS, POLICY})
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlaceholderSettings:
    """What the operator says of placeholders. An id of 0: whatever the image has."""

    image: str = SERVICE_KEYS[PLACEHOLDER_IMAGE].default
    run_as_user: int = 0
    run_as_group: int = 0
    fs_group: int = 0


def placeholder_pod(wanted: CreatePlaceholder, settings: PlaceholderSettings) -> Json:
    """The Pod object. It is fit for namespaces of the ``restricted`` Pod Security level."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": wanted.name,
            "namespace": wanted.namespace,
            "labels": _labels(wanted),
            "annotations": _annotations(wanted),
            "ownerReferences": [_owner(wanted.originator)],
        },
        "spec": _spec(wanted, settings),
    }


def _labels(wanted: CreatePlaceholder) -> Mapping[str, str]:
    own = {key: value for key, value in wanted.group.template.labels.items() if key not in _FORCED}
    belongs = {key: value for key, value in _belonging(wanted).items() if is_label_value(value)}
    return {**own, **belongs}


def _annotations(wanted: CreatePlaceholder) -> Mapping[str, str]:
    own = {key: value for key, value in wanted.group.template.annotations.items() if _is_free(key)}
    gang = {TASK_GROUPS: wanted.gang.written, POLICY: wanted.gang.policy_written}
    return {
        **own,
        **{key: value for key, value in _belonging(wanted).items() if not is_label_value(value)},
        PLACEHOLDER: "true",
        TASK_GROUP_NAME: wanted.group.name,
        **{key: value for key, value in gang.items() if value},
    }


def _belonging(wanted: CreatePlaceholder) -> Mapping[str, str]:
    """Application and queue. What an annotation said of them may be no value of a label (POD-3, POD-5)."""
    return {APP_ID: wanted.app.name, QUEUE: wanted.queue}


def is_label_value(value: str) -> bool:
    """Whether the API server takes it for the value of a label.

    Source: apimachinery, pkg/util/validation.
    """
    return _LABEL_VALUE.fullmatch(value) is not None


def _is_free(annotation: str) -> bool:
    """Whether a template may set it. ``user.info`` is not copied either: GANG-3 knows none."""
    return annotation not in _FORCED and not annotation.startswith(OWN_PREFIX)


def _owner(originator: Originator) -> Json:
    """It goes when the originator goes (GANG-14)."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": originator.name,
        "uid": originator.uid,
        "controller": False,
        "blockOwnerDeletion": True,
    }


def _spec(wanted: CreatePlaceholder, settings: PlaceholderSettings) -> Json:
    originator, template = wanted.originator, wanted.group.template
    optional = {
        "priorityClassName": originator.priority_class,
        "imagePullSecrets": [{"name": name} for name in originator.pull_secrets],
        "schedulingGates": [{"name": OWN_GATE}] if originator.gated else [],
        "nodeSelector": template.node_selector,
        "tolerations": template.tolerations,
        "affinity": template.affinity,
        "topologySpreadConstraints": template.topology_spread,
    }
    return {
        "schedulerName": originator.scheduler_name,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "hostNetwork": False,
        "securityContext": _pod_security(settings),
        "containers": [_container(template, originator, settings)],
        **{key: value for key, value in optional.items() if value},
    }


def _pod_security(settings: PlaceholderSettings) -> Json:
    ids = {
        "runAsUser": settings.run_as_user,
        "runAsGroup": settings.run_as_group,
        "fsGroup": settings.fs_group,
    }
    return {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
        **{key: value for key, value in ids.items() if value},
    }


def _container(template: PlaceholderTemplate, originator: Originator, settings: PlaceholderSettings) -> Json:
    """Markers as the shipped policy gives them: extended resources need equal requests and limits."""
    amounts = {**template.requests, **dict.fromkeys(originator.markers, "1")}
    return {
        "name": "pause",
        "image": settings.image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
