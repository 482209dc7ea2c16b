"""Answers about nodes and their utilization (REST-8, REST-37)."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from core.ids import NodeName, PodUid
from core.ledger.pods.record import PodRecord
from core.ledger.view import LedgerView
from core.resource import ZERO, Resource
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
"""Keys of pods, by the node that is nominated or reserved for them."""


def node_names(view: LedgerView) -> list[NodeName]:
    """Return the names of the known nodes, and of unknown nodes that have pods."""
    return sorted({*view.nodes, *(name for name in view.nodes_in_use() if is_shown(view, name))})


def is_shown(view: LedgerView, name: NodeName) -> bool:
    """True for a node that is known or has pods. A Binding that still waits does not count."""
    if name in view.nodes:
        return True
    use = view.use_of(name)
    return use is not None and any(counted_as(view.charge_of(uid)) in _ON_NODES for uid in use.pods)


def all_nodes(facts: Facts) -> tuple[Node, ...]:
    """Return all nodes, sorted by name."""
    reserved = reservations(facts.view)
    return tuple(node_from(facts, name, reserved) for name in node_names(facts.view))


def one_node(facts: Facts, name: str) -> Node | None:
    """Return a node; None for a name that neither the cluster nor a pod has."""
    if not is_shown(facts.view, NodeName(name)):
        return None
    return node_from(facts, NodeName(name), reservations(facts.view))


def reservations(view: LedgerView) -> Reserved:
    """Find the pods for which a node is nominated or reserved. Cost: O(pods)."""
    found: defaultdict[NodeName, set[PodUid]] = defaultdict(set)
    for record in view.pods():
        for node in awaited_by(record, counted_as(view.charge_of(record.uid))):
            found[node].add(record.uid)
    return {node: tuple(sorted(uids)) for node, uids in found.items()}


def awaited_by(record: PodRecord, counted: Counted | None) -> tuple[NodeName, ...]:
    """Return the nodes that are nominated or reserved for a request. None once its Binding was sent."""
    if record.node or counted is not Counted.REQUEST:
        return ()
    found = {record.facts.nominated, record.node_reservation.node}
    return tuple(sorted(NodeName(each) for each in found if each))


def node_from(facts: Facts, name: NodeName, reserved: Reserved) -> Node:
    """Build the answer for a node with its pods. Their sizes are added up here, so that REST-41 holds."""
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
    occupied: Resource = ZERO,
    reservations: tuple[str, ...] = (),
) -> Node:
    """Build the answer for a node without its pods. ``known``: None for a node that is not in the ledger."""
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
    """Return the allocations and the foreign allocations of a node, and both sums."""
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
    """Return the host name from the node's label, or the node's name without one."""
    return (known.labels.get(_HOST_LABEL) if known is not None else None) or name


def attributes_of(name: NodeName, known: NodeFacts | None) -> dict[str, str]:
    """Return YuniKorn's two keys and the node's labels. The web UI fails without any attribute."""
    labels = dict(sorted(known.labels.items())) if known is not None else {}
    return {HOST_NAME: host_of(name, known), RACK_NAME: RACK, **labels}


Buckets = list[list[str]]
"""Names of nodes in each of the ten buckets of a resource."""


def add_node(buckets: dict[str, Buckets], node: Node) -> None:
    """Add a node to its bucket of each resource that it has."""
    for kind in node.capacity:
        named = buckets.setdefault(kind, [[] for _ in BUCKETS])
        named[bucket_of(node.utilized.get(kind, 0))].append(node.node_id)


def utilizations(facts: Facts, nodes: Iterable[Node]) -> NodeUtilizations:
    """Count nodes by resource and utilization. ``nodes``: sorted by name."""
    buckets: dict[str, Buckets] = {}
    for node in nodes:
        add_node(buckets, node)
    found = tuple(utilization_from(kind, buckets[kind]) for kind in sorted(buckets))
    return NodeUtilizations(cluster_id=facts.process.cluster_id, partition=PARTITION, utilizations=found)


def utilization_from(kind: str, named: Buckets) -> Utilization:
    """Return the ten buckets of one resource."""
    buckets = (
        Bucket(bucket_name=BUCKETS[at], num_of_nodes=len(each), node_names=tuple(each))
        for at, each in enumerate(named)
    )
    return Utilization(type=kind, utilization=tuple(buckets))


def bucket_of(percent: int) -> int:
    """Return the number of a bucket: 0 for up to 10 percent, 9 for more than 90."""
    return min(max(0, -(-percent // 10) - 1), len(BUCKETS) - 1)
