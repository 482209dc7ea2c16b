"""Nodes: what one offers, and what pods hold on it."""

from dataclasses import dataclass, field

from core.ids import NodeName, PodUid
from core.resource import Resource, Tally


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node as last told. ``allocatable``: RES-7; a cordoned node still counts for the root (QUO-1)."""

    name: NodeName
    allocatable: Resource
    version: int = 0
    unschedulable: bool = False


@dataclass(slots=True)
class NodeUse:
    """What holds room on a node name. Kept apart from the node: a pod may be seen before its node (POD-2).

    ``allocated``: managed pods, bound or being bound; ``occupied``: pods that know nothing of queues.
    """

    allocated: Tally = field(default_factory=Tally)
    occupied: Tally = field(default_factory=Tally)
    pods: set[PodUid] = field(default_factory=set)
