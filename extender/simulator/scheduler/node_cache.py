"""Nodes and their pods as the played kube-scheduler knows them, including its own assumptions.

Sources: pkg/scheduler/backend/cache/cache.go, pkg/scheduler/framework/types.go (NodeInfo). Units: millicores
for ``vcore``, base units otherwise.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.ids import NodeName, PodUid
from core.resource import Resource
from core.workload.nodes.affinity import Constraints
from core.workload.nodes.node import NodeFacts
from core.workload.pod import PodFacts
from extender.simulator.cluster.api_server import conditions_of
from extender.simulator.cluster.played_objects import Node, Pod
from extender.simulator.scenario.objects import Json

NONZERO = {"vcore": 100, "memory": 200 * 1024 * 1024}
"""Requests that LeastAllocated assumes where a container names none (pkg/scheduler/util/pod_resources.go)."""

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - what Kubernetes calls a port on every address of its node

Port = tuple[str, str, int]
"""A host port: address, protocol, number."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties that decide where a pod fits. Pods of equal shapes fit alike."""

    #: Amounts requested by resource, sorted, without ``pods``.
    requests: tuple[tuple[str, int], ...]
    #: Requests of vcore and memory, with the scheduler's default for containers that name none.
    nonzero: tuple[int, int]
    #: Constraints on nodes.
    constraints: Constraints
    #: Host ports of the containers.
    ports: tuple[Port, ...]


@dataclass(slots=True, eq=False)
class PodInfo:
    """A pod as the scheduler holds it. A change of the pod makes a new one."""

    #: Pod of the played API.
    pod: Pod
    #: Pod as core reads it.
    facts: PodFacts
    #: Shape that decides where it fits.
    shape: Shape
    #: Labels of the pod.
    labels: Mapping[str, str]
    #: True if its preemptionPolicy is ``Never``.
    never_preempts: bool
    #: True if it has a deletionTimestamp.
    deleting: bool
    #: True if it is deleted because the scheduler preempted it.
    preempted: bool
    #: Time of its start as the API writes it; empty before it has one.
    started: str

    @property
    def uid(self) -> PodUid:
        """Uid of the pod."""
        return self.facts.uid

    @property
    def priority(self) -> int:
        """Priority of the pod."""
        return self.facts.priority

    def importance(self, now: str) -> tuple[int, str, int]:
        """Return the sort key, the most important first (pkg/scheduler/util/utils.go, MoreImportantPod)."""
        return (-self.priority, self.started or now, self.pod.seq)


_shapes: dict[Shape, Shape] = {}


def pod_info(pod: Pod, facts: PodFacts) -> PodInfo:
    """A pod as the scheduler holds it."""
    spec, status = pod.body["spec"], pod.body["status"]
    disruption = conditions_of(pod.body, "DisruptionTarget")
    return PodInfo(
        pod,
        facts,
        shape_of(spec, facts),
        pod.body["metadata"].get("labels") or {},
        spec.get("preemptionPolicy") == "Never",
        facts.deleting,
        facts.deleting and disruption.get("reason") == "PreemptionByScheduler",
        status.get("startTime", ""),
    )


def shape_of(spec: Json, facts: PodFacts) -> Shape:
    """The shape of a pod. Equal shapes are one object."""
    requests = {name: amount for name, amount in facts.size.items() if name != "pods"}
    shape = Shape(
        tuple(sorted(requests.items())),
        (_nonzero(spec, requests, "cpu", "vcore"), _nonzero(spec, requests, "memory", "memory")),
        facts.constraints,
        tuple(_ports(spec)),
    )
    return _shapes.setdefault(shape, shape)


def _nonzero(spec: Json, requests: Mapping[str, int], name: str, ours: str) -> int:
    """The requests, with the default for each container that names none."""
    missing = sum(
        1
        for container in spec.get("containers", ())
        if name not in ((container.get("resources") or {}).get("requests") or {})
    )
    return requests.get(ours, 0) + missing * NONZERO[ours]


def _ports(spec: Json) -> Iterable[Port]:
    for container in spec.get("containers", ()):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield port.get("hostIP") or ANY_ADDRESS, port.get("protocol") or "TCP", int(port["hostPort"])


