"""The one client of a round, in a process of its own: creates pods, many at once, and deletes them."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import aiohttp
import msgspec
import uvloop

from e2e.bench.rates.watching import in_process
from e2e.programs.control_plane import ControlPlane, unverified

AT_ONCE = 64
GATED: Mapping[str, Any] = {"schedulingGates": [{"name": "paddock.dev/queue"}]}


@dataclass(frozen=True, slots=True)
class Batch:
    """Pods to create: PREFIX-LEAF-NUMBER, round-robin over the leaves ``qLEAF`` of a queue.

    ``spec``: more of each pod's spec. ``labelled``: False for pods that no queue manages. ``scheduler``: name
    of the scheduler of all others.
    """

    namespace: str
    prefix: str
    count: int
    leaves: int
    spec: Mapping[str, Any] = field(default_factory=dict)
    parent: str = "root.tenants"
    labelled: bool = True
    scheduler: str = "yunikorn"

    def bodies(self) -> Iterator[bytes]:
        """The requests' bodies, in order."""
        for at in range(self.count):
            yield msgspec.json.encode(self.pod(at))

    def pod(self, at: int) -> dict[str, Any]:
        """A manifest: a container of 1 cpu, in an application of its leaf."""
        leaf = at % self.leaves
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{self.prefix}-{leaf}-{at}",
                "namespace": self.namespace,
                "labels": self._labels(leaf),
            },
            "spec": {
                "schedulerName": self.scheduler if self.labelled else "default-scheduler",
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1"}}}],
                **self.spec,
            },
        }

    def _labels(self, leaf: int) -> dict[str, str]:
        if not self.labelled:
            return {}
        return {
            "yunikorn.apache.org/queue": f"{self.parent}.q{leaf}",
            "yunikorn.apache.org/app-id": f"{self.prefix if self.spec else 'app'}-{leaf}",
        }


class Client:
    """The process, as an async context manager."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._asked = (control_plane.url, control_plane.token("admin"))
        self._process: BaseProcess
        self._pipe: Connection

    async def __aenter__(self) -> "Client":
        self._process, self._pipe = in_process(_work, *self._asked)
        await asyncio.to_thread(self._pipe.recv)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.terminate()
        await asyncio.to_thread(self._process.join)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    async def create(self, batch: Batch) -> float:
        """Create all pods of a batch, and return when the first call began."""
        return await self._ask(batch)

    async def delete(self, namespace: str, names: list[str]) -> None:
        """Delete pods."""
        await self._ask((namespace, names))

    async def _ask(self, asked: object) -> float:
        self._pipe.send(asked)
        answer = await asyncio.to_thread(self._pipe.recv)
        if isinstance(answer, str):
            raise AssertionError(answer)
        assert isinstance(answer, float)
        return answer


def _work(pipe: Connection, url: str, token: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe, url, token))


async def _serve(pipe: Connection, url: str, token: str) -> None:
    async with aiohttp.ClientSession(
        url,
        connector=aiohttp.TCPConnector(ssl=unverified(), limit=AT_ONCE),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    ) as session:
        pipe.send("ready")
        while True:
            asked = await asyncio.to_thread(pipe.recv)
            began = time.monotonic()
            try:
                await _do(session, asked)
            except (aiohttp.ClientError, RuntimeError) as error:
                pipe.send(f"the client failed: {error}")
            else:
                pipe.send(began)


async def _do(session: aiohttp.ClientSession, asked: Any) -> None:
    calls: Iterator[tuple[str, str, bytes]]
    if isinstance(asked, Batch):
        path = f"/api/v1/namespaces/{asked.namespace}/pods"
        calls = (("POST", path, body) for body in asked.bodies())
    else:
        namespace, names = asked
        options = b'{"gracePeriodSeconds":0}'
        calls = (("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}", options) for name in names)
    await asyncio.gather(*(_some(session, calls) for _ in range(AT_ONCE)))


async def _some(session: aiohttp.ClientSession, calls: Iterator[tuple[str, str, bytes]]) -> None:
    for method, path, body in calls:
        async with session.request(method, path, data=body) as answer:
            text = await answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
