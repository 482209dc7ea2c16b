"""Read access of the rules to configuration, pods and other objects: a part of `LedgerView`."""

from collections.abc import Iterator

from core.ids import NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.settings import LedgerSettings
from core.ledger.state.state import State
from core.queues.spec import NodeSortSpec
from core.queues.tree import QueueTree
from core.queues.users.limits import Limits
from core.workload.budget import Budgets
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PriorityClassFacts


class ClusterView:
    """Read access to configuration, pods and other objects."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def settings(self) -> LedgerSettings:
        """Settings in force."""
        return self._state.config.settings

    @property
    def generation(self) -> int:
        """Number of documents applied so far; 0 if not configured."""
        return self._state.config.generation

    @property
    def tree(self) -> QueueTree:
        """Tree of queues."""
        return self._state.config.tree

    @property
    def synced(self) -> bool:
        """True if pods, nodes and namespaces were listed completely and a document was applied."""
        pods, cluster = self._state.pods, self._state.cluster
        return bool(pods.listed and cluster.nodes_listed and cluster.namespaces_listed and self.generation)

    @property
    def node_set(self) -> int:
        """Number that changes whenever a node is added or removed."""
        return self._state.cluster.node_set

    @property
    def nodes(self) -> dict[NodeName, NodeFacts]:
        """Nodes by name. Read only."""
        return self._state.cluster.nodes

    @property
    def node_sort(self) -> NodeSortSpec:
        """Policy by which nodes are scored (NODE-1)."""
        return self._state.config.node_sort

    @property
    def limits(self) -> Limits:
        """Limits of users and groups."""
        return self._state.config.limits

    def pods(self) -> Iterator[PodRecord]:
        """Records of all pods, in the order of arrival."""
        return iter(self._state.pods.records.values())

    def pod(self, uid: PodUid) -> PodRecord | None:
        """Record of a pod, or None."""
        return self._state.pods.records.get(uid)

    def pod_named(self, namespace: str, name: str) -> PodRecord | None:
        """Pod of that name. If two have it, of which one is about to be known as deleted, the later one."""
        uids = self._state.pods.by_name.get((namespace, name))
        return self._state.pods.records.get(uids[-1]) if uids else None

    def was_deleted(self, uid: PodUid) -> bool:
        """True if the pod was deleted, or became terminal, in the last ten minutes."""
        return uid in self._state.pods.tombstones

    def namespace(self, name: str) -> NamespaceFacts | None:
        """Namespace of that name, or None if it is not known."""
        return self._state.cluster.namespaces.get(name)

    def priority_class(self, name: str) -> PriorityClassFacts | None:
        """Priority class of that name, or None if it is not known."""
        return self._state.cluster.priority_classes.get(name)

    @property
    def preempts(self) -> bool:
        """True if the partition preempts to reach guarantees (PRE-1)."""
        return self._state.config.preempts

    @property
    def quota_preempts(self) -> bool:
        """True if the partition preempts when a quota has shrunk (QCP-1)."""
        return self._state.config.quota_preempts

    @property
    def budgets(self) -> Budgets:
        """PodDisruptionBudgets, to be read with `core.workload.budget`."""
        return self._state.cluster.budgets

    @property
    def namespaces_listed(self) -> bool:
        """True if namespaces were listed completely."""
        return self._state.cluster.namespaces_listed
