"""What Paddock's gates are compared with: something that opens every gate it sees and decides nothing.

It sends the same PATCH as Paddock, through the same effector: as often, and as many at once. And from the
same account: for an administrator the API server looks at no role, and 7% more pods were bound.
"""

import asyncio
import multiprocessing
from collections.abc import Callable
from contextlib import AsyncExitStack
from multiprocessing.connection import Connection

import msgspec
import uvloop

from core.ids import PodUid
from core.ledger.effects import OpenGate
from e2e.control_plane import ControlPlane
from e2e.processes import cpu_seconds_of
from extender.kube.api import ObjectMeta
from extender.kube.client import ApiClient, connect
from extender.kube.effector import Effector
from extender.kube.reflector import Reflector


class Opener:
    """A process of its own. It watches and opens from `go` until `halt`, as Paddock does while it runs."""

    def __init__(self, control_plane: ControlPlane, stack: AsyncExitStack, namespace: str) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        kubeconfig = str(control_plane.kubeconfig("paddock-certificate"))
        process = multiprocessing.get_context("spawn").Process(
            target=_open, args=(theirs, kubeconfig, namespace), daemon=True
        )
        process.start()
        assert process.pid is not None
        self._pid = process.pid
        stack.callback(process.join)
        stack.callback(process.terminate)

    @property
    def cpu_seconds(self) -> float:
        return cpu_seconds_of(self._pid)

    async def go(self) -> None:
        await self._tell("go")

    async def halt(self) -> None:
        await self._tell("halt")

    async def _tell(self, what: str) -> None:
        self._ours.send(what)
        await asyncio.to_thread(self._ours.recv)


class _Gate(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct):
    gates: tuple[_Gate, ...] = msgspec.field(name="schedulingGates", default=())


class _Pod(msgspec.Struct):
    metadata: ObjectMeta
    spec: _Spec


class _Gates:
    """Has each gate opened that a list or a watch shows."""

    def __init__(self, perform: Callable[[OpenGate], None]) -> None:
        self._perform = perform

    def on_changed(self, pod: _Pod) -> None:
        meta = pod.metadata
        if pod.spec.gates:
            self._perform(OpenGate(PodUid(meta.uid), meta.namespace, meta.name))

    def on_deleted(self, key: str) -> None:
        pass

    def on_listed(self, keys: frozenset[str], resource_version: str) -> None:
        pass


def _open(pipe: Connection, kubeconfig: str, namespace: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe, kubeconfig, namespace))


async def _serve(pipe: Connection, kubeconfig: str, namespace: str) -> None:
    client = await connect(kubeconfig=kubeconfig)
    effector = Effector(client, learn=lambda _: None, may_act=lambda: True, count=lambda *_: None)
    working = asyncio.create_task(effector.run())
    following: asyncio.Task[None] | None = None
    while not working.done():
        word = await asyncio.to_thread(pipe.recv)
        if following is not None:
            following.cancel()
        following = None
        if word == "go":
            following = asyncio.create_task(_reflector(client, namespace, effector.perform).run())
        pipe.send("done")


def _reflector(client: ApiClient, namespace: str, perform: Callable[[OpenGate], None]) -> Reflector[_Pod]:
    return Reflector(
        client,
        path=f"/api/v1/namespaces/{namespace}/pods",
        decode=msgspec.json.Decoder(_Pod).decode,
        key=lambda meta: meta.uid,
        sink=_Gates(perform),
    )
