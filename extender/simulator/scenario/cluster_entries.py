"""The ``cluster`` part of a scenario file: nodes, classes, namespaces, budgets."""

import re
from collections.abc import Mapping
from typing import Any

from extender.queueconfig.problems import shown
from extender.simulator.scenario.fields import LONGEST_NAME, RESOURCE, Fields, is_label, is_name
from extender.simulator.scenario.model import (
    BudgetEntry,
    ClusterEntry,
    NamespaceEntry,
    NodeEntry,
    PriorityClassEntry,
)
from extender.simulator.scenario.objects import SYSTEM_CLASSES

POLICIES = ("PreemptLowerPriority", "Never")
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MOST_OBJECTS = 100_000
"""Pods, or nodes, that one scenario may name."""

_NODE_KEYS = ("name", "count", "labels", "taints", "unschedulable")
_NODE_AMOUNTS = {"cpu": "0", "memory": "0", "pods": "110"}
_BOUND = re.compile(r"[0-9]{1,6}|(100|[0-9]{1,2})%", re.ASCII)


class Room:
    """How many more objects a scenario may name, so that a short file cannot ask for millions."""

    def __init__(self) -> None:
        self._left = MOST_OBJECTS
        self._refused = False

    def take(self, fields: Fields, count: int) -> bool:
        """Whether there is room for the ``count`` objects of an entry; the first without any is a mistake."""
        if count <= self._left:
            self._left -= count
            return True
        if not self._refused:
            said = f"more than {MOST_OBJECTS} pods or nodes in one scenario"
            fields.mistakes.add(fields.line, fields.at, said)
        self._refused = True
        return False


class Once:
    """Names that may be given once. ``said``: the mistake, ``{}`` for the name."""

    def __init__(self, said: str) -> None:
        self._said = said
        self._seen: set[tuple[str, str]] = set()

    def see(self, fields: Fields, names: tuple[str, ...], namespace: str = "") -> None:
        """``fields``: the entry that gives the names; one without a name has its mistake already."""
        given = {(namespace, name) for name in names if name}
        taken = sorted(given & self._seen)
        if taken:
            fields.wrong("name", self._said.format(taken[0][1]))
        self._seen |= given


def read_cluster(top: Fields, room: Room) -> ClusterEntry:
    """``room``: for nodes."""
    fields = top.fields("cluster")
    if fields is None:
        return ClusterEntry()
    cluster = ClusterEntry(
        nodes=read_nodes(fields, "nodes", room),
        priority_classes=_priority_classes(fields),
        namespaces=_namespaces(fields),
        budgets=_budgets(fields),
    )
    fields.end()
    return cluster


def read_nodes(above: Fields, key: str, room: Room) -> tuple[NodeEntry, ...]:
    once = Once("node {} is there twice")
    entries = []
    for fields in above.each(key):
        entry = _node(fields, room)
        once.see(fields, entry.names)
        entries.append(entry)
    return tuple(entries)


def _node(fields: Fields, room: Room) -> NodeEntry:
    amounts = {name: fields.amount(name) or default for name, default in _NODE_AMOUNTS.items()}
    for name in fields.value:
        if name not in _NODE_KEYS and name not in amounts and RESOURCE.fullmatch(name):
            amounts[name] = fields.amount(name) or "0"
    entry = NodeEntry(
        line=fields.line,
        names=read_names(fields, room),
        allocatable=amounts,
        labels=fields.texts("labels"),
        taints=tuple(_taint(each) for each in fields.each("taints")),
        unschedulable=fields.switch("unschedulable"),
    )
    fields.end()
    return entry


def _taint(fields: Fields) -> Mapping[str, Any]:
    taint = {
        "key": fields.required_text("key"),
        "value": fields.text("value"),
        "effect": fields.choice("effect", TAINT_EFFECTS),
    }
    if "effect" not in fields:
        fields.mistakes.add(fields.line, fields.at, "effect is missing")
    fields.end()
    return {key: value for key, value in taint.items() if value is not None}


def read_names(fields: Fields, room: Room) -> tuple[str, ...]:
    """``name``, or ``name-0`` to ``name-(count-1)`` when ``count`` is given."""
    name, count = fields.name(), fields.optional_number("count", least=1, most=MOST_OBJECTS)
    if not room.take(fields, count or 1) or count is None:
        return (name,)
    if len(f"{name}-{count - 1}") > LONGEST_NAME >= len(name):
        fields.wrong("name", f"too long to be counted: with its number at most {LONGEST_NAME} characters")
    return tuple(f"{name}-{at}" for at in range(count)) if name else ("",)


def _priority_classes(above: Fields) -> tuple[PriorityClassEntry, ...]:
    once = Once("priority class {} is there twice")
    entries = []
    for fields in above.each("priorityClasses"):
        entry = _priority_class(fields)
        once.see(fields, (entry.name,))
        entries.append(entry)
    return tuple(entries)


def _priority_class(fields: Fields) -> PriorityClassEntry:
    name = fields.name()
    if name in SYSTEM_CLASSES:
        fields.wrong("name", f"{name} is built in")
    if "value" not in fields:
        fields.mistakes.add(fields.line, fields.at, "value is missing")
    entry = PriorityClassEntry(
        line=fields.line,
        name=name,
        value=fields.number("value", 0, least=-(2**31), most=1_000_000_000),
        preemption_policy=fields.choice("preemptionPolicy", POLICIES) or POLICIES[0],
        annotations=fields.texts("annotations"),
    )
    fields.end()
    return entry


def _namespaces(above: Fields) -> tuple[NamespaceEntry, ...]:
    once = Once("namespace {} is there twice")
    entries = []
    for fields in above.each("namespaces"):
        entry = _namespace(fields)
        once.see(fields, (entry.name,))
        entries.append(entry)
    return tuple(entries)


def _namespace(fields: Fields) -> NamespaceEntry:
    name = fields.name()
    if is_name(name) and not is_label(name):
        fields.wrong("name", "the name of a namespace has no dot and at most 63 characters")
    entry = NamespaceEntry(line=fields.line, name=name, annotations=fields.texts("annotations"))
    fields.end()
    return entry


def _budgets(above: Fields) -> tuple[BudgetEntry, ...]:
    once = Once("budget {} is there twice")
    entries = []
    for fields in above.each("podDisruptionBudgets"):
        entry = _budget(fields)
        once.see(fields, (entry.name,), entry.namespace)
        entries.append(entry)
    return tuple(entries)


def _budget(fields: Fields) -> BudgetEntry:
    entry = BudgetEntry(
        line=fields.line,
        name=fields.name(),
        namespace=read_namespace(fields),
        match_labels=fields.texts("matchLabels"),
        max_unavailable=_bound(fields, "maxUnavailable"),
        min_available=_bound(fields, "minAvailable"),
    )
    fields.end()
    if ("maxUnavailable" in fields) == ("minAvailable" in fields):
        fields.mistakes.add(fields.line, fields.at, "needs exactly one of maxUnavailable and minAvailable")
    return entry


def _bound(fields: Fields, key: str) -> str | None:
    found = fields.text(key)
    if found is not None and not _BOUND.fullmatch(found):
        fields.wrong(key, "must be a number or a percentage up to 100%")
        return None
    return found


def read_namespace(fields: Fields) -> str:
    """``namespace``, ``default`` when there is none."""
    found = fields.text("namespace", "default") or ""
    if not is_label(found):
        fields.wrong("namespace", f"{shown(found)} is not a name")
    return found
