"""The pod that holds room for a member of a gang, as it is sent to the API server (GANG-3). Pure.

A group's template comes from whoever wrote the job, so nothing of it may pass for what Paddock itself says.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from core.ledger.effects import CreatePlaceholder
from core.workload.gangs.gang import Originator, PlaceholderTemplate
from core.workload.nodes.affinity import Toleration
from core.workload.pod import OWN_GATE
from extender.wire.annotations.gang import PLACEHOLDER, POLICY, TASK_GROUP_NAME, TASK_GROUPS
from extender.wire.objects.sizing import MARKER_PREFIX
from extender.wire.service_keys import PLACEHOLDER_IMAGE, SERVICE_KEYS
from extender.wire.translate import APP_ID, QUEUE, USER_INFO

OWN_PREFIX: Final = MARKER_PREFIX
"""Of Paddock's annotations, as of its markers."""

_FORCED: Final = frozenset({APP_ID, QUEUE, USER_INFO, PLACEHOLDER, TASK_GROUP_NAME, TASK_GROUPS, POLICY})
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TemplateParts:
    """Parts of a template that are copied as they stand; else only what the originator carries (F-16).

    A placeholder is made by Paddock's account, which policies that look at the user let pass: a template may
    carry what whoever wrote it is refused. What only narrows where a pod may run is always copied.
    """

    tolerations: bool = True
    labels: bool = False
    annotations: bool = False


DEFAULT_PARTS: Final = TemplateParts()
"""YuniKorn's examples have tolerations in a group alone."""

ANY, ORIGINATOR = "any", "originator"


def template_parts_from(text: str) -> TemplateParts:
    """``any``, ``originator``, or some of ``tolerations=any,labels=originator,annotations=any``.

    A part that is not named keeps its default. Raises ValueError.
    """
    if text in (ANY, ORIGINATOR):
        return TemplateParts(*[text == ANY] * len(_PARTS))
    chosen: dict[str, bool] = {}
    for written in text.split(","):
        part, _, source = (each.strip() for each in written.partition("="))
        if part not in _PARTS or part in chosen or source not in (ANY, ORIGINATOR):
            parts = ", ".join(_PARTS)
            raise ValueError(
                f"must be any, originator, or some of {parts}, each with one of them: labels=any"
            )
        chosen[part] = source == ANY
    return TemplateParts(**chosen)


_PARTS: Final = tuple(field.name for field in fields(TemplateParts))


@dataclass(frozen=True, slots=True)
class PlaceholderSettings:
    """What the operator says of placeholders. An id of 0: whatever the image has."""

    image: str = SERVICE_KEYS[PLACEHOLDER_IMAGE].default
    run_as_user: int = 0
    run_as_group: int = 0
    fs_group: int = 0
    copied: TemplateParts = DEFAULT_PARTS


def placeholder_pod(wanted: CreatePlaceholder, settings: PlaceholderSettings) -> Json:
    """The Pod object. It is fit for namespaces of the ``restricted`` Pod Security level."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": wanted.name,
            "namespace": wanted.namespace,
            "labels": _labels(wanted, settings.copied),
            "annotations": _annotations(wanted, settings.copied),
            "ownerReferences": [_owner(wanted.originator)],
        },
        "spec": _spec(wanted, settings),
    }


def _labels(wanted: CreatePlaceholder, copied: TemplateParts) -> Mapping[str, str]:
    carried = None if copied.labels else wanted.originator.labels
    own = _copied(wanted.group.template.labels, carried, lambda key: key not in _FORCED)
    belongs = {key: value for key, value in _belonging(wanted).items() if is_label_value(value)}
    return {**own, **belongs}


def _annotations(wanted: CreatePlaceholder, copied: TemplateParts) -> Mapping[str, str]:
    carried = None if copied.annotations else wanted.originator.annotations
    own = _copied(wanted.group.template.annotations, carried, _is_free)
    gang = {TASK_GROUPS: wanted.gang.written, POLICY: wanted.gang.policy_written}
    return {
        **own,
        **{key: value for key, value in _belonging(wanted).items() if not is_label_value(value)},
        PLACEHOLDER: "true",
        TASK_GROUP_NAME: wanted.group.name,
        **{key: value for key, value in gang.items() if value},
    }


def _copied(
    template: Mapping[str, str], carried: Mapping[str, str] | None, is_free: Callable[[str], bool]
) -> Mapping[str, str]:
    """What a template may set. ``carried``: only what is among this, None for anything."""
    return {
        key: value
        for key, value in template.items()
        if is_free(key) and (carried is None or carried.get(key) == value)
    }


def _tolerations(wanted: CreatePlaceholder, copied: TemplateParts) -> Sequence[Mapping[str, Any]]:
    template, carried = wanted.group.template.tolerations, wanted.originator.tolerations
    return [each for each in template if copied.tolerations or _toleration_of(each) in carried]


def _toleration_of(written: Mapping[str, Any]) -> Toleration:
    key, value, effect = (str(written.get(name) or "") for name in ("key", "value", "effect"))
    return Toleration(key, str(written.get("operator") or "Equal"), value, effect)


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
        "tolerations": _tolerations(wanted, settings.copied),
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
