"""Feeds from the cluster: a reflector per kind, its items as events, its gaps as deletions.

Order matters at the start: namespaces and the configuration come first, so that every pod can be classified
and placed when it is first seen; pods are told in the order of their creation (APP-19).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.workload.budget import BudgetFacts
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts, PriorityClassFacts
from extender.configuration.sources import ConfigMapData
from extender.kube.connection.api import ObjectMeta, namespace_and_name, segment
from extender.kube.connection.client import ApiClient
from extender.kube.watch.daemon_sets import daemon_set_reflector
from extender.kube.watch.pod_groups import PodGroupFeed
from extender.kube.watch.reflector import Reflector, Reporter
from extender.wire import translate

Learn = Callable[[on.Event], None]
LIVE_PODS = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
CONFIG_MAPS = ("yunikorn-defaults", "yunikorn-configs")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class EventSink(Generic[T]):
    """A reflector's sink that makes events of what it is told."""

    learn: Learn
    changed: Callable[[T], on.Event]
    deleted: Callable[[str], on.Event]
    listed: Callable[[frozenset[str]], on.Event]

    def on_changed(self, item: T) -> None:
        self.learn(self.changed(item))

    def on_deleted(self, key: str) -> None:
        self.learn(self.deleted(key))

    def on_listed(self, keys: frozenset[str]) -> None:
        self.learn(self.listed(keys))


