"""A comparison of REST objects with expectations: subsets, amounts and absent members (format rule 11)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import QuantityError
from core.quantity import kubernetes_amount

AMOUNTS = frozenset(
    (
        *("pendingResource", "maxResource", "guaranteedResource", "allocatedResource", "preemptingResource"),
        *("headroom", "usedResource", "maxUsedResource", "resource", "minResource", "resourceUsage"),
        *("maxResources", "resources"),
    )
)
"""Members that hold amounts by resource name."""

_ASK = {
    *("allocationKey", "allocationTags", "requestTime", "resource", "priority", "applicationId", "nodeId"),
    *("placeholder", "taskGroupName", "originator"),
}
_TEMPLATE = {"maxApplications", "maxResource", "guaranteedResource", "properties"}
_USAGE = {"queuePath", "resourceUsage", "runningApplications", "maxResources", "maxApplications", "children"}

MEMBERS: Mapping[str, frozenset[str]] = {
    "queue": frozenset(
        {
            *("queuename", "status", "partition", "pendingResource", "maxResource", "guaranteedResource"),
            *("allocatedResource", "preemptingResource", "headroom", "isLeaf", "isManaged", "properties"),
            *("parent", "template", "children", "childNames", "absUsedCapacity", "maxRunningApps"),
            *("runningApps", "currentPriority", "allocatingAcceptedApps", "sortingPolicy", "prioritySorting"),
            *("preemptionEnabled", "isPreemptionFence", "preemptionDelay", "quotaPreemptionDelay"),
            *("isPriorityFence", "priorityOffset", "isQuotaPreemptionRunning", "quotaPreemptionStartTime"),
            *("unschedAskBackoff", "askBackoffDelay", "paddockClosed"),
        }
    ),
    "closure": frozenset({"queue", "by", "since", "reason", "until"}),
    "application": frozenset(
        {
            *(
                "applicationID",
                "partition",
                "queueName",
                "usedResource",
                "maxUsedResource",
                "pendingResource",
            ),
            *("submissionTime", "finishedTime", "requests", "allocations", "applicationState", "user"),
            *("groups", "rejectedMessage", "stateLog", "placeholderData", "hasReserved", "reservations"),
            "maxUsedResource",
            *("maxRequestPriority", "startTime", "resourceHistory", "backoffDeadline"),
        }
    ),
    "user": frozenset({"userName", "groups", "queues"}),
    "group": frozenset({"groupName", "applications", "queues"}),
    "template": frozenset(_TEMPLATE),
    "usage": frozenset(_USAGE),
    "request": frozenset(
        {
            *_ASK,
            *("allocationLog", "triggeredPreemption", "schedulingAttempted", "triggeredScaleUp"),
            "requiredNodeId",
        }
    ),
    "allocation": frozenset({*_ASK, *("allocationTime", "allocationDelay", "placeholderUsed", "preempted")}),
    "placeholder": frozenset({"taskGroupName", "count", "minResource", "replaced", "timedout"}),
    "state": frozenset({"time", "applicationState"}),
}
"""Every member that REST-6, REST-7 and REST-9 name, by kind of object."""

_BELOW: Mapping[tuple[str, str], str] = {
    ("queue", "template"): "template",
    ("queue", "paddockClosed"): "closure",
    ("queue", "children"): "queue",
    ("application", "requests"): "request",
    ("application", "allocations"): "allocation",
    ("application", "placeholderData"): "placeholder",
    ("application", "stateLog"): "state",
    ("user", "queues"): "usage",
    ("group", "queues"): "usage",
    ("usage", "children"): "usage",
}

Differing = tuple[str, str, str]
"""A difference: path, expected, actual."""


def differences_in(expected: Mapping[str, Any], actual: Mapping[str, Any], path: str) -> list[Differing]:
    """The places where an object differs from the subset expected of it; none if it is as expected."""
    found: list[Differing] = []
    for key, wanted in expected.items():
        found += _compared(wanted, actual.get(key), f"{path}.{key}", amounts=key in AMOUNTS)
    return found


def _compared(wanted: Any, there: Any, path: str, *, amounts: bool) -> list[Differing]:
    if isinstance(wanted, Mapping) and (there is None or isinstance(there, Mapping)):
        if amounts:
            return _amounts(wanted, there or {}, path)
        return differences_in(wanted, there or {}, path)
    if isinstance(wanted, list) and (there is None or _is_list(there)):
        return _lists(wanted, there or [], path, amounts=amounts)
    return [] if _equal(wanted, there) else [(path, _shown(wanted), _shown(there))]


def _amounts(wanted: Mapping[str, Any], there: Mapping[str, Any], path: str) -> list[Differing]:
    """Compare amounts. Numbers are REST units, text is a quantity."""
    found = []
    for name, amount in wanted.items():
        if _amount(name, amount) != there.get(name, 0):
            found.append((f"{path}.{name}", _shown(amount), _shown(there.get(name))))
    return found


def _amount(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value or 0
    negative = value.startswith("-")
    try:
        amount = kubernetes_amount("cpu" if name == "vcore" else name, value.removeprefix("-"))
    except QuantityError:
        return value
    return -amount if negative else amount


def _lists(wanted: list[Any], there: Sequence[Any], path: str, *, amounts: bool) -> list[Differing]:
    if len(wanted) != len(there):
        return [(path, _shown(wanted), _shown(there))]
    found: list[Differing] = []
    for at, (one, other) in enumerate(zip(wanted, there, strict=True)):
        found += _compared(one, other, f"{path}[{at}]", amounts=amounts)
    return found


def _equal(wanted: Any, there: Any) -> bool:
    """Compare two values. An absent member equals any empty value, and a number may stand for REST's text."""
    if _is_empty(wanted) and _is_empty(there):
        return True
    if isinstance(wanted, bool) or isinstance(there, bool):
        return wanted is there
    if isinstance(there, str) or isinstance(wanted, str):
        return str(wanted) == str(there)
    return bool(wanted == there)


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value in (0, "") or value in ({}, [], ())


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _shown(value: Any) -> str:
    if value is None:
        return "absent"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def unknown_members(kind: str, expected: Any) -> list[str]:
    """Paths of members that no such object can have. A typo would otherwise equal an absent member."""
    if not isinstance(expected, Mapping):
        return []
    found = []
    for key, value in expected.items():
        if key not in MEMBERS[kind]:
            found.append(str(key))
        below = _BELOW.get((kind, key))
        if below is not None:
            for each in value if _is_list(value) else (value,):
                found += [f"{key}.{path}" for path in unknown_members(below, each)]
    return found
