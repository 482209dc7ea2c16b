"""Nodes and their utilization (REST-8, REST-37)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Percentages, Texts
from extender.rest.model.applications import Allocation, ForeignAllocation


class Node(Answer, frozen=True, kw_only=True):
    """Node. Its capacity is the sum of ``allocated``, ``occupied`` and ``available`` (REST-41)."""

    #: Name of the node.
    node_id: str = field(name="nodeID")
    #: Host name.
    host_name: str = ""
    #: Rack.
    rack_name: str = ""
    #: Labels of the node; its host name and rack are added under YuniKorn's keys.
    attributes: Texts
    #: Allocatable amounts.
    capacity: Amounts = field(default_factory=dict)
    #: Total size of its managed pods.
    allocated: Amounts = field(default_factory=dict)
    #: Total size of its other pods.
    occupied: Amounts = field(default_factory=dict)
    #: Remaining amounts; may be negative.
    available: Amounts = field(default_factory=dict)
    #: Allocated percentage of the capacity.
    utilized: Percentages = field(default_factory=dict)
    #: Managed pods.
    allocations: tuple[Allocation, ...] = ()
    #: Other pods.
    foreign_allocations: tuple[ForeignAllocation, ...] = ()
    #: False for a node that is cordoned, or deleted while some of its pods remain.
    schedulable: bool
    #: True if the node is reserved for a pod.
    is_reserved: bool
    #: Keys of the pods for which the node is reserved or nominated.
    reservations: tuple[str, ...] = ()


class Bucket(Answer, frozen=True, kw_only=True):
    """Nodes whose utilization is in one range."""

    #: Range of percentages, such as ``10-20%``.
    bucket_name: str = ""
    #: Number of nodes.
    num_of_nodes: int = 0
    #: Names of the nodes.
    node_names: tuple[str, ...] = ()


class Utilization(Answer, frozen=True, kw_only=True):
    """Utilization of one resource on all nodes."""

    #: Name of the resource.
    type: str = ""
    #: Ten buckets, from the emptiest nodes to the fullest.
    utilization: tuple[Bucket, ...] = ()


class NodeUtilizations(Answer, frozen=True, kw_only=True):
    """Utilization of a partition's nodes (REST-37). ``utilizations`` is present even without nodes."""

    #: Id of the cluster.
    cluster_id: str = ""
    #: Name of the partition.
    partition: str
    #: Entries for all resources of nodes, sorted by name.
    utilizations: tuple[Utilization, ...]