@dataclass(slots=True, eq=False)
class NodeInfo:
    """A node with the pods on it."""

    #: Name of the node.
    name: str
    #: Amounts that it offers to pods.
    allocatable: Mapping[str, int]
    #: Node as core reads it.
    facts: NodeFacts
    #: Pods on it, by uid.
    pods: dict[PodUid, PodInfo] = field(default_factory=dict)
    #: Amounts that those pods request; no entry for a resource that none requests.
    used: dict[str, int] = field(default_factory=dict)
    #: Sums of their ``nonzero`` requests: vcore and memory.
    nonzero: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, info: PodInfo) -> None:
        """Add a pod to the node."""
        self.pods[info.uid] = info
        self._count(info, 1)

    def remove(self, uid: PodUid) -> PodInfo | None:
        """Remove a pod from the node and return it; None if it is not there."""
        info = self.pods.pop(uid, None)
        if info is not None:
            self._count(info, -1)
        return info

    def _count(self, info: PodInfo, sign: int) -> None:
        for name, amount in info.shape.requests:
            self.used[name] = self.used.get(name, 0) + sign * amount
        self.nonzero[0] += sign * info.shape.nonzero[0]
        self.nonzero[1] += sign * info.shape.nonzero[1]

    def ports(self) -> set[Port]:
        """The host ports in use."""
        return {port for info in self.pods.values() for port in info.shape.ports}

    def copy(self) -> "NodeInfo":
        """A copy for a what-if, on which pods may be removed and added."""
        return NodeInfo(
            self.name,
            self.allocatable,
            self.facts,
            dict(self.pods),
            dict(self.used),
            list(self.nonzero),
        )


class NodeCache:
    """Nodes by name, each pod on one of them or on none.

    ``changes``: names of changed nodes in the order of change, for results cached by node. ``names``: names
    of all nodes, sorted.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self.names: list[str] = []
        self._there: set[str] = set()
        self.changes: list[str] = []
        self._at: dict[PodUid, str] = {}
        self._assumed: set[PodUid] = set()

    # -- nodes --------------------------------------------------------------------------------------------

    def set_node(self, node: Node, allocatable: Mapping[str, int]) -> bool:
        """Store a node as it is now. True if that may let a pod in that was refused in-tree."""
        known = self.nodes.get(node.name)
        before = known.facts if known is not None and known.name in self._there else None
        info = known or NodeInfo(node.name, allocatable, node.facts)
        info.allocatable, info.facts = allocatable, node.facts
        if before is None:
            self.nodes[node.name] = info
            self._there.add(node.name)
            self.names = sorted([*self.names, node.name])
        self.changes.append(node.name)
        return before is None or not before.takes_as(node.facts)

    def remove_node(self, name: str) -> None:
        """Remove a node. Its entry stays while pods are on it."""
        self.names = [each for each in self.names if each != name]
        self._there.discard(name)
        if name in self.nodes and not self.nodes[name].pods:
            del self.nodes[name]
        self.changes.append(name)

    # -- pods ----------------------------------------------------------------------------------------------

    def assume(self, info: PodInfo, node: str) -> None:
        """Place a pod on a node before the API confirms it."""
        self._put(info, node)
        self._assumed.add(info.uid)

    def confirm(self, info: PodInfo, node: str) -> None:
        """Place a pod where the API says it is."""
        self._assumed.discard(info.uid)
        self._put(info, node)

    def is_assumed(self, uid: PodUid) -> bool:
        """True if a pod is on a node that the API has not confirmed."""
        return uid in self._assumed

    def forget(self, uid: PodUid) -> bool:
        """Remove a pod from its node. False if it was on none."""
        self._assumed.discard(uid)
        name = self._at.pop(uid, None)
        if name is None:
            return False
        self.nodes[name].remove(uid)
        self.changes.append(name)
        if name not in self._there and not self.nodes[name].pods:
            del self.nodes[name]
        return True

    def _put(self, info: PodInfo, node: str) -> None:
        self.forget(info.uid)
        if node not in self.nodes:
            # A pod on a node that does not exist (yet) takes capacity nowhere.
            self.nodes[node] = NodeInfo(node, {}, NodeFacts(NodeName(node), Resource({})))
        self.nodes[node].add(info)
        self._at[info.uid] = node
        self.changes.append(node)

    def on_node(self, name: str) -> NodeInfo | None:
        """Add a pod to a node that exists."""
        return self.nodes.get(name) if name in self._there else None
