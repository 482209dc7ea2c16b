"""Feeds from the cluster: a reflector for each kind of object, and the events made from it.

The order matters at the start. Namespaces and the configuration come first, so that every pod can be
classified and placed when it is first seen. Pods are reported in the order of their creation (APP-19).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

import msgspec

from extender.configuration.sources import ConfigMapData
from extender.kube.connection.api import ObjectMeta, segment
from extender.kube.connection.client import ApiClient
from extender.kube.watch.daemon_sets import ReportedOnce
from extender.kube.watch.objects import Learn, object_reflector
from extender.kube.watch.pod_groups import PodGroupFeed
from extender.kube.watch.pods import pod_reflector
from extender.kube.watch.reflector import Reflector
from extender.kube.watch.reporting import Reporter
from extender.wire import kinds

CONFIG_MAPS = ("yunikorn-defaults", "yunikorn-configs")

K = TypeVar("K")
F = TypeVar("F")


class Waiting(Enum):
    """Next step of the start, which waits until a kind was listed. Readiness waits for all but the first."""

    NOTHING = "nothing"
    READINESS = "readiness"
    CONFIGURATION = "the configuration"
    PODS = "the list of pods"
    """A kind with this value is read after the configuration."""


FOLLOWED: tuple[tuple[kinds.WatchedKind[Any, Any], Waiting], ...] = (
    (kinds.DAEMON_SETS, Waiting.NOTHING),
    (kinds.NAMESPACES, Waiting.CONFIGURATION),
    (kinds.PRIORITY_CLASSES, Waiting.CONFIGURATION),
    (kinds.BUDGETS, Waiting.READINESS),
    (kinds.NODES, Waiting.PODS),
)
"""Every kind of object except pods and PodGroups, in the order in which the start waits for them."""


class Feeds:
    """All feeds of the ledger. ``configured``: awaited before pods are read."""

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
        self._reflectors: dict[kinds.WatchedKind[Any, Any], Reflector[Any]] = {
            kind: object_reflector(client, kind, learn, _reporter_of(waiting, reporter))
            for kind, waiting in FOLLOWED
        }
        self.pods = pod_reflector(client, learn, reporter)

    def of(self, kind: kinds.WatchedKind[K, F]) -> Reflector[F]:
        """The reflector of a kind."""
        return self._reflectors[kind]

    @property
    def reflectors(self) -> tuple[Reflector[Any], ...]:
        """Reflectors of all kinds except PodGroups."""
        return (*self._reflectors.values(), self.pods)

    @property
    def followed(self) -> tuple[Reflector[Any] | PodGroupFeed, ...]:
        """Feeds that must be listed before Paddock is ready, in the order of the start."""
        needed = (self.of(kind) for kind, waiting in FOLLOWED if waiting is not Waiting.NOTHING)
        return (*needed, self.pod_groups, self.pods)

    async def run(self) -> None:
        """Watch everything until cancelled."""
        async with asyncio.TaskGroup() as group:
            for kind, waiting in FOLLOWED:
                if waiting is not Waiting.PODS:
                    group.create_task(self.of(kind).run())
            group.create_task(self.pod_groups.run())
            for each in self._awaited_by(Waiting.CONFIGURATION):
                await each.synced.wait()
            await self._configured()
            for each in self._awaited_by(Waiting.PODS):
                group.create_task(each.run())
            for each in self._awaited_by(Waiting.PODS):
                await each.synced.wait()
            await self.pod_groups.synced.wait()
            group.create_task(self.pods.run())

    def _awaited_by(self, wanted: Waiting) -> list[Reflector[Any]]:
        return [self.of(kind) for kind, waiting in FOLLOWED if waiting is wanted]

    async def wait_synced(self) -> None:
        """Wait until every feed was listed."""
        for each in self.followed:
            await each.synced.wait()


def _reporter_of(waiting: Waiting, reporter: Reporter) -> Reporter:
    return ReportedOnce(reporter) if waiting is Waiting.NOTHING else reporter


def _name(meta: ObjectMeta) -> str:
    return meta.name


# -- the two ConfigMaps ------------------------------------------------------------------------------------


class _WireConfigMap(msgspec.Struct, rename="camel", frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] | None = None
    binary_data: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ConfigMapSeen:
    """A ConfigMap as of the last list or watch event."""

    name: str
    uid: str
    data: ConfigMapData


@dataclass(slots=True)
class ConfigMapFeed:
    """Watch of ``yunikorn-defaults`` and ``yunikorn-configs`` that offers both whenever one changes (SRC-7).

    ``offer(defaults, configs, last)``: called when both have been listed, and after each change. ``last`` is
    the ConfigMap that changed, None for a deleted one.
    """

    client: ApiClient
    namespace: str
    offer: Callable[[ConfigMapData | None, ConfigMapData | None, ConfigMapSeen | None], None]
    reporter: Reporter
    seen: dict[str, ConfigMapSeen] = field(default_factory=dict)
    reflectors: list[Reflector[ConfigMapSeen]] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)

    async def run(self) -> None:
        """Watch both until cancelled."""
        async with asyncio.TaskGroup() as group:
            self.reflectors = [self._reflector(name) for name in CONFIG_MAPS]
            for each in self.reflectors:
                group.create_task(each.run())

    @property
    def error(self) -> str:
        """Why they cannot be read now, or empty if they can."""
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
        """Store a ConfigMap, or its deletion, and offer both."""
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
        """Note that a ConfigMap was listed, and whether it exists."""
        # A later list that has the ConfigMap has already reported it as changed.
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
