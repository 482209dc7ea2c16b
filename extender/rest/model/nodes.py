"""Nodes, and how full they are (REST-8, REST-37)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Percentages, Texts
from extender.rest.model.applications import Allocation, ForeignAllocation


class Node(Answer, frozen=True, kw_only=True):
    """A node. Its capacity is the sum of what is allocated, occupied and available (REST-41)."""

    #: Name of the node.
    node_id: str = field(name="nodeID")
    #: Host name.
    host_name: str = ""
    #: Rack.
    rack_name: str = ""
    #: Host name and rack by YuniKorn's keys, and the labels of the node.
    attributes: Texts
    #: Allocatable amounts.
    capacity: Amounts = field(default_factory=dict)
    #: Sizes of pods of queues.
    allocated: Amounts = field(default_factory=dict)
    #: Sizes of other pods.
    occupied: Amounts = field(default_factory=dict)
    #: Amounts that are left; may be negative.
    available: Amounts = field(default_factory=dict)
    #: Percent of the capacity that is allocated.
    utilized: Percentages = field(default_factory=dict)
    #: Pods of queues.
    allocations: tuple[Allocation, ...] = ()
    #: Other pods.
    foreign_allocations: tuple[ForeignAllocation, ...] = ()
    #: False if it is cordoned, or gone while pods of it are left.
    schedulable: bool
    #: True if it is held for a pod.
    is_reserved: bool
    #: Keys of the pods that it is held for, or nominated to.
    reservations: tuple[str, ...] = ()


class Bucket(Answer, frozen=True, kw_only=True):
    """Nodes that are about as full."""

    #: Percentages, such as ``10-20%``.
    bucket_name: str = ""
    #: Number of nodes.
    num_of_nodes: int = 0
    #: Names of the nodes.
    node_names: tuple[str, ...] = ()


class Utilization(Answer, frozen=True, kw_only=True):
    """How full nodes are of one resource."""

    #: Name of the resource.
    type: str = ""
    #: Ten buckets, the emptiest first.
    utilization: tuple[Bucket, ...] = ()


class NodeUtilizations(Answer, frozen=True, kw_only=True):
    """How full the nodes of a partition are (REST-37). ``utilizations`` is there without nodes, too."""

    #: Id of the cluster.
    cluster_id: str = ""
    #: Name of the partition.
    partition: str
    #: Entry for each resource that a node has, by name.
    utilizations: tuple[Utilization, ...]
