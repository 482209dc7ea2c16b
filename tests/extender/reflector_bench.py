"""Bench for tests of reflectors: a fake server, recording sinks, and sleeps without delay."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from extender.kube.connection.api import KubeError, ObjectMeta
from extender.kube.connection.client import ApiClient
from extender.kube.watch.reflector import Reflector
from tests.extender.fake_api import FakeApi, Request

PODS = "/api/v1/pods"


class Spec(msgspec.Struct):
    priority: int = 0


class Pod(msgspec.Struct):
    metadata: ObjectMeta
    spec: Spec = msgspec.field(default_factory=Spec)

    @property
    def name(self) -> str:
        return self.metadata.name


pod_from: Callable[[bytes], Pod] = msgspec.json.Decoder(Pod).decode


class Mirror:
    """A complete sink that records its calls."""

    def __init__(self) -> None:
        self.pods: dict[str, int] = {}
        self.calls: list[str] = []

    def on_changed(self, pod: Pod) -> None:
        self.pods[pod.name] = pod.spec.priority
        self.calls.append(f"changed {pod.name}")

    def on_deleted(self, key: str) -> None:
        del self.pods[key]
        self.calls.append(f"deleted {key}")

    def on_listed(self, keys: frozenset[str]) -> None:
        for deleted in self.pods.keys() - keys:
            del self.pods[deleted]
        self.calls.append("listed")


class Notes:
    """A reporter that records its calls."""

    def __init__(self) -> None:
        self.skipped: list[str] = []
        self.errors: list[KubeError] = []
        self.pauses: list[float] = []
        self.lists: list[int] = []

    def listed(self, kind: str, items: int, seconds: float) -> None:
        assert (kind, seconds >= 0) == ("pods", True)
        self.lists.append(items)

    def undecodable(self, kind: str, name: str, error: str) -> None:
        assert (kind, bool(error)) == ("pods", True)
        self.skipped.append(name)

    def interrupted(self, kind: str, error: KubeError, pause: float) -> None:
        assert kind == "pods"
        self.errors.append(error)
        self.pauses.append(pause)


class Bench:
    """A fake server, a client of it, and reflectors that end with the test."""

    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.client = client
        self.sink = Mirror()
        self.notes = Notes()

    def add(self, name: str, priority: object = 0, **meta: object) -> None:
        self.api.apply(
            "/api/v1/namespaces/ns/pods",
            {"metadata": {"name": name, **meta}, "spec": {"priority": priority}},
        )

    def delete(self, name: str) -> None:
        self.api.delete(PODS, name, "ns")

    def reflector(self, **options: Any) -> Reflector[Pod]:
        settings: dict[str, Any] = {
            "path": PODS,
            "decode": pod_from,
            "key": lambda meta: meta.name,
            "sink": self.sink,
            "reporter": self.notes,
        }
        return Reflector(self.client, **settings | options)

    @asynccontextmanager
    async def running(self, **options: Any) -> AsyncIterator[Reflector[Pod]]:
        """A reflector that has listed and watches. It is cancelled at the end, without an error."""
        reflector = self.reflector(**options)
        task = asyncio.create_task(reflector.run())
        await until(lambda: reflector.synced.is_set() and self.api.watching == 1)
        try:
            yield reflector
        finally:
            await cancelled(task)
        await until(lambda: self.api.watching == 0)

    @property
    def lists(self) -> list[Request]:
        return [r for r in self.api.requests if not r.is_watch]

    @property
    def watches(self) -> list[Request]:
        return [r for r in self.api.requests if r.is_watch]


async def until(claim: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not claim():  # noqa: ASYNC110 sinks and fakes have no event for every claim
            await asyncio.sleep(0.005)


async def cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class Hurried:
    """A sleep that records requested pauses without pausing. It ends the reflector after ``count``."""

    def __init__(self, count: int) -> None:
        self.pauses: list[float] = []
        self._count = count

    async def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) >= self._count:
            raise asyncio.CancelledError


class Turns:
    """Counter of the items that are decoded in one round of the event loop."""

    def __init__(self) -> None:
        self.longest = 0
        self._now = 0

    async def tick(self) -> None:
        while True:
            self._now = 0
            await asyncio.sleep(0)

    def decode(self, raw: bytes) -> Pod:
        self._now += 1
        self.longest = max(self.longest, self._now)
        return pod_from(raw)


async def ended(run: Coroutine[Any, Any, None]) -> None:
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await run
