"""Annotations and labels of pods that define gangs and pod groups (POD-8 to POD-14, COS-1).

Input may be hostile. An invalid definition becomes a `Misdefined`, and its pod counts as any other pod.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from core.errors import QuantityError
from core.quantity import INT64_MAX, canonical, exact_kubernetes_amount
from core.resource import Resource
from core.workload.gangs.gang import (
    Gang,
    GangPolicy,
    GangStyle,
    GroupSource,
    Misdefined,
    PlaceholderTemplate,
    PodGroup,
    TaskGroup,
)
from extender.wire.annotations.pod_fields import AFFINITY, TOLERATIONS, TOPOLOGY_SPREAD
from extender.wire.annotations.shapes import (
    ShapeError,
    Written,
    fields,
    json_from,
    list_of,
    map_of,
    text,
    whole,
)
from extender.wire.objects.sizing import MARKER_PREFIX
from extender.wire.service_keys import int64_of, switch_of

DOMAIN: Final = "yunikorn.apache.org/"
TASK_GROUPS: Final = DOMAIN + "task-groups"
TASK_GROUP_NAME: Final = DOMAIN + "task-group-name"
POLICY: Final = DOMAIN + "schedulingPolicyParameters"
PLACEHOLDER: Final = "internal.yunikorn.apache.org/placeholder"
POD_GROUP_NAME: Final = "pod-group.scheduling.x-k8s.io/name"
PLUGIN_GROUP: Final = "scheduling.x-k8s.io/pod-group"
POD_GROUP_MIN: Final = "pod-group.scheduling.x-k8s.io/min-available"

LONGEST: Final = 256 * 1024
"""Characters of an annotation, at most. The API server accepts no longer ones."""

_MOST_MEMBERS: Final = 2**31 - 1
# All pods of a gang have the same text, so its result is cached. Only a few long texts are.
_CACHED: Final = 1024
_CACHED_LONG: Final = 16
_LONG: Final = 16 * 1024


def gang_from(annotations: dict[str, str]) -> Gang | Misdefined | None:
    """The gang that a pod defines, or None without a task group (POD-10 to POD-12)."""
    groups, policy = annotations.get(TASK_GROUPS, ""), annotations.get(POLICY, "")
    if not groups:
        return None
    if len(groups) > LONGEST or len(policy) > LONGEST:
        return Misdefined(f"task groups of more than {LONGEST} characters are not read")
    return (_read if len(groups) + len(policy) <= _LONG else _read_long)(groups, policy)


def carried_from(gang: Gang | Misdefined, annotations: Mapping[str, str]) -> Mapping[str, str]:
    """Annotations of a pod that its own task groups set on placeholders, with equal values (F-16)."""
    groups = gang.groups if isinstance(gang, Gang) else ()
    written = (each.template.annotations for each in groups if each.template.annotations)
    return {key: value for some in written for key, value in some.items() if annotations.get(key) == value}


def is_placeholder(annotations: dict[str, str]) -> bool:
    """True if a pod's annotations declare it a placeholder (POD-9)."""
    written = annotations.get(PLACEHOLDER)
    if written is None:
        return False
    try:
        return switch_of(written)
    except ValueError:
        return False


def pod_group_from(labels: dict[str, str], native: str = "") -> PodGroup | Misdefined | None:
    """The pod group that a pod belongs to, or None.

    ``native``: the PodGroup that the pod's spec names (COS-20). It takes precedence over the label of
    scheduler-plugins (COS-10), which takes precedence over the labels of a lightweight group (COS-1).
    """
    if native:
        return PodGroup(native, 0, GroupSource.NATIVE)
    if named := labels.get(PLUGIN_GROUP, ""):
        return PodGroup(named, 0, GroupSource.PLUGIN)
    name, least = labels.get(POD_GROUP_NAME, ""), labels.get(POD_GROUP_MIN, "")
    if not name:
        return None
    try:
        members = int64_of(least)
    except ValueError:
        members = 0
    if not 1 <= members <= _MOST_MEMBERS:
        return Misdefined(f"the label {POD_GROUP_MIN} must be a whole number of at least 1")
    return PodGroup(name, members)


