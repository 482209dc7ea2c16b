"""Nodes: what one offers, and what pods hold on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ids import NodeName, PodUid
from core.resource import Resource, Tally


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node as last told. ``allocatable``: RES-7; a cordoned node still counts for the root (QUO-1)."""

    name: NodeName
    allocatable: Resource
    version: int = 0
    unschedulable: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()

    def takes_as(self, other: "NodeFacts") -> bool:
        """Whether it takes the same pods as another, or as itself before."""
        return (self.allocatable, self.unschedulable, self.taints, self.labels) == (
            other.allocatable,
            other.unschedulable,
            other.taints,
            other.labels,
        )


@dataclass(slots=True)
class NodeUse:
    """What holds room on a node name. Kept apart from the node: a pod may be seen before its node (POD-2).

    ``allocated``: managed pods, bound or being bound; ``occupied``: pods that know nothing of queues.
    """

    allocated: Tally = field(default_factory=Tally)
    occupied: Tally = field(default_factory=Tally)
    pods: set[PodUid] = field(default_factory=set)
