"""Events about objects other than pods. A part of `events`, by which they are known."""

from dataclasses import dataclass

from core.ids import NodeName
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey
from core.workload.gangs.gang import GroupSource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PriorityClassFacts
from core.workload.pod_group import GroupKey, Terms


@dataclass(frozen=True, slots=True)
class NodeObserved:
    node: NodeFacts


@dataclass(frozen=True, slots=True)
class NodeDeleted:
    name: NodeName


@dataclass(frozen=True, slots=True)
class NodesListed:
    names: frozenset[NodeName]


@dataclass(frozen=True, slots=True)
class NamespaceObserved:
    namespace: NamespaceFacts


@dataclass(frozen=True, slots=True)
class NamespaceDeleted:
    name: str


@dataclass(frozen=True, slots=True)
class NamespacesListed:
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class PriorityClassObserved:
    priority_class: PriorityClassFacts


@dataclass(frozen=True, slots=True)
class PriorityClassDeleted:
    name: str


@dataclass(frozen=True, slots=True)
class PriorityClassesListed:
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class BudgetObserved:
    """The watch or a list showed a PodDisruptionBudget."""

    budget: BudgetFacts


@dataclass(frozen=True, slots=True)
class BudgetDeleted:
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class BudgetsListed:
    """``names``: namespace and name of every one there is."""

    names: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class DaemonSetNews:
    """Something about DaemonSets; see those below."""


@dataclass(frozen=True, slots=True)
class DaemonSetObserved(DaemonSetNews):
    """The watch or a list showed a DaemonSet."""

    daemon_set: DaemonSetFacts


@dataclass(frozen=True, slots=True)
class DaemonSetDeleted(DaemonSetNews):
    key: DaemonSetKey


@dataclass(frozen=True, slots=True)
class DaemonSetsListed(DaemonSetNews):
    """``keys``: every one there is."""

    keys: frozenset[DaemonSetKey]


@dataclass(frozen=True, slots=True)
class PodGroupNews:
    """Something about PodGroup objects of one kind; see those below."""

    source: GroupSource


@dataclass(frozen=True, slots=True)
class PodGroupObserved(PodGroupNews):
    """The watch or a list showed a PodGroup object."""

    key: GroupKey
    terms: Terms


@dataclass(frozen=True, slots=True)
class PodGroupDeleted(PodGroupNews):
    key: GroupKey


@dataclass(frozen=True, slots=True)
class PodGroupsListed(PodGroupNews):
    """The cluster has that kind of object, and these are all."""

    keys: frozenset[GroupKey]


@dataclass(frozen=True, slots=True)
class PodGroupsUnserved(PodGroupNews):
    """The cluster does not have that kind of object any more: pods that name one are in no group."""
