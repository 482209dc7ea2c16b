"""Pods and nodes of the played API server, and their changes as a watch shows them."""

from dataclasses import dataclass, field

from core.ids import PodUid
from core.workload.nodes.node import NodeFacts
from core.workload.pod import PodFacts
from extender.simulator.scenario.model import PodEntry
from extender.simulator.scenario.objects import Json
from extender.wire.translate import POD, TERMINAL, pod_from


@dataclass(slots=True, eq=False)
class Pod:
    """Pod of the played API server."""

    #: Uid of the pod.
    uid: PodUid
    #: Namespace of the pod.
    namespace: str
    #: Name of the pod.
    name: str
    #: Number in the order of creation.
    seq: int
    #: Pod as the API shows it now.
    body: Json
    #: Line of the scenario that it comes from; None for a pod that Paddock made.
    entry: PodEntry | None
    #: Name that its copies are numbered after.
    root: str
    #: Time of its creation, in milliseconds; below 0 for a pod that is older than the scenario.
    created: int
    #: Number of its copy; 0 for the first pod of its entry.
    copies: int = 0
    #: ``body`` as JSON.
    raw: bytes = b""
    #: ``body`` as core reads it.
    facts: PodFacts = field(default_factory=lambda: pod_from(POD.decode(b"{}")))
    #: True while the API has it.
    exists: bool = True
    #: How it ended: evicted, preempted, succeeded, failed or deleted; empty while it exists and runs on.
    ended: str = ""
    #: Time of its Binding, in milliseconds; None before it.
    bound_at: int | None = None
    #: Time at which it ceased to exist, in milliseconds; None while it exists.
    deleted_at: int | None = None

    @property
    def node(self) -> str:
        """Name of its node; empty for none."""
        node: str = self.body["spec"].get("nodeName", "")
        return node

    @property
    def phase(self) -> str:
        """Phase that its status names."""
        phase: str = self.body["status"]["phase"]
        return phase

    @property
    def terminal(self) -> bool:
        """True if it succeeded or failed."""
        return self.phase in TERMINAL

    @property
    def deleting(self) -> bool:
        """True if its deletion has begun."""
        return "deletionTimestamp" in self.body["metadata"]

    @property
    def nominated(self) -> str:
        """Name of the node that it is nominated to; empty for none."""
        node: str = self.body["status"].get("nominatedNodeName", "")
        return node

    @property
    def full_name(self) -> str:
        """The name used by reports and expectations: without the namespace ``default``."""
        return self.name if self.namespace == "default" else f"{self.namespace}/{self.name}"


@dataclass(slots=True, eq=False)
class Node:
    """Node of the played API server."""

    #: Name of the node.
    name: str
    #: Node as the API shows it now.
    body: Json
    #: ``body`` as core reads it.
    facts: NodeFacts
    #: Time of its creation, in milliseconds.
    created: int
    #: Time of its removal, in milliseconds; None while it exists.
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class PodChange:
    """Change of a pod, as a watch shows it."""

    #: Pod that changed.
    pod: Pod
    #: Pod after the change, as core reads it.
    facts: PodFacts
    #: Pod after the change, as JSON.
    raw: bytes
    #: True if it is no longer there.
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Change of a node, as a watch shows it."""

    #: Node that changed.
    node: Node
    #: Node after the change, as core reads it.
    facts: NodeFacts
    #: True if it is no longer there.
    deleted: bool = False


Change = PodChange | NodeChange
