"""Watches of PodGroup objects, where the cluster serves them (COS-10, COS-20).

A cluster may serve both kinds or none. That of scheduler-plugins is a CRD, which may be installed or removed
at any time. That of Kubernetes is an alpha API. Paddock therefore asks the API server regularly which it
serves.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from core.ledger import events as on
from core.workload.gangs.gang import GroupSource
from core.workload.pod_group import PodGroupFacts
from extender.kube.connection.api import ApiError, KubeError, MalformedAnswer
from extender.kube.connection.client import ApiClient
from extender.kube.watch.objects import Learn, object_reflector
from extender.kube.watch.reflector import Reflector
from extender.kube.watch.reporting import Reporter
from extender.wire.kinds import pod_groups_at

CHECKED_EVERY = 60.0
"""Seconds between two requests for the served kinds."""

CHECKED_AGAIN = 1.0
"""Seconds between two such requests as long as the first was not answered."""

VERSIONS: Mapping[GroupSource, tuple[str, ...]] = {
    GroupSource.PLUGIN: ("v1alpha1",),
    GroupSource.NATIVE: ("v1", "v1beta1", "v1alpha2"),
}
"""API versions whose fields Paddock knows or expects. The first one that is served is used."""

RESOURCE = "podgroups"

_ASK_AGAIN = (401, 408, 429)
_NOT_SERVED = 404

T = TypeVar("T")


class _Version(msgspec.Struct):
    version: str = ""


class _ServedGroup(msgspec.Struct):
    versions: list[_Version] | None = None


class _Resource(msgspec.Struct):
    name: str = ""


class _Resources(msgspec.Struct):
    resources: list[_Resource] | None = None


@dataclass(slots=True)
class _Watched:
    """A kind that is watched."""

    #: Path of its list.
    path: str
    #: Set once the list was answered, also with an error.
    answered: asyncio.Event
    task: asyncio.Task[None]
    reflector: Reflector[PodGroupFacts]


@dataclass
class PodGroupFeed:
    """Feed of both kinds of PodGroups."""

    client: ApiClient
    learn: Learn
    reporter: Reporter
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    kind: str = RESOURCE
    #: Why the served kinds are not known, or empty.
    error: str = ""
    #: Set once the served kinds are known and each was listed or refused. Never cleared.
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    _missed: asyncio.Event = field(default_factory=asyncio.Event)
    _watched: dict[GroupSource, _Watched] = field(default_factory=dict)

    async def run(self) -> None:
        """Watch the served kinds until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                answered = [await self._check(source, group) for source in VERSIONS]
                if all(answered):
                    self.error = ""
                    await self._until_listed()
                    self.synced.set()
                await self._pause(self._until_next)

    def heard(self) -> Iterator[tuple[str, float | None, str]]:
        """Name, time of the last page or line, and error of each served kind."""
        for source, each in self._watched.items():
            yield f"{RESOURCE}.{source.value}", each.reflector.last_heard, each.reflector.error

    async def _pause(self, seconds: float) -> None:
        """Wait some seconds, or until a watched kind is no longer served."""
        waits = [asyncio.ensure_future(each) for each in (self.sleep(seconds), self._missed.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        self._missed.clear()

    @property
    def _until_next(self) -> float:
        return CHECKED_EVERY if self.synced.is_set() else CHECKED_AGAIN

    async def _check(self, source: GroupSource, group: asyncio.TaskGroup) -> bool:
        """Start or stop the watch of a kind. False if the API server did not answer whether it serves it."""
        try:
            path = await self._path_of(source)
        except KubeError as error:
            self.error = str(error)
            self.reporter.interrupted(f"{RESOURCE}.{source.value}", error, self._until_next)
            return False
        known = self._watched.get(source)
        if known is not None and known.path != path:
            known.task.cancel()
            del self._watched[source]
            known = None
            self.learn(on.KindUnserved(on.POD_GROUPS[source]))
        if path and known is None:
            answered = asyncio.Event()
            reporter = _Answered(self.reporter, answered, self._missed)
            reflector = object_reflector(self.client, pod_groups_at(path, source), self.learn, reporter)
            task = group.create_task(reflector.run())
            self._watched[source] = _Watched(path, answered, task, reflector)
        return True

    async def _until_listed(self) -> None:
        """Wait until each watched kind was listed, or its list refused."""
        for each in self._watched.values():
            await each.answered.wait()

    async def _path_of(self, source: GroupSource) -> str:
        """List path of the first version that is known and served, or empty."""
        try:
            group = await self._asked(f"/apis/{source.value}", _ServedGroup)
            served = {each.version for each in group.versions or ()}
            for version in VERSIONS[source]:
                if version not in served:
                    continue
                found = await self._asked(f"/apis/{source.value}/{version}", _Resources)
                if any(each.name == RESOURCE for each in found.resources or ()):
                    return f"/apis/{source.value}/{version}/{RESOURCE}"
        except ApiError as error:
            # A kind that Paddock may not read counts as not served.
            if error.status in _ASK_AGAIN or not 400 <= error.status < 500:
                raise
        return ""

    async def _asked(self, path: str, kind: type[T]) -> T:
        body = await self.client.get(path, {})
        try:
            return msgspec.json.decode(body, type=kind)
        except ValueError as error:
            raise MalformedAnswer(f"{path}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Answered:
    """A reporter that also notes when a list was answered, and when its path does not exist."""

    reporter: Reporter
    answered: asyncio.Event
    missed: asyncio.Event

    def listed(self, kind: str, items: int, seconds: float) -> None:
        self.answered.set()
        self.reporter.listed(kind, items, seconds)

    def undecodable(self, kind: str, name: str, error: str) -> None:
        self.reporter.undecodable(kind, name, error)

    def interrupted(self, kind: str, error: KubeError, pause: float) -> None:
        self.answered.set()
        if isinstance(error, ApiError) and error.status == _NOT_SERVED:
            self.missed.set()
        self.reporter.interrupted(kind, error, pause)
