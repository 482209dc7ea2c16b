"""Placeholder pods of gangs, as they are sent to the API server (GANG-3). Pure.

The author of a job writes the template of a task group. Nothing in it may pass for a statement of Paddock.
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
"""Prefix of Paddock's annotations, which is also that of its markers."""

_FORCED: Final = frozenset({APP_ID, QUEUE, USER_INFO, PLACEHOLDER, TASK_GROUP_NAME, TASK_GROUPS, POLICY})
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TemplateParts:
    """Parts of a template that are copied to placeholders without a check (F-16).

    False: only entries that the originator has, too, are copied. Fields that merely restrict where a pod may
    run are always copied.
    """

    # Paddock's account creates placeholders, and policies that check the user let it pass. A template could
    # therefore contain what its author would be refused.
    tolerations: bool = True
    labels: bool = False
    annotations: bool = False


DEFAULT_PARTS: Final = TemplateParts()
"""Default of the setting. In YuniKorn's examples only task groups have tolerations, not the originator."""

ANY, ORIGINATOR = "any", "originator"


def template_parts_from(text: str) -> TemplateParts:
    """Parse ``any``, ``originator``, or a list such as ``tolerations=any,labels=originator``.

    A part that is not listed keeps its default. Raises ValueError.
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
    """Settings for placeholders. An id of 0 means the id that the image sets."""

    image: str = SERVICE_KEYS[PLACEHOLDER_IMAGE].default
    run_as_user: int = 0
    run_as_group: int = 0
    fs_group: int = 0
    copied: TemplateParts = DEFAULT_PARTS


def placeholder_pod(wanted: CreatePlaceholder, settings: PlaceholderSettings) -> Json:
    """The Pod object of a placeholder. It meets the ``restricted`` Pod Security Standard."""
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
    """Entries of a template that a placeholder gets.

    ``carried``: entries of the originator, to which the copy is restricted. None for no restriction.
    """
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
    """Application and queue of a placeholder (POD-3, POD-5).

    A value that came from an annotation may not be a valid label value.
    """
    return {APP_ID: wanted.app.name, QUEUE: wanted.queue}


def is_label_value(value: str) -> bool:
    """True if the API server accepts a text as a label value (apimachinery, pkg/util/validation)."""
    return _LABEL_VALUE.fullmatch(value) is not None


def _is_free(annotation: str) -> bool:
    """True if a template may set an annotation."""
    # `user.info` is among the forced ones and never copied: placeholders have none (GANG-3).
    return annotation not in _FORCED and not annotation.startswith(OWN_PREFIX)


def _owner(originator: Originator) -> Json:
    """Owner reference by which a placeholder is deleted together with the originator (GANG-14)."""
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
        "automountServiceAccountToken": False,
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
    """The only container of a placeholder, with the task group's requests and the originator's markers."""
    # Markers are extended resources, whose requests and limits must be equal.
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
