"""A test's view of a cluster: its events without a gap, and every pod as it was last seen."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

import aiohttp
import msgspec

from e2e.cluster.client import (
    ApiFailure,
    Cluster,
    Object,
    condition,
    is_terminal,
    message_of,
    node_of,
    path_of,
)
from e2e.cluster.reconnecting import DROPPED, persistent

LISTED_IN = 60.0
"""Seconds within which a first list is answered, on a busy machine, too."""


async def watch(
    session: aiohttp.ClientSession,
    path: str,
    on_list: Callable[[list[Object]], None],
    on_event: Callable[[str, Object], None],
) -> None:
    """List, then follow every event until cancelled.

    A dropped connection is resumed at the last version, so no event is missed. Raises if events were lost.
    """
    listed = await persistent(partial(_listed, session, path), repeatable=True)
    on_list(listed["items"])
    version: str = listed["metadata"]["resourceVersion"]
    while True:
        version = await persistent(partial(_follow, session, path, version, on_event), repeatable=True)


async def _listed(session: aiohttp.ClientSession, path: str) -> Object:
    async with session.get(path) as answer:
        found: Object = await answer.json()
        return found


async def _follow(
    session: aiohttp.ClientSession, path: str, version: str, on_event: Callable[[str, Object], None]
) -> str:
    """Follow events until the watch ends, and return the last version. Raises if it drops before an event."""
    began = version
    params = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
    timeout = aiohttp.ClientTimeout(total=None, sock_read=None)
    try:
        async with session.get(path, params=params, timeout=timeout) as answer:
            if answer.status != 200:
                raise ApiFailure(answer.status, f"watch of {path}")
            async for line in lines_of(answer):
                event = msgspec.json.decode(line)
                if event["type"] == "ERROR":
                    raise ApiFailure(event["object"].get("code", 0), f"watch of {path} lost events")
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    on_event(event["type"], event["object"])
    except DROPPED:
        if version == began:
            raise
    return version


async def lines_of(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in answer.content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line:
                yield line


class PodCache:
    """Every pod as the API last showed it, and a way to wait for what a test expects.

    ``namespace``: keep only its pods.
    """

    def __init__(self, cluster: Cluster, namespace: str = "") -> None:
        self._cluster = cluster
        self._path = path_of("Pod", namespace)
        self.pods: dict[str, Object] = {}
        self.listeners: list[Callable[[str, Object], None]] = []
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        listed = asyncio.Event()

        def on_list(items: list[Object]) -> None:
            self.pods = {item["metadata"]["uid"]: item for item in items}
            listed.set()

        self._task = asyncio.create_task(watch(self._cluster.session, self._path, on_list, self._on_event))
        await asyncio.wait_for(listed.wait(), LISTED_IN)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _on_event(self, kind: str, pod: Object) -> None:
        if kind == "DELETED":
            self.pods.pop(pod["metadata"]["uid"], None)
        else:
            self.pods[pod["metadata"]["uid"]] = pod
        for listener in self.listeners:
            listener(kind, pod)
        self._changed.set()

    def named(self, name: str, namespace: str | None = None) -> Object | None:
        where = namespace or self._cluster.namespace
        for pod in self.pods.values():
            if (pod["metadata"]["namespace"], pod["metadata"]["name"]) == (where, name):
                return pod
        return None

    def note(self, name: str, key: str, namespace: str | None = None) -> str:
        """An annotation of a pod; empty if it has none or does not exist."""
        pod = self.named(name, namespace)
        return str(((pod or {}).get("metadata", {}).get("annotations") or {}).get(key, ""))

    def bound(self) -> list[Object]:
        """Pods on a node that are not finished."""
        return [pod for pod in self.pods.values() if node_of(pod) and not is_terminal(pod)]

    def waiting(self) -> list[Object]:
        return [pod for pod in self.pods.values() if not node_of(pod)]

    def refused(self, text: str) -> list[Object]:
        """Waiting pods with ``text`` in the reason that kube-scheduler gives."""
        return [pod for pod in self.waiting() if text in message_of(pod)]

    async def until(self, holds: Callable[[], object], what: str, *, timeout: float = 30.0) -> None:
        """Wait until ``holds()`` is true, checking after every event. The error names what was seen last."""
        until = time.monotonic() + timeout
        while not holds():
            assert self._task is not None
            if self._task.done():
                self._task.result()
            left = until - time.monotonic()
            assert left > 0, f"after {timeout} s still not: {what}\n{self._seen()}"
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), min(left, 0.5))

    def _seen(self) -> str:
        bound, waiting = len(self.bound()), self.waiting()
        lines = [f"{bound} bound, {len(waiting)} without a node, {len(self.pods)} in all"]
        for pod in waiting[:5]:
            message = (condition(pod, "PodScheduled") or {}).get("message", "")
            lines.append(f"  {pod['metadata']['name']}: {message[:200]}")
        return "\n".join(lines)
