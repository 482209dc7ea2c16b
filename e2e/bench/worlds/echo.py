"""An extender that decides nothing: the product's own server with its handlers replaced by fixed answers.

Its Bindings come from Paddock's own account. An echo that also watches all pods, and forgets them, makes the
same API calls as Paddock. It scores each node, as Paddock does, since kube-scheduler then reads as much.
"""

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable
from multiprocessing.process import BaseProcess
from typing import Any

import msgspec

from core.ids import NodeName, PodUid
from e2e.programs.control_plane import ControlPlane
from e2e.programs.processes import free_port
from extender.http.server import Address
from extender.http.verbs.listening import listen_to_verbs, verbs_server
from extender.kube.connection.api import ObjectMeta
from extender.kube.connection.client import ApiClient, connect
from extender.kube.effects.effector import Effector
from extender.kube.watch.pods import LIVE_PODS
from extender.kube.watch.reflector import Reflector
from extender.verbs.bind import PostBinding
from extender.wire.calls.extender_v1 import bind_request_from


class _Args(msgspec.Struct):
    pod: msgspec.Raw = msgspec.field(name="Pod")
    names: msgspec.Raw = msgspec.field(name="NodeNames")


class Echo:
    """The echo in a process of its own. ``url``: where kube-scheduler calls it.

    ``watches``: True to watch all pods, too, and to score nodes.
    """

    def __init__(self, control_plane: ControlPlane, *, watches: bool = False) -> None:
        self._kubeconfig = str(control_plane.kubeconfig("paddock-certificate"))
        self._watches = watches
        self._port = free_port()
        self._process: BaseProcess | None = None
        self.url = f"http://127.0.0.1:{self._port}/v1"

    @property
    def pid(self) -> int:
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    async def start(self) -> None:
        """Start the process, and wait until it answers."""
        ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(
            target=_echo, args=(self._port, theirs, self._watches), daemon=True
        )
        self._process.start()
        # Without this, a process that ends before it is ready would go unnoticed.
        theirs.close()
        ours.send(self._kubeconfig)
        await asyncio.to_thread(ours.recv)

    async def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.join)
            self._process = None


def binder(effector: Effector) -> Callable[[bytes], Awaitable[bytes]]:
    """The bind verb: posts each Binding as it is asked."""

    async def bind(body: bytes) -> bytes:
        asked = bind_request_from(body)
        binding = PostBinding(PodUid(asked.uid), asked.namespace, asked.name, NodeName(asked.node))
        outcome = await effector.post(binding, within=30)
        return b"{}" if outcome.bound else msgspec.json.encode({"Error": outcome.message})

    return bind


class _Pod(msgspec.Struct):
    metadata: ObjectMeta


class _Nothing:
    """A reflector's listener that forgets what it hears."""

    def on_changed(self, _: _Pod) -> None:
        pass

    def on_deleted(self, _: str) -> None:
        pass

    def on_listed(self, _: frozenset[str]) -> None:
        pass


def _echo(port: int, ready: Any, watches: bool) -> None:
    """Run the echo: accept everything, and bind as told."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(port, ready, watches=watches))


def scores_of(names: bytes) -> bytes:
    """Equal scores for all nodes of a JSON list. The name of a node contains no comma."""
    if names == b"[]":
        return names
    return b'[{"Host":' + names[1:-1].replace(b",", b',"Score":0},{"Host":') + b',"Score":0}]'


async def _serve(port: int, ready: Any, *, watches: bool) -> None:
    kubeconfig = ready.recv()
    client = await connect(kubeconfig=kubeconfig)
    effector = Effector(client, learn=lambda _: None, may_act=lambda: True, count=lambda *_: None)
    decode = msgspec.json.Decoder(_Args).decode
    answers: Any = {
        "filter": lambda body: b'{"NodeNames":' + bytes(decode(body).names) + b"}",
        "prioritize": lambda body: scores_of(bytes(decode(body).names)) if watches else b"[]",
        "preempt": lambda _: b"{}",
        "bind": binder(effector),
    }
    app = verbs_server(answers, measure=lambda *_: None, on_bug=lambda *_: None)
    await listen_to_verbs(app, Address("127.0.0.1", port))
    async with asyncio.TaskGroup() as group:
        if watches:
            reflector = _reflector(client)
            group.create_task(reflector.run())
            await reflector.synced.wait()
        ready.send("ready")
        await asyncio.Event().wait()


def _reflector(client: ApiClient) -> Reflector[_Pod]:
    return Reflector(
        client,
        path="/api/v1/pods",
        params=LIVE_PODS,
        decode=msgspec.json.Decoder(_Pod).decode,
        key=lambda meta: meta.uid,
        sink=_Nothing(),
    )
