"""State of the cluster apart from its pods."""

from dataclasses import dataclass, field

from core.ids import NodeName, PodUid
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PriorityClassFacts


@dataclass(slots=True)
class Cluster:
    """Nodes, namespaces, priority classes, disruption budgets and DaemonSets as last shown."""

    #: Nodes by name.
    nodes: dict[NodeName, NodeFacts] = field(default_factory=dict)
    #: True once a complete list of nodes was shown.
    nodes_listed: bool = False
    #: Number that changes whenever a node is added or removed.
    node_set: int = 0
    #: Namespaces by name.
    namespaces: dict[str, NamespaceFacts] = field(default_factory=dict)
    #: True once a complete list of namespaces was shown.
    namespaces_listed: bool = False
    #: Priority classes by name.
    priority_classes: dict[str, PriorityClassFacts] = field(default_factory=dict)
    #: PodDisruptionBudgets by namespace and name.
    budgets: dict[str, dict[str, BudgetFacts]] = field(default_factory=dict)
    #: DaemonSets by namespace and name.
    daemon_sets: dict[DaemonSetKey, DaemonSetFacts] = field(default_factory=dict)
    #: True once a complete list of DaemonSets was shown.
    daemon_sets_listed: bool = False
    #: Pods that name a DaemonSet, by that DaemonSet. Derived.
    daemon_pods: dict[DaemonSetKey, set[PodUid]] = field(default_factory=dict)
