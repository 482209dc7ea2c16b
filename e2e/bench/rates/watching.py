"""The one watch of a round, in a process of its own: when each pod was seen, bound and deleted.

Names of pods are PREFIX-LEAF-NUMBER. Times are of the monotonic clock, which all processes share.
"""

import asyncio
import multiprocessing
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import aiohttp
import msgspec
import uvloop

from e2e.bench.rates.figures import Times
from e2e.cluster.watching import lines_of
from e2e.programs.control_plane import ControlPlane, unverified

LONGEST = 120.0
"""Seconds after which a round fails."""


class _Meta(msgspec.Struct, frozen=True, gc=False):
    name: str = ""
    resource_version: str = msgspec.field(name="resourceVersion", default="")


class _Spec(msgspec.Struct, frozen=True, gc=False):
    node: str = msgspec.field(name="nodeName", default="")


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = _Spec()


class _Event(msgspec.Struct):
    type: str
    object: _Pod


class _List(msgspec.Struct):
    metadata: _Meta


@dataclass(slots=True)
class Seen:
    """Times of the pods of one prefix by name, each in the order in which they came."""

    added: dict[str, float] = field(default_factory=dict)
    bound: dict[str, float] = field(default_factory=dict)
    deleted: dict[str, float] = field(default_factory=dict)

    def note(self, kind: str, name: str, node: str, now: float) -> None:
        """Take an event. Only the first of each kind counts."""
        self.added.setdefault(name, now)
        if kind == "DELETED":
            self.deleted.setdefault(name, now)
        elif node:
            self.bound.setdefault(name, now)

    def times(self) -> list[Times]:
        """Of each pod that was bound."""
        return [Times(self.added[name], bound) for name, bound in self.bound.items()]


@dataclass(frozen=True, slots=True)
class Question:
    """Wait until so many pods of a prefix were added, bound and deleted."""

    prefix: str
    added: int = 0
    bound: int = 0
    deleted: int = 0

    def is_answered(self, seen: Seen) -> bool:
        return (
            len(seen.added) >= self.added
            and len(seen.bound) >= self.bound
            and len(seen.deleted) >= self.deleted
        )


class Watcher:
    """The process, as an async context manager."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        self._asked = (control_plane.url, control_plane.token("admin"), namespace)
        self._process: BaseProcess
        self._pipe: Connection

    async def __aenter__(self) -> "Watcher":
        self._process, self._pipe = in_process(_watch, *self._asked)
        await asyncio.to_thread(self._pipe.recv)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.terminate()
        await asyncio.to_thread(self._process.join)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    async def until(self, question: Question, what: str) -> Seen:
        """Wait for pods, and return all times of the prefix. Raises AssertionError after `LONGEST`."""
        self._pipe.send(question)
        seen, answered = await asyncio.to_thread(self._pipe.recv)
        assert answered, f"after {LONGEST} s still not: {what}; {_counts(seen)}"
        assert isinstance(seen, Seen)
        return seen


def _counts(seen: Seen) -> str:
    return f"{len(seen.added)} added, {len(seen.bound)} bound, {len(seen.deleted)} deleted"


def in_process(target: Any, *arguments: Any) -> tuple[BaseProcess, Connection]:
    """Start a function in a new process. Its first argument is one end of a pipe; returned is the other."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=target, args=(theirs, *arguments), daemon=True
    )
    process.start()
    # Without this, a process that ends before it is ready would go unnoticed.
    theirs.close()
    return process, ours


def prefix_of(name: str) -> str:
    return name.partition("-")[0]


def _watch(pipe: Connection, url: str, token: str, namespace: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe, url, token, namespace))


async def _serve(pipe: Connection, url: str, token: str, namespace: str) -> None:
    seen: dict[str, Seen] = {}
    changed = asyncio.Event()
    async with aiohttp.ClientSession(
        url,
        connector=aiohttp.TCPConnector(ssl=unverified()),
        headers={"Authorization": f"Bearer {token}"},
    ) as session:
        path = f"/api/v1/namespaces/{namespace}/pods"
        async with session.get(path) as answer:
            version = msgspec.json.decode(await answer.read(), type=_List).metadata.resource_version
        following = asyncio.create_task(_follow(session, path, version, seen, changed))
        pipe.send("ready")
        await _answer(pipe, seen, changed, following)


async def _follow(
    session: aiohttp.ClientSession, path: str, version: str, seen: dict[str, Seen], changed: asyncio.Event
) -> None:
    """Note events without end. The API server ends the watch of a slow reader, which is then resumed."""
    decode = msgspec.json.Decoder(_Event).decode
    timeout = aiohttp.ClientTimeout(total=None, sock_read=None)
    while True:
        params = {"watch": "true", "resourceVersion": version}
        async with session.get(path, params=params, timeout=timeout) as answer:
            async for line in lines_of(answer):
                event = decode(line)
                if event.type == "ERROR":
                    raise RuntimeError(f"the watch lost events: {line[:300]!r}")
                meta = event.object.metadata
                version = meta.resource_version
                times = seen.setdefault(prefix_of(meta.name), Seen())
                times.note(event.type, meta.name, event.object.spec.node, time.monotonic())
                changed.set()


async def _answer(
    pipe: Connection, seen: dict[str, Seen], changed: asyncio.Event, following: "asyncio.Task[None]"
) -> None:
    while True:
        question: Question = await asyncio.to_thread(pipe.recv)
        until = time.monotonic() + LONGEST
        times = seen.setdefault(question.prefix, Seen())
        while not question.is_answered(times) and time.monotonic() < until:
            if following.done():
                following.result()
            changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), 0.5)
        pipe.send((times, question.is_answered(times)))
