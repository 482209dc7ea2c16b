"""PodGroup objects, followed where the cluster has any (COS-10, COS-20).

Neither kind is there in every cluster: scheduler-plugins' is a CRD that somebody installs or takes away, and
Kubernetes' own is an alpha API. So the API server is asked what it serves, at the start and now and then.
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
from extender.kube.watch.reflector import Reflector, Reporter
from extender.wire.kinds import pod_groups_at

CHECKED_EVERY = 60.0
"""Seconds between two questions for what is served."""

CHECKED_AGAIN = 1.0
"""The same while there was no answer yet."""

VERSIONS: Mapping[GroupSource, tuple[str, ...]] = {
    GroupSource.PLUGIN: ("v1alpha1",),
    GroupSource.NATIVE: ("v1", "v1beta1", "v1alpha2"),
}
"""Versions whose fields Paddock knows, or that will hardly have others; the first that is served is read."""

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
class _Following:
    """What is followed of one kind. ``path``: where it is listed; ``answered``: it was, or may not be."""

    path: str
    answered: asyncio.Event
    task: asyncio.Task[None]
    reflector: Reflector[PodGroupFacts]


@dataclass
class PodGroupFeed:
    """Follows both kinds.

    Read, as of a reflector: ``synced`` (it is known what there is, and that has been listed or cannot be;
    never cleared), ``error`` (why it is not known, empty since there was an answer).
    """

    client: ApiClient
    learn: Learn
    reporter: Reporter
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    kind: str = RESOURCE
    error: str = ""
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    _missed: asyncio.Event = field(default_factory=asyncio.Event)
    _following: dict[GroupSource, _Following] = field(default_factory=dict)

    async def run(self) -> None:
        """Look, and look again, until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                answered = [await self._check(source, group) for source in VERSIONS]
                if all(answered):
                    self.error = ""
                    await self._until_listed()
                    self.synced.set()
                await self._pause(self._until_next)

    def heard(self) -> Iterator[tuple[str, float | None, str]]:
        """Of each kind that is served: name, time of the last page or line, and what is wrong."""
        for source, each in self._following.items():
            yield f"{RESOURCE}.{source.value}", each.reflector.last_heard, each.reflector.error

    async def _pause(self, seconds: float) -> None:
        """Until it is time, or what is followed is not served any more."""
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
        """Begin or end to follow one kind. False when the API server did not say what it serves."""
        try:
            path = await self._path_of(source)
        except KubeError as error:
            self.error = str(error)
            self.reporter.interrupted(f"{RESOURCE}.{source.value}", error, self._until_next)
            return False
        known = self._following.get(source)
        if known is not None and known.path != path:
            known.task.cancel()
            del self._following[source]
            known = None
            self.learn(on.KindUnserved(on.POD_GROUPS[source]))
        if path and known is None:
            answered = asyncio.Event()
            reporter = _Answered(self.reporter, answered, self._missed)
            reflector = object_reflector(self.client, pod_groups_at(path, source), self.learn, reporter)
            task = group.create_task(reflector.run())
            self._following[source] = _Following(path, answered, task, reflector)
        return True

    async def _until_listed(self) -> None:
        """Of one that may not be listed its error is all there will be."""
        for each in self._following.values():
            await each.answered.wait()

    async def _path_of(self, source: GroupSource) -> str:
        """Where the first version that is known and served is listed; empty when there is none."""
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
            # Not served, or not for us: then it is as if there were none.
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
    """A reporter that also notes that there was an answer, whichever, and that there is no such path."""

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
