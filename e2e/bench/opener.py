"""What Paddock's gates are compared with: something that opens every gate it sees and decides nothing.

It sends the same PATCH as Paddock, through the same effector: as often, and as many at once.
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
from extender.kube.client import connect
from extender.kube.effector import Effector
from extender.kube.reflector import Reflector


class Opener:
    """A process of its own. It watches all the time, and opens from `go` until `halt`."""

    def __init__(self, control_plane: ControlPlane, stack: AsyncExitStack, namespace: str) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        kubeconfig = str(control_plane.kubeconfig("admin"))
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
    """Takes what a watch shows, and has each gate opened while it is told to."""

    def __init__(self, perform: Callable[[OpenGate], None]) -> None:
        self._perform = perform
        self._shut: dict[str, OpenGate] = {}
        self._going = False

    def on_changed(self, pod: _Pod) -> None:
        meta = pod.metadata
        if not pod.spec.gates:
            self._shut.pop(meta.uid, None)
            return
        gate = OpenGate(PodUid(meta.uid), meta.namespace, meta.name)
        if self._going:
            self._perform(gate)
        else:
            self._shut[meta.uid] = gate

    def on_deleted(self, pod: _Pod) -> None:
        self._shut.pop(pod.metadata.uid, None)

    def on_listed(self, keys: frozenset[str], resource_version: str) -> None:
        self._shut = {uid: gate for uid, gate in self._shut.items() if uid in keys}

    def go(self) -> None:
        self._going = True
        for gate in self._shut.values():
            self._perform(gate)
        self._shut.clear()

    def halt(self) -> None:
        self._going = False


def _open(pipe: Connection, kubeconfig: str, namespace: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe, kubeconfig, namespace))


async def _serve(pipe: Connection, kubeconfig: str, namespace: str) -> None:
    client = await connect(kubeconfig=kubeconfig)
    effector = Effector(client, learn=lambda _: None, may_act=lambda: True, count=lambda *_: None)
    gates = _Gates(effector.perform)
    reflector = Reflector(
        client,
        path=f"/api/v1/namespaces/{namespace}/pods",
        decode=msgspec.json.Decoder(_Pod).decode,
        key=lambda pod: pod.metadata.uid,
        sink=gates,
    )

    async def obey() -> None:
        while True:
            word = await asyncio.to_thread(pipe.recv)
            (gates.go if word == "go" else gates.halt)()
            pipe.send("done")

    async with asyncio.TaskGroup() as group:
        group.create_task(effector.run())
        group.create_task(reflector.run())
        group.create_task(obey())
