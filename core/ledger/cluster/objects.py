"""What the ledger is told of nodes, namespaces, priority classes, disruption budgets and pod groups."""

from core.ids import NodeName
from core.ledger import events as on
from core.ledger.admission.requests import request_cycle
from core.ledger.applications.classification import place_of_namespace, reclassify
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.workload.gangs.gang import GroupSource, PodGroup
from core.workload.nodes.node import NodeFacts, NodeUse
from core.workload.pod_group import GroupKey


def learn_nodes(state: State, event: on.NodeObserved | on.NodeDeleted | on.NodesListed) -> None:
    match event:
        case on.NodeObserved(node):
            _set_node(state, node.name, node)
        case on.NodeDeleted(name):
            _set_node(state, name, None)
        case on.NodesListed(names):
            state.cluster.nodes_listed = True
            for missing in [name for name in state.cluster.nodes if name not in names]:
                learn_nodes(state, on.NodeDeleted(missing))


def _set_node(state: State, name: NodeName, node: NodeFacts | None) -> None:
    known = state.cluster.nodes.pop(name, None)
    if node is not None:
        state.cluster.nodes[name] = node
    if known is not None and node is not None and known.takes_as(node):
        return
    request_cycle(state, CycleReason.CLUSTER_CHANGED)
    _file_room(state, name, node)
    if (known is None) != (node is None):
        state.cluster.node_set += 1
    if (known and known.allocatable) != (node and node.allocatable):
        _count_capacity(state, known, node)


def _file_room(state: State, name: NodeName, node: NodeFacts | None) -> None:
    """Its free room anew; pods may be on it that were seen before it."""
    state.usage.free_capacity.drop_node(name)
    if node is not None:
        use = state.usage.uses.get(name, NodeUse())
        turns = (turn.seat.key.size for turn in state.turns.of.values() if turn.node == name)
        state.usage.free_capacity.add_node(node, use.allocated, use.occupied, *turns)


def _count_capacity(state: State, known: NodeFacts | None, node: NodeFacts | None) -> None:
    if known is not None:
        state.usage.capacity.subtract(known.allocatable)
    if node is not None:
        state.usage.capacity.add(node.allocatable)
    state.config.tree.set_capacity(state.usage.capacity)


def learn_namespaces(
    state: State,
    event: on.NamespaceObserved | on.NamespaceDeleted | on.NamespacesListed,
) -> Rounds:
    match event:
        case on.NamespaceObserved(namespace):
            known = namespace.name in state.cluster.namespaces
            state.cluster.namespaces[namespace.name] = namespace
            yield from reclassify(state, namespace.name)
            if not known:
                yield from place_of_namespace(state, namespace.name)
        case on.NamespaceDeleted(name):
            state.cluster.namespaces.pop(name, None)
        case on.NamespacesListed(names):
            state.cluster.namespaces_listed = True
            for missing in [name for name in state.cluster.namespaces if name not in names]:
                del state.cluster.namespaces[missing]


def learn_priority_classes(
    state: State, event: on.PriorityClassObserved | on.PriorityClassDeleted | on.PriorityClassesListed
) -> None:
    classes = state.cluster.priority_classes
    match event:
        case on.PriorityClassObserved(priority_class):
            classes[priority_class.name] = priority_class
        case on.PriorityClassDeleted(name):
            classes.pop(name, None)
        case on.PriorityClassesListed(names):
            for missing in [name for name in classes if name not in names]:
                del classes[missing]


def learn_pod_groups(state: State, event: on.PodGroupNews) -> None:
    """PodGroup objects, and whether the cluster has any; pods are filed anew where that changes."""
    match event:
        case on.PodGroupObserved(source, key, terms):
            state.podgroups.terms[source, key] = terms
            _file_again(state, key)
        case on.PodGroupDeleted(source, key):
            state.podgroups.terms.pop((source, key), None)
            _file_again(state, key)
        case on.PodGroupsListed(source, keys):
            for missing in [
                key for where, key in state.podgroups.terms if where is source and key not in keys
            ]:
                learn_pod_groups(state, on.PodGroupDeleted(source, missing))
            if source not in state.podgroups.sources:
                state.podgroups.sources.add(source)
                _file_all(state, source)
        case on.PodGroupsUnserved(source):
            state.podgroups.sources.discard(source)
            for known in [each for each in state.podgroups.terms if each[0] is source]:
                del state.podgroups.terms[known]
            _file_all(state, source)
        case _:
            raise AssertionError(event)


def _file_again(state: State, key: GroupKey) -> None:
    group = state.podgroups.known.get(key)
    for uid in list(group.phases) if group is not None else ():
        touch(state, state.pods.records[uid])
    if group is not None:
        request_cycle(state, CycleReason.GROUP_CHANGED)


def _file_all(state: State, source: GroupSource) -> None:
    """Those that name such a group: O(pods), once in a while."""
    for record in list(state.pods.records.values()):
        named = record.facts.pod_group
        if isinstance(named, PodGroup) and named.source is source:
            touch(state, record)
    request_cycle(state, CycleReason.GROUP_CHANGED)


def learn_budgets(state: State, event: on.BudgetObserved | on.BudgetDeleted | on.BudgetsListed) -> None:
    match event:
        case on.BudgetObserved(budget):
            state.cluster.budgets.setdefault(budget.namespace, {})[budget.name] = budget
        case on.BudgetDeleted(namespace, name):
            there = state.cluster.budgets.get(namespace, {})
            there.pop(name, None)
            if not there:
                state.cluster.budgets.pop(namespace, None)
        case on.BudgetsListed(names):
            known = [
                (namespace, name) for namespace, there in state.cluster.budgets.items() for name in there
            ]
            for namespace, name in known:
                if (namespace, name) not in names:
                    learn_budgets(state, on.BudgetDeleted(namespace, name))