class Feeds:
    """Everything that the ledger follows. ``configured`` is awaited before pods are read."""

    def __init__(
        self,
        client: ApiClient,
        learn: Learn,
        *,
        reporter: Reporter,
        configured: Callable[[], Awaitable[object]],
    ) -> None:
        self._configured = configured
        self.pod_groups = PodGroupFeed(client, learn, reporter)
        self.daemon_sets = daemon_set_reflector(client, learn, reporter)
        self.namespaces = Reflector(
            client,
            path="/api/v1/namespaces",
            decode=lambda raw: translate.namespace_from(translate.NAMESPACE.decode(raw)),
            key=_name,
            sink=_namespace_sink(learn),
            reporter=reporter,
        )
        self.priority_classes = Reflector(
            client,
            path="/apis/scheduling.k8s.io/v1/priorityclasses",
            decode=lambda raw: translate.priority_class_from(translate.PRIORITY_CLASS.decode(raw)),
            key=_name,
            sink=_priority_class_sink(learn),
            reporter=reporter,
        )
        self.budgets = Reflector(
            client,
            path="/apis/policy/v1/poddisruptionbudgets",
            decode=lambda raw: translate.budget_from(translate.BUDGET.decode(raw)),
            key=lambda meta: meta.full_name,
            sink=_budget_sink(learn),
            reporter=reporter,
        )
        self.nodes = Reflector(
            client,
            path="/api/v1/nodes",
            decode=lambda raw: translate.node_from(translate.NODE.decode(raw)),
            key=_name,
            sink=_node_sink(learn),
            reporter=reporter,
        )
        self.pods = Reflector(
            client,
            path="/api/v1/pods",
            params=LIVE_PODS,
            decode=lambda raw: translate.pod_from(translate.POD.decode(raw)),
            key=lambda meta: meta.uid,
            order=lambda pod: (pod.created, pod.namespace, pod.name, pod.uid),
            sink=_pod_sink(learn),
            reporter=reporter,
            requested=lambda: learn(on.PodsListBegun()),
            caught_up=lambda: learn(on.PodsCaughtUp()),
        )

    @property
    def followed(self) -> tuple[Reflector[Any] | PodGroupFeed, ...]:
        """In the order in which they are waited for; not DaemonSets, of which none need be known."""
        first = (self.namespaces, self.priority_classes, self.budgets, self.nodes)
        return (*first, self.pod_groups, self.pods)

    async def run(self) -> None:
        """Follow everything until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.daemon_sets.run())
            group.create_task(self.namespaces.run())
            group.create_task(self.priority_classes.run())
            group.create_task(self.budgets.run())
            group.create_task(self.pod_groups.run())
            await self.namespaces.synced.wait()
            await self.priority_classes.synced.wait()
            await self._configured()
            group.create_task(self.nodes.run())
            await self.nodes.synced.wait()
            await self.pod_groups.synced.wait()
            group.create_task(self.pods.run())

    async def wait_synced(self) -> None:
        for each in self.followed:
            await each.synced.wait()


def _name(meta: ObjectMeta) -> str:
    return meta.name


def _namespace_sink(learn: Learn) -> EventSink[NamespaceFacts]:
    return EventSink(
        learn,
        on.NamespaceObserved,
        on.NamespaceDeleted,
        lambda names: on.NamespacesListed(names),
    )


def _priority_class_sink(learn: Learn) -> EventSink[PriorityClassFacts]:
    return EventSink(
        learn,
        on.PriorityClassObserved,
        on.PriorityClassDeleted,
        lambda names: on.PriorityClassesListed(names),
    )


def _budget_sink(learn: Learn) -> EventSink[BudgetFacts]:
    return EventSink(
        learn,
        on.BudgetObserved,
        lambda key: on.BudgetDeleted(*namespace_and_name(key)),
        lambda keys: on.BudgetsListed(frozenset(map(namespace_and_name, keys))),
    )


def _node_sink(learn: Learn) -> EventSink[NodeFacts]:
    return EventSink(
        learn,
        on.NodeObserved,
        lambda name: on.NodeDeleted(NodeName(name)),
        lambda names: on.NodesListed(frozenset(map(NodeName, names))),
    )


def _pod_sink(learn: Learn) -> EventSink[PodFacts]:
    return EventSink(
        learn,
        on.PodObserved,
        lambda uid: on.PodDeleted(PodUid(uid)),
        lambda uids: on.PodsListed(frozenset(map(PodUid, uids))),
    )


# -- the two ConfigMaps ------------------------------------------------------------------------------------


class _WireConfigMap(msgspec.Struct, rename="camel", frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] | None = None
    binary_data: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ConfigMapSeen:
    name: str
    uid: str
    data: ConfigMapData


@dataclass(slots=True)
class ConfigMapFeed:
    """Follows `yunikorn-defaults` and `yunikorn-configs` and offers both whenever one changes (SRC-7).

    ``offer(defaults, configs, last)``: ``last`` is the map that changed, None for one that is gone. Nothing
    is offered before both have been looked for.
    """

    client: ApiClient
    namespace: str
    offer: Callable[[ConfigMapData | None, ConfigMapData | None, ConfigMapSeen | None], None]
    reporter: Reporter
    seen: dict[str, ConfigMapSeen] = field(default_factory=dict)
    reflectors: list[Reflector[ConfigMapSeen]] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)

    async def run(self) -> None:
        """Follow both until cancelled."""
        async with asyncio.TaskGroup() as group:
            self.reflectors = [self._reflector(name) for name in CONFIG_MAPS]
            for each in self.reflectors:
                group.create_task(each.run())

    @property
    def error(self) -> str:
        """Why they cannot be read now, empty when they can."""
        return "; ".join(f"{each.kind}: {each.error}" for each in self.reflectors if each.error)

    def _reflector(self, name: str) -> Reflector[ConfigMapSeen]:
        return Reflector(
            self.client,
            path=f"/api/v1/namespaces/{segment(self.namespace)}/configmaps",
            params={"fieldSelector": f"metadata.name={name}"},
            decode=_config_map_from,
            key=_name,
            sink=_ConfigMapSink(self, name),
            reporter=self.reporter,
            kind=f"configmap {name}",
        )

    def changed(self, name: str, seen: ConfigMapSeen | None) -> None:
        if seen is None:
            self.seen.pop(name, None)
        else:
            self.seen[name] = seen
        if len(self.listed) == len(CONFIG_MAPS):
            defaults, configs = (self._data(each) for each in CONFIG_MAPS)
            self.offer(defaults, configs, seen)

    def _data(self, name: str) -> ConfigMapData | None:
        seen = self.seen.get(name)
        return seen.data if seen else None

    def found(self, name: str, present: bool) -> None:
        """One of them was looked for; a relist that finds it has told it already."""
        first = name not in self.listed
        self.listed.add(name)
        if first or not present:
            self.changed(name, self.seen.get(name) if present else None)


@dataclass(frozen=True, slots=True)
class _ConfigMapSink:
    feed: ConfigMapFeed
    name: str

    def on_changed(self, item: ConfigMapSeen) -> None:
        self.feed.changed(self.name, item)

    def on_deleted(self, _key: str) -> None:
        self.feed.changed(self.name, None)

    def on_listed(self, keys: frozenset[str]) -> None:
        self.feed.found(self.name, self.name in keys)


def _config_map_from(raw: bytes) -> ConfigMapSeen:
    item = msgspec.json.decode(raw, type=_WireConfigMap)
    return ConfigMapSeen(
        item.metadata.name, item.metadata.uid, ConfigMapData(item.data or {}, item.binary_data or {})
    )
