"""Answers about the cluster and its partition (REST-5, REST-26)."""

from collections import Counter

import msgspec

from core.queues.spec import NodeSortSpec
from core.resource import Limit, Resource
from extender.rest.facts import PARTITION, Facts
from extender.rest.model.cluster import Capacity, Cluster, NodeSorting, Partition
from extender.rest.projection.counting import afloat_of, allocated_in
from extender.rest.projection.nodes import node_names
from extender.rest.projection.units import amounts, nanoseconds, percentages

CLUSTER = "kubernetes"
BUILT_IN_WEIGHTS = {"memory": 1.0, "vcore": 1.0}


def cluster_from(facts: Facts) -> Cluster:
    """Build the answer for the cluster. Versions are Paddock's, so scripts can tell it from YuniKorn."""
    process = facts.process
    build = {
        "arch": process.arch,
        "buildDate": process.build_date,
        "buildVersion": process.version,
        "paddockVersion": process.version,
        "rmId": process.cluster_id,
    }
    return Cluster(
        start_time=nanoseconds(process.started),
        rm_build_information=({name: text for name, text in build.items() if text},),
        partition=PARTITION,
        cluster_name=CLUSTER,
    )


def partition_from(facts: Facts) -> Partition:
    """Build the answer for the only partition."""
    view = facts.view
    root = view.tree.root
    used = allocated_in(root, afloat_of(view))
    counts = Counter(each.state.value for each in (*view.applications(), *view.identities.all_ended()))
    head = partition_head(facts)
    return with_numbers(head, size=root.max, used=used, nodes=len(node_names(view)), counts=counts)


def partition_head(facts: Facts) -> Partition:
    """Build the answer for the partition without its amounts and numbers."""
    view = facts.view
    return Partition(
        cluster_id=facts.process.cluster_id,
        name=PARTITION,
        capacity=Capacity(),
        node_sorting_policy=sorting_from(view.node_sort),
        preemption_enabled=view.preempts,
        quota_preemption_enabled=view.quota_preempts,
        total_nodes=0,
        total_containers=0,
        applications={},
        state="Active",
        last_state_transition_time=nanoseconds(facts.config.since),
    )


def with_numbers(
    head: Partition, *, size: Limit | None, used: Resource, nodes: int, counts: Counter[str]
) -> Partition:
    """Fill in the amounts and numbers.

    ``size``: of the cluster. ``used``: allocated to pods of queues, each of which counts 1 of ``pods``.
    ``counts``: applications by state. ``total`` is there when 0, too.
    """
    total = size.as_resource() if size is not None else Resource({})
    capacity = Capacity(
        capacity=amounts(total), used_capacity=amounts(used), utilization=percentages(total, used)
    )
    return msgspec.structs.replace(
        head,
        capacity=capacity,
        total_nodes=nodes,
        total_containers=used.get("pods"),
        applications={**dict(sorted(counts.items())), "total": counts.total()},
    )


def sorting_from(sort: NodeSortSpec) -> NodeSorting:
    """Return the policy for the preference of nodes, with YuniKorn's weights where none are set."""
    weights = sort.weights or BUILT_IN_WEIGHTS
    return NodeSorting(type=sort.policy, resource_weights=dict(sorted(weights.items())))
