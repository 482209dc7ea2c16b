"""Answers about the cluster and its partition (REST-5, REST-26)."""

from collections import Counter

from core.queues.spec import NodeSortSpec
from core.resource import Resource
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
    return Partition(
        cluster_id=facts.process.cluster_id,
        name=PARTITION,
        capacity=capacity_from(facts),
        node_sorting_policy=sorting_from(view.node_sort),
        preemption_enabled=view.preempts,
        quota_preemption_enabled=view.quota_preempts,
        total_nodes=len(node_names(view)),
        total_containers=containers(facts),
        applications=application_counts(facts),
        state="Active",
        last_state_transition_time=nanoseconds(facts.config.since),
    )


def capacity_from(facts: Facts) -> Capacity:
    """Return the size of the cluster, and how much of it managed pods have."""
    root = facts.view.tree.root
    used = allocated_in(root, afloat_of(facts.view))
    size = root.max.as_resource() if root.max is not None else Resource({})
    return Capacity(capacity=amounts(size), used_capacity=amounts(used), utilization=percentages(size, used))


def sorting_from(sort: NodeSortSpec) -> NodeSorting:
    """Return the policy for the preference of nodes, with YuniKorn's weights where none are set."""
    weights = sort.weights or BUILT_IN_WEIGHTS
    return NodeSorting(type=sort.policy, resource_weights=dict(sorted(weights.items())))


def containers(facts: Facts) -> int:
    """Return the number of allocations. Each pod counts 1 of ``pods``."""
    return allocated_in(facts.view.tree.root, afloat_of(facts.view)).get("pods")


def application_counts(facts: Facts) -> dict[str, int]:
    """Count applications by state, and in ``total``, which is present even if it is 0."""
    view = facts.view
    counts = Counter(each.state.value for each in (*view.applications(), *view.identities.all_ended()))
    return {**dict(sorted(counts.items())), "total": counts.total()}
