"""The ``cluster`` part of a scenario file: nodes, classes, namespaces, budgets."""

import re
from collections.abc import Iterable

from extender.queueconfig.problems import shown
from extender.simulator.fields import Fields, is_name
from extender.simulator.objects import SYSTEM_CLASSES
from extender.simulator.scenario import (
    BudgetEntry,
    ClusterEntry,
    NamespaceEntry,
    NodeEntry,
    PriorityClassEntry,
)

POLICIES = ("PreemptLowerPriority", "Never")
MOST_COUNTED = 100_000

_NODE_KEYS = ("name", "count", "labels", "taints", "unschedulable")
_NODE_AMOUNTS = {"cpu": "0", "memory": "0", "pods": "110"}
_OTHER_RESOURCE = re.compile(r"ephemeral-storage|hugepages-[0-9]+[KMGT]i|[^/]+/.+", re.ASCII)
_BOUND = re.compile(r"[0-9]{1,6}%?", re.ASCII)


def read_cluster(top: Fields) -> ClusterEntry:
    fields = top.fields("cluster")
    if fields is None:
        return ClusterEntry()
    cluster = ClusterEntry(
        nodes=read_nodes(fields, "nodes"),
        priority_classes=tuple(_priority_class(each) for each in fields.each("priorityClasses")),
        namespaces=tuple(_namespace(each) for each in fields.each("namespaces")),
        budgets=tuple(_budget(each) for each in fields.each("podDisruptionBudgets")),
    )
    fields.end()
    _once(fields, "nodes", "node", (name for entry in cluster.nodes for name in entry.names))
    _once(fields, "priorityClasses", "priority class", (each.name for each in cluster.priority_classes))
    _once(fields, "namespaces", "namespace", (each.name for each in cluster.namespaces))
    budgets = (f"{each.namespace}/{each.name}" for each in cluster.budgets)
    _once(fields, "podDisruptionBudgets", "budget", budgets)
    return cluster


def _once(fields: Fields, key: str, what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen and name:
            fields.wrong(key, f"{what} {name} is there twice")
            return
        seen.add(name)


def read_nodes(above: Fields, key: str) -> tuple[NodeEntry, ...]:
    return tuple(_node(fields) for fields in above.each(key))


def _node(fields: Fields) -> NodeEntry:
    amounts = {name: fields.amount(name) or default for name, default in _NODE_AMOUNTS.items()}
    for name in fields.value:
        if name not in _NODE_KEYS and name not in amounts and _OTHER_RESOURCE.fullmatch(name):
            amounts[name] = fields.amount(name) or "0"
    entry = NodeEntry(
        line=fields.line,
        names=counted(fields.name(), read_count(fields)),
        allocatable=amounts,
        labels=fields.texts("labels"),
        taints=fields.free_mappings("taints"),
        unschedulable=fields.switch("unschedulable"),
    )
    for at, taint in enumerate(entry.taints):
        if not taint.get("key") or taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            fields.wrong("taints", f"taint {at} needs a key, and an effect that Kubernetes knows")
    fields.end()
    return entry


def read_count(fields: Fields) -> int | None:
    """``count``, None when there is none."""
    return fields.optional_number("count", least=1, most=MOST_COUNTED)


def counted(name: str, count: int | None) -> tuple[str, ...]:
    """``name``, or ``name-0`` to ``name-(count-1)``."""
    return (name,) if count is None else tuple(f"{name}-{at}" for at in range(count))


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


def _namespace(fields: Fields) -> NamespaceEntry:
    entry = NamespaceEntry(line=fields.line, name=fields.name(), annotations=fields.texts("annotations"))
    fields.end()
    return entry


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
        fields.wrong(key, "must be a number or a percentage")
        return None
    return found


def read_namespace(fields: Fields) -> str:
    """``namespace``, ``default`` when there is none."""
    found = fields.text("namespace", "default") or "default"
    if not is_name(found):
        fields.wrong("namespace", f"{shown(found)} is not a name")
    return found