def policy_from(written: str) -> GangPolicy:
    """Parse the scheduling policy of a gang (POD-14). Invalid tokens and unknown keys are ignored."""
    style, timeout = GangStyle.SOFT, 0
    for token in written.split(" "):
        key, *values = token.split("=")
        if len(values) != 1:
            continue
        if key == "placeholderTimeoutInSeconds":
            timeout = _seconds(values[0])
        elif key == "gangSchedulingStyle":
            style = GangStyle.HARD if values[0] == GangStyle.HARD else GangStyle.SOFT
    return GangPolicy(style, timeout)


def _seconds(written: str) -> int:
    try:
        return int64_of(written)
    except ValueError:
        return 0


def _gang(groups: str, policy: str) -> Gang | Misdefined | None:
    try:
        found = tuple(_task_group(each) for each in _GROUPS(json_from(groups)))
        total = _total(found)
    except ShapeError as error:
        return Misdefined(f"task groups: {error}")
    return Gang(found, total, policy_from(policy), groups, policy) if found else None


_read = lru_cache(maxsize=_CACHED)(_gang)
_read_long = lru_cache(maxsize=_CACHED_LONG)(_gang)


def _task_group(read: Mapping[str, Any]) -> TaskGroup:
    name, members = read.get("name", ""), read.get("minMember", 0)
    if not name:
        raise ShapeError("a task group must have a name")
    if members <= 0:
        raise ShapeError("minMember must be at least 1")
    if "minResource" not in read:
        raise ShapeError("minResource must be there")
    requests: dict[str, str] = read["minResource"]
    return TaskGroup(name, members, _size(requests, members), _template(read, requests))


def _template(read: Mapping[str, Any], requests: Mapping[str, str]) -> PlaceholderTemplate:
    return PlaceholderTemplate(
        {resource: amount for resource, amount in requests.items() if _counts(resource)},
        read.get("labels", {}),
        read.get("annotations", {}),
        read.get("nodeSelector", {}),
        read.get("tolerations", ()),
        read.get("affinity", {}),
        read.get("topologySpreadConstraints", ()),
    )


def _counts(resource: str) -> bool:
    """True for a resource that counts for a task group. Markers never do (DESIGN-6), nor an empty name."""
    return bool(resource) and not resource.startswith(MARKER_PREFIX)


def _size(requests: Mapping[str, str], members: int) -> Resource:
    """Size of one placeholder. Raises `ShapeError`, also for the resource ``pods`` (POD-11)."""
    # Each placeholder counts as one pod.
    amounts = {"pods": 1}
    for resource, written in requests.items():
        amount = _amount(resource, written)
        if not _counts(resource):
            continue
        name = canonical(resource)
        if name in amounts:
            raise ShapeError(f"minResource counts {name[:40]} twice")
        if amount * members > INT64_MAX:
            raise ShapeError(f"minResource times minMember is too large a number of {name[:40]}")
        amounts[name] = amount
    return Resource(amounts)


def _amount(resource: str, written: str) -> int:
    try:
        amount = exact_kubernetes_amount(resource, written)
    except QuantityError as error:
        raise ShapeError(f"minResource: {error.inside(resource[:40])}") from None
    if amount < 0:
        raise ShapeError(f"minResource: {resource[:40]} is negative")
    return amount


def _total(groups: Iterable[TaskGroup]) -> Resource:
    """Size of all placeholders of a gang (POD-13). Raises `ShapeError` beyond 64 bits (POD-11)."""
    totals: dict[str, int] = {}
    for group in groups:
        for name, amount in group.size.items():
            totals[name] = totals.get(name, 0) + amount * group.members
            if totals[name] > INT64_MAX:
                raise ShapeError(f"all task groups together are too large a number of {name[:40]}")
    return Resource(totals)


def _quantity(value: object) -> str:
    """Text of a quantity. As in Kubernetes' decoder, a number counts as its text, and null as zero."""
    match value:
        case None:
            return "0"
        case str():
            return value.strip()
        case Written(number):
            return number
        case bool():
            raise ShapeError("must be a quantity")
        case int():
            return str(value)
        case _:
            raise ShapeError("must be a quantity")


_GROUPS: Final = list_of(
    fields(
        {
            "name": text,
            "minMember": whole(32),
            "minResource": map_of(_quantity),
            "labels": map_of(text),
            "annotations": map_of(text),
            "nodeSelector": map_of(text),
            "tolerations": TOLERATIONS,
            "affinity": AFFINITY,
            "topologySpreadConstraints": TOPOLOGY_SPREAD,
        }
    )
)
