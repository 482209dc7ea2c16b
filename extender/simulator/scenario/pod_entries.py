"""The ``submit`` entries of a scenario file."""

from collections.abc import Mapping
from typing import Any

from extender.queueconfig.problems import shown
from extender.simulator.scenario.cluster_entries import (
    POLICIES,
    TAINT_EFFECTS,
    Room,
    read_names,
    read_namespace,
)
from extender.simulator.scenario.fields import Fields, is_name
from extender.simulator.scenario.model import PodEntry, PodGroup
from extender.simulator.scenario.objects import SYSTEM_CLASSES
from extender.wire.placeholder import is_label_value


def read_pod(fields: Fields, classes: frozenset[str], room: Room) -> PodEntry:
    """``classes``: the PriorityClasses of the cluster, besides the built-in ones; ``room``: for pods."""
    names = read_names(fields, room)
    entry = PodEntry(
        line=fields.line,
        name=fields.text("name") or "",
        names=names,
        namespace=read_namespace(fields),
        app=_label(fields, "app"),
        queue=fields.text("queue"),
        user=fields.text("user"),
        groups=fields.optional_names("groups") or (),
        requests=_requests(fields),
        priority=fields.optional_number("priority", least=-(2**31), most=2**31 - 1),
        priority_class=_priority_class(fields, classes),
        preemption_policy=fields.choice("preemptionPolicy", POLICIES),
        labels=fields.texts("labels"),
        annotations=fields.texts("annotations"),
        task_groups=fields.free_mappings("taskGroups") if "taskGroups" in fields else None,
        task_group=fields.text("taskGroup"),
        scheduling_policy=fields.text("schedulingPolicy"),
        pod_group=_pod_group(fields),
        node=_node(fields, "node"),
        age=fields.duration("age"),
        node_selector=fields.texts("nodeSelector"),
        tolerations=tuple(_toleration(each) for each in fields.each("tolerations")),
        daemon_set=fields.switch("daemonSet"),
        required_node=_node(fields, "requiredNode"),
        run_for=fields.duration("runFor") if "runFor" in fields else None,
        recreate=fields.switch("recreate"),
        grace=fields.duration("grace"),
        scheduler_name=fields.text("schedulerName") or "yunikorn",
        spec=_spec(fields),
    )
    _check_daemon_set(fields, entry)
    fields.end()
    return entry


def _label(fields: Fields, key: str) -> str | None:
    found = fields.text(key)
    if found is not None and not is_label_value(found):
        fields.wrong(key, "must be a label value: letters, digits, -, _ and . only, 63 at most")
    return found


def _requests(fields: Fields) -> Mapping[str, str]:
    requests = fields.amounts("resources")
    for key in ("cpu", "memory"):
        amount = fields.amount(key)
        if amount is not None:
            if key in requests:
                fields.wrong(key, "is given in resources too")
            requests[key] = amount
    return requests


def _priority_class(fields: Fields, classes: frozenset[str]) -> str | None:
    found = fields.text("priorityClass")
    if found is None:
        return None
    if "priority" in fields:
        fields.wrong("priorityClass", "comes together with priority; give one of them")
    if found not in classes and found not in SYSTEM_CLASSES:
        fields.wrong("priorityClass", f"there is no priority class {found} in cluster.priorityClasses")
    return found


def _pod_group(fields: Fields) -> PodGroup | None:
    below = fields.fields("podGroup")
    if below is None:
        return None
    if "minAvailable" not in below:
        below.mistakes.add(below.line, below.at, "minAvailable is missing")
    group = PodGroup(below.required_text("name"), below.number("minAvailable", 1, least=1, most=100_000))
    below.end()
    return group


def _node(fields: Fields, key: str) -> str | None:
    found = fields.text(key)
    if found is not None and not is_name(found):
        fields.wrong(key, f"{shown(found)} is not the name of a node")
    return found


def _toleration(fields: Fields) -> Mapping[str, Any]:
    toleration = {
        "key": fields.text("key"),
        "operator": fields.choice("operator", ("Exists", "Equal")),
        "value": fields.text("value"),
        "effect": fields.choice("effect", (*TAINT_EFFECTS, "")),
        "tolerationSeconds": fields.optional_number("tolerationSeconds", least=-(2**63), most=2**63 - 1),
    }
    fields.end()
    if not toleration["key"] and toleration["operator"] != "Exists":
        fields.mistakes.add(fields.line, fields.at, "a toleration needs a key, or operator: Exists")
    return {key: value for key, value in toleration.items() if value is not None}


def _spec(fields: Fields) -> Mapping[str, Any]:
    below = fields.fields("spec")
    if below is None:
        return {}
    found: Mapping[str, Any] = fields.free("spec")
    for key in ("containers", "nodeName", "schedulerName", "priority", "priorityClassName"):
        if key in found and key != "containers":
            below.wrong(key, "has a key of its own in a submit entry")
    return found


def _check_daemon_set(fields: Fields, entry: PodEntry) -> None:
    if entry.daemon_set and entry.required_node is None:
        fields.mistakes.add(fields.line, fields.at, "daemonSet needs requiredNode")
    if entry.required_node is not None and not entry.daemon_set:
        fields.wrong("requiredNode", "needs daemonSet: true")
