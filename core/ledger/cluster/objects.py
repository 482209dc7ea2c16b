"""Objects of the cluster other than pods: how the ledger stores those of each kind."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from core.ids import NodeName
from core.ledger import events as on
from core.ledger.admission.requests import request_cycle
from core.ledger.applications.classification import place_of_namespace, reclassify
from core.ledger.applications.ending import follow_ending
from core.ledger.cluster.daemon_sets import learn_daemon_set, note_listed
from core.ledger.gangs.due import note_node
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.ledger.usage.counters import file_node
from core.workload.budget import BudgetFacts
from core.workload.gangs.gang import GroupSource, PodGroup
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PriorityClassFacts
from core.workload.pod_group import GroupKey, PodGroupFacts

K = TypeVar("K")
F = TypeVar("F")

ObjectEvent = (
    on.ObjectObserved[Any, Any]
    | on.ObjectDeleted[Any, Any]
    | on.ObjectsListed[Any, Any]
    | on.KindUnserved[Any, Any]
)


def learn_object(state: State, event: ObjectEvent) -> Rounds:
    """Note an object, its deletion, or a whole list. An object that a list lacks was deleted."""
    row = _ROWS[event.kind]
    match event:
        case on.ObjectObserved(kind, facts):
            yield from row.learn(state, kind.key_of(facts), facts) or ()
        case on.ObjectDeleted(_, key):
            yield from row.learn(state, key, None) or ()
        case on.ObjectsListed(_, keys):
            for missing in [key for key in row.known(state) if key not in keys]:
                yield from row.learn(state, missing, None) or ()
            yield from row.listed(state) or ()
        case on.KindUnserved():
            row.unserved(state)


# -- nodes -----------------------------------------------------------------------------------------------


def _learn_node(state: State, name: NodeName, node: NodeFacts | None) -> None:
    known = state.cluster.nodes.pop(name, None)
    if node is not None:
        state.cluster.nodes[name] = node
    if known is not None and node is not None and known.takes_as(node):
        return
    request_cycle(state, CycleReason.CLUSTER_CHANGED)
    file_node(state, name, node)
    note_node(state, name)
    if (known is None) != (node is None):
        state.cluster.node_set += 1
    if (known and known.allocatable) != (node and node.allocatable):
        _count_capacity(state, known, node)


def _count_capacity(state: State, known: NodeFacts | None, node: NodeFacts | None) -> None:
    if known is not None:
        state.usage.capacity.subtract(known.allocatable)
    if node is not None:
        state.usage.capacity.add(node.allocatable)
    state.config.tree.set_capacity(state.usage.capacity)


def _nodes_listed(state: State) -> None:
    state.cluster.nodes_listed = True


# -- namespaces, priority classes and budgets ------------------------------------------------------------


def _learn_namespace(state: State, name: str, namespace: NamespaceFacts | None) -> Rounds:
    if namespace is None:
        state.cluster.namespaces.pop(name, None)
        return
    known = name in state.cluster.namespaces
    state.cluster.namespaces[name] = namespace
    yield from reclassify(state, name)
    if not known:
        yield from place_of_namespace(state, name)


def _namespaces_listed(state: State) -> None:
    state.cluster.namespaces_listed = True


def _learn_priority_class(state: State, name: str, priority_class: PriorityClassFacts | None) -> None:
    if priority_class is None:
        state.cluster.priority_classes.pop(name, None)
    else:
        state.cluster.priority_classes[name] = priority_class


def _learn_budget(state: State, key: tuple[str, str], budget: BudgetFacts | None) -> None:
    namespace, name = key
    there = state.cluster.budgets.setdefault(namespace, {})
    if budget is None:
        there.pop(name, None)
    else:
        there[name] = budget
    if not there:
        del state.cluster.budgets[namespace]


def _known_budgets(state: State) -> Iterable[tuple[str, str]]:
    return ((namespace, name) for namespace, there in state.cluster.budgets.items() for name in there)


# -- PodGroup objects ------------------------------------------------------------------------------------


def _learn_pod_group(source: GroupSource, state: State, key: GroupKey, facts: PodGroupFacts | None) -> None:
    """Note the terms of a PodGroup, and file its pods anew."""
    if facts is None:
        state.podgroups.terms.pop((source, key), None)
    else:
        state.podgroups.terms[source, key] = facts.terms
    _file_again(state, key)


def _known_pod_groups(source: GroupSource, state: State) -> Iterable[GroupKey]:
    return (key for where, key in state.podgroups.terms if where is source)


def _pod_groups_listed(source: GroupSource, state: State) -> None:
    """Note that the cluster has such objects. Pods that name one are filed anew."""
    if source not in state.podgroups.sources:
        state.podgroups.sources.add(source)
        _file_all(state, source)


def _pod_groups_unserved(source: GroupSource, state: State) -> None:
    """Note that the cluster has no such objects. Pods that name one are in no group."""
    state.podgroups.sources.discard(source)
    for key in list(_known_pod_groups(source, state)):
        del state.podgroups.terms[source, key]
    _file_all(state, source)


def _file_again(state: State, key: GroupKey) -> None:
    group = state.podgroups.known.get(key)
    for uid in list(group.phases) if group is not None else ():
        touch(state, state.pods.records[uid])
    if group is not None:
        request_cycle(state, CycleReason.GROUP_CHANGED)


def _file_all(state: State, source: GroupSource) -> None:
    """Settle the pods that name such a group. Cost: O(pods), but rare."""
    for record in list(state.pods.records.values()):
        named = record.facts.pod_group
        if isinstance(named, PodGroup) and named.source is source:
            touch(state, record)
    request_cycle(state, CycleReason.GROUP_CHANGED)


# -- DaemonSets ------------------------------------------------------------------------------------------


def _daemon_sets_listed(state: State) -> Rounds:
    for record in note_listed(state):
        yield from follow_ending(state, record)


# -- the table of kinds ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row(Generic[K, F]):
    """Handling of the objects of one kind."""

    kind: on.ObjectKind[K, F]
    #: Keys of the objects that the ledger knows.
    known: Callable[[State], Iterable[K]]
    #: Note the facts of one object; None when it was deleted.
    learn: Callable[[State, K, F | None], Rounds | None]
    #: Handler for the end of a whole list.
    listed: Callable[[State], Rounds | None] = lambda _: None
    #: Handler for a kind that the cluster does not have any more.
    unserved: Callable[[State], None] = lambda _: None


def _pod_group_row(source: GroupSource) -> _Row[GroupKey, PodGroupFacts]:
    return _Row(
        on.POD_GROUPS[source],
        partial(_known_pod_groups, source),
        partial(_learn_pod_group, source),
        partial(_pod_groups_listed, source),
        partial(_pod_groups_unserved, source),
    )


_TABLE: tuple[_Row[Any, Any], ...] = (
    _Row(on.NODES, lambda state: state.cluster.nodes, _learn_node, _nodes_listed),
    _Row(on.NAMESPACES, lambda state: state.cluster.namespaces, _learn_namespace, _namespaces_listed),
    _Row(on.PRIORITY_CLASSES, lambda state: state.cluster.priority_classes, _learn_priority_class),
    _Row(on.BUDGETS, _known_budgets, _learn_budget),
    _Row(on.DAEMON_SETS, lambda state: state.cluster.daemon_sets, learn_daemon_set, _daemon_sets_listed),
    *map(_pod_group_row, on.POD_GROUPS),
)
_ROWS: Mapping[on.ObjectKind[Any, Any], _Row[Any, Any]] = {row.kind: row for row in _TABLE}
