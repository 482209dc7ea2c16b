"""A loop that opens every gate it sees and decides nothing, for comparison with Paddock's gates.

It sends the same PATCH as Paddock, through the same effector, as often and as many at once. It uses the same
account, too. For an administrator the API server checks no role, and 7% more pods were bound. It is started
anew each time, since a running one would reuse its connections.
"""

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import msgspec
import uvloop

from core.ids import PodUid
from core.ledger.effects import OpenGate
from e2e.programs.control_plane import ControlPlane
from extender.kube.connection.api import ObjectMeta
from extender.kube.connection.client import ApiClient, connect
from extender.kube.effects.effector import Effector
from extender.kube.watch.reflector import Reflector


class Opener:
    """A process that opens gates, from `start` until `stop`."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        self._kubeconfig = str(control_plane.kubeconfig("paddock-certificate"))
        self._namespace = namespace
        self._process: BaseProcess | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    async def start(self) -> None:
        """Start the process, and wait until it has listed the pods."""
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=_open, args=(theirs, self._kubeconfig, self._namespace), daemon=True
        )
        process.start()
        # Without this, a process that ends before it is ready would go unnoticed.
        theirs.close()
        self._process = process
        await asyncio.to_thread(ours.recv)

    async def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.join)
            self._process = None


class _Gate(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct):
    gates: tuple[_Gate, ...] = msgspec.field(name="schedulingGates", default=())


class _Pod(msgspec.Struct):
    metadata: ObjectMeta
    spec: _Spec


class _Gates:
    """A reflector's listener that has each gate opened that a list or a watch shows."""

    def __init__(self, perform: Callable[[OpenGate], None]) -> None:
        self._perform = perform

    def on_changed(self, pod: _Pod) -> None:
        meta = pod.metadata
        if pod.spec.gates:
            self._perform(OpenGate(PodUid(meta.uid), meta.namespace, meta.name))

    def on_deleted(self, key: str) -> None:
        pass

    def on_listed(self, keys: frozenset[str]) -> None:
        pass


def _open(pipe: Connection, kubeconfig: str, namespace: str) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe, kubeconfig, namespace))


async def _serve(pipe: Connection, kubeconfig: str, namespace: str) -> None:
    client = await connect(kubeconfig=kubeconfig)
    effector = Effector(client, learn=lambda _: None, may_act=lambda: True, count=lambda *_: None)
    reflector = _reflector(client, namespace, effector.perform)
    async with asyncio.TaskGroup() as group:
        group.create_task(effector.run())
        group.create_task(reflector.run())
        await reflector.synced.wait()
        pipe.send("ready")


def _reflector(client: ApiClient, namespace: str, perform: Callable[[OpenGate], None]) -> Reflector[_Pod]:
    return Reflector(
        client,
        path=f"/api/v1/namespaces/{namespace}/pods",
        decode=msgspec.json.Decoder(_Pod).decode,
        key=lambda meta: meta.uid,
        sink=_Gates(perform),
    )
