"""Pods and nodes of the played API server, and their changes as a watch shows them."""

from dataclasses import dataclass, field

from core.ids import PodUid
from core.workload.nodes.node import NodeFacts
from core.workload.pod import PodFacts
from extender.simulator.scenario.model import PodEntry
from extender.simulator.scenario.objects import Json
from extender.wire.translate import POD, pod_from

TERMINAL = ("Succeeded", "Failed")


@dataclass(slots=True, eq=False)
class Pod:
    """A pod. ``body``: as it is now; ``raw``, ``facts``: the same encoded and as core reads it.

    ``seq``: order of creation; ``entry``: the line of the scenario it comes from, None for one that Paddock
    made; ``root``: the name that its copies are numbered after; ``created``: milliseconds, may be below 0.
    """

    uid: PodUid
    namespace: str
    name: str
    seq: int
    body: Json
    entry: PodEntry | None
    root: str
    created: int
    copies: int = 0
    raw: bytes = b""
    facts: PodFacts = field(default_factory=lambda: pod_from(POD.decode(b"{}")))
    exists: bool = True
    ended: str = ""
    bound_at: int | None = None
    gone_at: int | None = None

    @property
    def node(self) -> str:
        node: str = self.body["spec"].get("nodeName", "")
        return node

    @property
    def phase(self) -> str:
        phase: str = self.body["status"]["phase"]
        return phase

    @property
    def terminal(self) -> bool:
        return self.phase in TERMINAL

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.body["metadata"]

    @property
    def nominated(self) -> str:
        node: str = self.body["status"].get("nominatedNodeName", "")
        return node

    @property
    def full_name(self) -> str:
        """As reports and expectations name it: without the namespace ``default``."""
        return self.name if self.namespace == "default" else f"{self.namespace}/{self.name}"


@dataclass(slots=True, eq=False)
class Node:
    name: str
    body: Json
    facts: NodeFacts
    created: int
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class PodChange:
    """``facts``: the pod after it; ``deleted``: it is no longer there."""

    pod: Pod
    facts: PodFacts
    raw: bytes
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class NodeChange:
    node: Node
    facts: NodeFacts
    deleted: bool = False


Change = PodChange | NodeChange
