"""Events about objects of the cluster other than pods: one set for every kind. A part of `events`.

To follow a further kind, add a row here, one in `core.ledger.cluster.objects` for the ledger, and one in
`extender.wire.kinds` for reading.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from core.ids import NodeName
from core.workload.budget import BudgetFacts
from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey
from core.workload.gangs.gang import GroupSource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PriorityClassFacts
from core.workload.pod_group import GroupKey, PodGroupFacts

K = TypeVar("K")
F = TypeVar("F")


@dataclass(frozen=True, slots=True, eq=False)
class ObjectKind(Generic[K, F]):
    """A kind of object. ``K``: type of its keys. ``F``: type of the facts about one object."""

    #: Name in messages.
    name: str
    #: Key of an object, from its facts.
    key_of: Callable[[F], K] = field(repr=False)
    #: Key of an object, from namespace (empty where the kind has none) and name.
    key_from: Callable[[str, str], K] = field(repr=False)


NODES: ObjectKind[NodeName, NodeFacts] = ObjectKind(
    "nodes", lambda node: node.name, lambda _, name: NodeName(name)
)
NAMESPACES: ObjectKind[str, NamespaceFacts] = ObjectKind(
    "namespaces", lambda each: each.name, lambda _, name: name
)
PRIORITY_CLASSES: ObjectKind[str, PriorityClassFacts] = ObjectKind(
    "priorityclasses", lambda each: each.name, lambda _, name: name
)
BUDGETS: ObjectKind[tuple[str, str], BudgetFacts] = ObjectKind(
    "poddisruptionbudgets",
    lambda each: (each.namespace, each.name),
    lambda namespace, name: (namespace, name),
)
DAEMON_SETS: ObjectKind[DaemonSetKey, DaemonSetFacts] = ObjectKind(
    "daemonsets", lambda each: each.key, DaemonSetKey
)
POD_GROUPS: Mapping[GroupSource, ObjectKind[GroupKey, PodGroupFacts]] = {
    source: ObjectKind(f"podgroups.{source.value}", lambda each: each.key, GroupKey)
    for source in (GroupSource.PLUGIN, GroupSource.NATIVE)
}


@dataclass(frozen=True, slots=True)
class ObjectObserved(Generic[K, F]):
    """The watch or a list showed an object."""

    kind: ObjectKind[K, F]
    facts: F


@dataclass(frozen=True, slots=True)
class ObjectDeleted(Generic[K, F]):
    """The watch said that an object was deleted."""

    kind: ObjectKind[K, F]
    key: K


@dataclass(frozen=True, slots=True)
class ObjectsListed(Generic[K, F]):
    """A complete list of one kind was shown. ``keys``: every object that exists."""

    kind: ObjectKind[K, F]
    keys: frozenset[K]


@dataclass(frozen=True, slots=True)
class KindUnserved(Generic[K, F]):
    """The cluster does not have objects of a kind any more."""

    kind: ObjectKind[K, F]
