"""Nodes from the ledger, and how full they are (REST-8, REST-37)."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from core.ids import NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.resource import Resource
from core.workload.nodes.node import NodeFacts
from extender.rest.facts import PARTITION, Facts
from extender.rest.model.applications import Allocation, ForeignAllocation
from extender.rest.model.nodes import Bucket, Node, NodeUtilizations, Utilization
from extender.rest.projection.applications import in_time
from extender.rest.projection.counting import Counted, counted_as
from extender.rest.projection.pods import allocation_from, foreign_from
from extender.rest.projection.units import amounts, limits, percentages, total

HOST_NAME, RACK_NAME = "si.io/hostname", "si.io/rackname"
RACK = "/rack-default"
_HOST_LABEL = "kubernetes.io/hostname"
BUCKETS = tuple(f"{low}-{low + 10}%" for low in range(0, 100, 10))

_ON_NODES = (Counted.ALLOCATION, Counted.FOREIGN)

Reserved = dict[NodeName, tuple[str, ...]]
"""Keys of pods by the node that is held for them, or that they are nominated to."""


def node_names(view: LedgerView) -> list[NodeName]:
    """Nodes that are known, and names of others on which pods are, which may be gone or not shown yet."""
    return sorted({*view.nodes, *(name for name in view.nodes_in_use() if _is_shown(view, name))})


def _is_shown(view: LedgerView, name: NodeName) -> bool:
    """True for a node that is known or has pods. A Binding that may not be posted yet shows none."""
    if name in view.nodes:
        return True
    use = view.use_of(name)
    return use is not None and any(counted_as(view.charge_of(uid)) in _ON_NODES for uid in use.pods)


def all_nodes(facts: Facts) -> tuple[Node, ...]:
    """By name."""
    reserved = reservations(facts.view)
    return tuple(node_from(facts, name, reserved) for name in node_names(facts.view))


def one_node(facts: Facts, name: str) -> Node | None:
    """None for a name that neither the cluster nor a pod has."""
    if not _is_shown(facts.view, NodeName(name)):
        return None
    return node_from(facts, NodeName(name), reservations(facts.view))


def reservations(view: LedgerView) -> Reserved:
    """Cost: O(pods)."""
    found: defaultdict[NodeName, set[PodUid]] = defaultdict(set)
    for record in view.pods():
        for node in awaited_by(record, counted_as(view.charge_of(record.uid))):
            found[node].add(record.uid)
    return {node: tuple(sorted(uids)) for node, uids in found.items()}


def awaited_by(record: PodRecord, counted: Counted | None) -> tuple[NodeName, ...]:
    """Nodes that a request is nominated to, or that are held for it. None once its Binding is on its way."""
    if record.node or counted is not Counted.REQUEST:
        return ()
    found = {record.facts.nominated, record.node_reservation.node}
    return tuple(sorted(NodeName(each) for each in found if each))


def node_from(facts: Facts, name: NodeName, reserved: Reserved) -> Node:
    """A node with its pods. What they hold is added up here, so that the sums of REST-41 hold."""
    allocations, foreign, allocated, occupied = _pods_on(facts, name)
    head = head_from(
        name,
        facts.view.nodes.get(name),
        allocated=allocated,
        occupied=occupied,
        reservations=reserved.get(name, ()),
    )
    by_time = sorted(foreign, key=lambda each: (each.allocation_time, each.allocation_key))
    return msgspec.structs.replace(head, allocations=in_time(allocations), foreign_allocations=tuple(by_time))


def head_from(
    name: NodeName,
    known: NodeFacts | None,
    *,
    allocated: Resource,
    occupied: Resource,
    reservations: tuple[str, ...],
) -> Node:
    """A node without its pods. ``known``: None for one that is gone, or not shown yet."""
    capacity = (known.allocatable if known is not None else Resource({})).pruned()
    return Node(
        node_id=name,
        host_name=host_of(name, known),
        rack_name=RACK,
        attributes=attributes_of(name, known),
        capacity=amounts(capacity),
        allocated=amounts(allocated),
        occupied=amounts(occupied),
        available=limits(capacity - allocated - occupied),
        utilized=percentages(capacity, allocated),
        schedulable=known is not None and not known.unschedulable,
        is_reserved=bool(reservations),
        reservations=reservations,
    )


def _pods_on(
    facts: Facts, name: NodeName
) -> tuple[list[Allocation], list[ForeignAllocation], Resource, Resource]:
    """Allocations and foreign allocations of a node, and the sums of both."""
    allocations: list[Allocation] = []
    foreign: list[ForeignAllocation] = []
    sizes: dict[Counted, list[Resource]] = {Counted.ALLOCATION: [], Counted.FOREIGN: []}
    use = facts.view.use_of(name)
    for uid in use.pods if use is not None else ():
        record, counted = facts.view.pod(uid), counted_as(facts.view.charge_of(uid))
        if record is None or counted not in sizes:
            continue
        sizes[counted].append(record.facts.size)
        app_id = record.membership.application
        application = facts.view.application(app_id) if app_id is not None else None
        if counted is Counted.ALLOCATION and application is not None:
            allocations.append(allocation_from(application, record, name))
        else:
            foreign.append(foreign_from(record, name))
    return allocations, foreign, total(sizes[Counted.ALLOCATION]), total(sizes[Counted.FOREIGN])


def host_of(name: NodeName, known: NodeFacts | None) -> str:
    """Host name by the label of the node, else its own name."""
    return (known.labels.get(_HOST_LABEL) if known is not None else None) or name


def attributes_of(name: NodeName, known: NodeFacts | None) -> dict[str, str]:
    """YuniKorn's two keys and the labels. Never empty: the web UI breaks without any."""
    labels = dict(sorted(known.labels.items())) if known is not None else {}
    return {HOST_NAME: host_of(name, known), RACK_NAME: RACK, **labels}


def utilizations(facts: Facts, nodes: Iterable[Node]) -> NodeUtilizations:
    """How many nodes are how full, by resource. Above 100 percent counts in the last bucket."""
    by_type: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for node in nodes:
        for kind in node.capacity:
            by_type[kind][node.node_id] = node.utilized.get(kind, 0)
    found = tuple(_utilization(kind, by_type[kind]) for kind in sorted(by_type))
    return NodeUtilizations(cluster_id=facts.process.cluster_id, partition=PARTITION, utilizations=found)


def _utilization(kind: str, percents: dict[str, int]) -> Utilization:
    names: list[list[str]] = [[] for _ in BUCKETS]
    for node, percent in sorted(percents.items()):
        names[bucket_of(percent)].append(node)
    buckets = (
        Bucket(bucket_name=BUCKETS[at], num_of_nodes=len(each), node_names=tuple(each))
        for at, each in enumerate(names)
    )
    return Utilization(type=kind, utilization=tuple(buckets))


def bucket_of(percent: int) -> int:
    """The first of ten for up to 10 percent, the last for more than 90."""
    return min(max(0, -(-percent // 10) - 1), len(BUCKETS) - 1)
