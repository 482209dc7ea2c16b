"""What a scenario file says of the cluster, as values, and how each is read. ``line``: a line of the file."""

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
    key: RequiredText
    value: MaybeText = None
    effect: Annotated[str, choice(*TAINT_EFFECTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEntry:
    """One line of ``nodes`` or ``addNodes``: ``names`` has ``count`` names, or one.

    ``allocatable``: Kubernetes resource name to quantity; omitted cpu and memory are "0", pods "110".
    """

    line: Line
    allocatable: Annotated[Mapping[str, str], PlainValidator(checks.node_amounts), OF_WHOLE]
    names: Annotated[tuple[str, ...], PlainValidator(checks.node_names), OF_WHOLE]
    labels: Texts = field(default_factory=dict)
    taints: tuple[Annotated[Given, as_given(TaintEntry)], ...] = ()
    unschedulable: Switch = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClassEntry:
    line: Line
    name: Annotated[str, PlainValidator(checks.class_name)]
    value: Annotated[int, number(-(2**31), 1_000_000_000)]
    preemption_policy: Annotated[str, choice(*POLICIES)] = POLICIES[0]
    annotations: Texts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceEntry:
    line: Line
    name: Annotated[str, PlainValidator(checks.namespace_name)]
    annotations: Texts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetEntry:
    """A PodDisruptionBudget. Exactly one of the two bounds is given: a number or a percentage as text."""

    line: Line
    name: ObjectName
    namespace: Namespace = "default"
    match_labels: Texts = field(default_factory=dict)
    max_unavailable: Annotated[str | None, PlainValidator(checks.bound)] = None
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
    nodes: Nodes = ()
    priority_classes: Annotated[
        tuple[Annotated[PriorityClassEntry, entry(PriorityClassEntry)], ...],
        entries(checks.once("priority class {} is there twice")),
    ] = ()
    namespaces: Annotated[
        tuple[Annotated[NamespaceEntry, entry(NamespaceEntry)], ...],
        entries(checks.once("namespace {} is there twice")),
    ] = ()
    pod_disruption_budgets: Annotated[
        tuple[Annotated[BudgetEntry, entry(BudgetEntry, last=checks.one_bound)], ...],
        entries(checks.once("budget {} is there twice", by_namespace=True)),
    ] = ()
