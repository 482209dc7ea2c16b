"""Kinds of cluster objects that Paddock watches, with their paths and decoders."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.ledger import events as on
from core.workload.gangs.gang import GroupSource
from core.workload.pod_group import GroupKey, PodGroupFacts
from extender.wire import translate
from extender.wire.objects.pod_group import POD_GROUP, pod_group_facts_from

K = TypeVar("K")
F = TypeVar("F")


@dataclass(frozen=True, slots=True, eq=False)
class WatchedKind(Generic[K, F]):
    """A kind of object, as the API server lists it."""

    kind: on.ObjectKind[K, F]
    #: Path of the list over all namespaces.
    path: str
    #: Facts from the JSON of one object. Raises ``ValueError`` for an invalid object.
    read: Callable[[bytes], F]


NAMESPACES = WatchedKind(
    on.NAMESPACES, "/api/v1/namespaces", lambda raw: translate.namespace_from(translate.NAMESPACE.decode(raw))
)
PRIORITY_CLASSES = WatchedKind(
    on.PRIORITY_CLASSES,
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    lambda raw: translate.priority_class_from(translate.PRIORITY_CLASS.decode(raw)),
)
BUDGETS = WatchedKind(
    on.BUDGETS,
    "/apis/policy/v1/poddisruptionbudgets",
    lambda raw: translate.budget_from(translate.BUDGET.decode(raw)),
)
NODES = WatchedKind(on.NODES, "/api/v1/nodes", lambda raw: translate.node_from(translate.NODE.decode(raw)))
DAEMON_SETS = WatchedKind(
    on.DAEMON_SETS,
    "/apis/apps/v1/daemonsets",
    lambda raw: translate.daemon_set_from(translate.DAEMON_SET.decode(raw)),
)


def pod_groups_at(path: str, source: GroupSource) -> WatchedKind[GroupKey, PodGroupFacts]:
    """PodGroup objects of one source. ``path``: list path of an API version that the cluster serves."""
    return WatchedKind(
        on.POD_GROUPS[source], path, lambda raw: pod_group_facts_from(source, POD_GROUP.decode(raw))
    )
