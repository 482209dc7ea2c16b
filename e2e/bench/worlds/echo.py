"""An extender that decides nothing: the product's own server with its handlers replaced by fixed answers.

Its Bindings come from Paddock's own account.
"""

import asyncio
import multiprocessing
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from e2e.programs.control_plane import ControlPlane
from e2e.programs.processes import free_port


class _Args(msgspec.Struct):
    pod: msgspec.Raw = msgspec.field(name="Pod")
    names: msgspec.Raw = msgspec.field(name="NodeNames")


def start_echo(control_plane: ControlPlane, stack: AsyncExitStack) -> str:
    """Start the echo in a process of its own, until the stack ends, and return its address."""
    port = free_port()
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_echo, args=(port, theirs), daemon=True)
    process.start()
    stack.callback(process.join)
    stack.callback(process.terminate)
    ours.send(str(control_plane.kubeconfig("paddock-certificate")))
    ours.recv()
    return f"http://127.0.0.1:{port}/v1"


def _echo(port: int, ready: Any) -> None:
    """Run the echo: accept everything, and bind as told."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(port, ready))


async def _serve(port: int, ready: Any) -> None:
    from core.ids import NodeName, PodUid
    from extender.http.server import Address
    from extender.http.verbs.listening import listen_to_verbs, verbs_server
    from extender.kube.connection.client import connect
    from extender.kube.effects.effector import Effector
    from extender.verbs.bind import PostBinding
    from extender.wire.calls.extender_v1 import bind_request_from

    kubeconfig = ready.recv()
    client = await connect(kubeconfig=kubeconfig)
    effector = Effector(client, learn=lambda _: None, may_act=lambda: True, count=lambda *_: None)
    decode = msgspec.json.Decoder(_Args).decode

    async def bind(body: bytes) -> bytes:
        asked = bind_request_from(body)
        binding = PostBinding(PodUid(asked.uid), asked.namespace, asked.name, NodeName(asked.node))
        outcome = await effector.post(binding, within=30)
        return b"{}" if outcome.bound else msgspec.json.encode({"Error": outcome.message})

    answers: Any = {
        "filter": lambda body: b'{"NodeNames":' + bytes(decode(body).names) + b"}",
        "prioritize": lambda _: b"[]",
        "preempt": lambda _: b"{}",
        "bind": bind,
    }
    app = verbs_server(answers, measure=lambda *_: None, on_bug=lambda *_: None)
    await listen_to_verbs(app, Address("127.0.0.1", port))
    ready.send("ready")
    await asyncio.Event().wait()
