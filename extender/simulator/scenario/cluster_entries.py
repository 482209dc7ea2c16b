"""Entries of a scenario file about the cluster, as values, and how each is read.

``line``: a line of the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import PlainValidator

from extender.simulator.scenario import checks
from extender.simulator.scenario.fields import (
    OF_WHOLE,
    Given,
    Line,
    MaybeText,
    Namespace,
    ObjectName,
    RequiredText,
    Switch,
    Texts,
    as_given,
    choice,
    entries,
    entry,
    number,
)

POLICIES = ("PreemptLowerPriority", "Never")


TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintEntry:
    """Taint of a node."""

    #: Key of the taint.
    key: RequiredText
    #: Value; None when the file names none.
    value: MaybeText = None
    #: Effect on pods that do not tolerate it.
    effect: Annotated[str, choice(*TAINT_EFFECTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEntry:
    """A line of ``nodes`` or ``addNodes``."""

    #: Line of the entry in the file.
    line: Line
    #: Quantity by Kubernetes resource name; cpu and memory are "0" and pods "110" when omitted.
    allocatable: Annotated[Mapping[str, str], PlainValidator(checks.node_amounts), OF_WHOLE]
    #: Names of its nodes: ``count`` of them, or one.
    names: Annotated[tuple[str, ...], PlainValidator(checks.node_names), OF_WHOLE]
    #: Labels of each node.
    labels: Texts = field(default_factory=dict)
    #: Taints of each node.
    taints: tuple[Annotated[Given, as_given(TaintEntry)], ...] = ()
    #: True if the nodes are cordoned.
    unschedulable: Switch = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClassEntry:
    """A line of ``priorityClasses``."""

    #: Line of the entry in the file.
    line: Line
    #: Name of the class.
    name: Annotated[str, PlainValidator(checks.class_name)]
    #: Priority of its pods.
    value: Annotated[int, number(-(2**31), 1_000_000_000)]
    #: Policy of its pods: ``PreemptLowerPriority`` or ``Never``.
    preemption_policy: Annotated[str, choice(*POLICIES)] = POLICIES[0]
    #: Annotations of the class.
    annotations: Texts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceEntry:
    """A line of ``namespaces``."""

    #: Line of the entry in the file.
    line: Line
    #: Name of the namespace.
    name: Annotated[str, PlainValidator(checks.namespace_name)]
    #: Annotations of the namespace.
    annotations: Texts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetEntry:
    """A PodDisruptionBudget. Exactly one of the two bounds is given."""

    #: Line of the entry in the file.
    line: Line
    #: Name of the budget.
    name: ObjectName
    #: Namespace of the budget and of its pods.
    namespace: Namespace = "default"
    #: Labels of the pods that it protects.
    match_labels: Texts = field(default_factory=dict)
    #: Most pods that may be unavailable, a number or a percentage; None when the other bound is given.
    max_unavailable: Annotated[str | None, PlainValidator(checks.bound)] = None
    #: Fewest pods that must stay available, a number or a percentage; None when the other bound is given.
    min_available: Annotated[str | None, PlainValidator(checks.bound)] = None


Nodes = Annotated[
    tuple[
        Annotated[NodeEntry, entry(NodeEntry, *checks.NODE_KEYS, also=checks.is_extra)],
        ...,
    ],
    entries(checks.once("node {} is there twice")),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEntry:
    """Cluster at the start of a scenario."""

    #: Nodes.
    nodes: Nodes = ()
    #: PriorityClasses.
    priority_classes: Annotated[
        tuple[Annotated[PriorityClassEntry, entry(PriorityClassEntry)], ...],
        entries(checks.once("priority class {} is there twice")),
    ] = ()
    #: Namespaces beside ``default``.
    namespaces: Annotated[
        tuple[Annotated[NamespaceEntry, entry(NamespaceEntry)], ...],
        entries(checks.once("namespace {} is there twice")),
    ] = ()
    #: PodDisruptionBudgets.
    pod_disruption_budgets: Annotated[
        tuple[Annotated[BudgetEntry, entry(BudgetEntry, last=checks.one_bound)], ...],
        entries(checks.once("budget {} is there twice", by_namespace=True)),
    ] = ()
