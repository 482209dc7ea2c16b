"""Nodes: what each offers, and what pods hold on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from core.ids import NodeName, PodUid, QueuePath
from core.resource import Resource, Tally


class Taint(NamedTuple):
    """Taint of a node."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """A node as last reported. ``allocatable``: RES-7. A cordoned node still counts for the root (QUO-1)."""

    name: NodeName
    allocatable: Resource
    version: int = 0
    unschedulable: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()

    def takes_as(self, other: "NodeFacts") -> bool:
        """True if it takes the same pods as another node, or as itself before."""
        return (self.allocatable, self.unschedulable, self.taints, self.labels) == (
            other.allocatable,
            other.unschedulable,
            other.taints,
            other.labels,
        )


class Rung(NamedTuple):
    """Pods of one leaf and one priority, which most questions of preemption treat alike."""

    queue: QueuePath
    priority: int


@dataclass(init=False, slots=True)
class Group:
    """Pods of one rung.

    ``total``: the sum of their sizes; a plain mapping, because a plan reads every node's.
    """

    pods: set[PodUid]
    total: dict[str, int]

    def __init__(self) -> None:
        self.pods = set()
        self.total = {}

    def count(self, size: Resource, sign: int) -> None:
        """Add a size, or subtract it with a ``sign`` of -1."""
        total = self.total
        for name, amount in size.by_name().items():
            total[name] = total.get(name, 0) + sign * amount


class Evictable:
    """Pods of a node that may become victims, by leaf and priority, so that whole groups can be ruled out."""

    __slots__ = ("groups",)

    def __init__(self) -> None:
        self.groups: dict[Rung, Group] = {}

    def file(self, queue: QueuePath, priority: int, uid: PodUid, size: Resource, *, adding: bool) -> None:
        """Count a pod in or out."""
        rung = Rung(queue, priority)
        if adding and rung not in self.groups:
            self.groups[rung] = Group()
        group = self.groups[rung]
        group.count(size, 1 if adding else -1)
        if adding:
            group.pods.add(uid)
            return
        group.pods.discard(uid)
        if not group.pods:
            del self.groups[rung]


@dataclass(init=False, slots=True)
class NodeUse:
    """Usage of a node, by name. Separate from the node, because a pod may be seen before its node (POD-2).

    ``allocated``: managed pods that are bound or being bound. ``occupied``: pods without a queue.
    ``evictable``: pods from which preemption may choose.
    """

    allocated: Tally
    occupied: Tally
    pods: set[PodUid]
    evictable: Evictable

    def __init__(self) -> None:
        self.allocated = Tally()
        self.occupied = Tally()
        self.pods = set()
        self.evictable = Evictable()
