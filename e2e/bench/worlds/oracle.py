"""An extender and opener of gates that admits exactly the right pod, and computes next to nothing for it.

Leaves have a fixed number of slots. A pod that vanishes frees one, which the oldest waiting pod of its leaf
gets at once. By refusals that pod is woken and all others are refused with a constant text. By gates its gate
is opened. Requests, account and server are Paddock's.

The other kind, `first_come`, admits whichever pod of the leaf kube-scheduler tries first, out of order. What
a slot loses there no extender can save.
"""

import asyncio
import multiprocessing
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import msgspec
import uvloop

from core.ids import PodUid
from core.ledger.effects import OpenGate, WakePod
from e2e.bench.worlds.echo import binder
from e2e.programs.control_plane import ControlPlane
from e2e.programs.processes import free_port
from extender.http.server import Address
from extender.http.verbs.listening import listen_to_verbs, verbs_server
from extender.kube.connection.api import ObjectMeta
from extender.kube.connection.client import connect
from extender.kube.effects.effector import Effector
from extender.kube.watch.reflector import Reflector

WHY = "no slot is free in its leaf"


class Oracle:
    """The process, from `start` until `stop`. ``url``: where kube-scheduler calls it."""

    def __init__(self, control_plane: ControlPlane, namespace: str, slots: int, *, first_come: bool) -> None:
        self._port = free_port()
        kubeconfig = str(control_plane.kubeconfig("paddock-certificate"))
        self._asked = (kubeconfig, namespace, slots, first_come, self._port)
        self._process: BaseProcess | None = None
        self._pipe: Connection
        self.url = f"http://127.0.0.1:{self._port}/v1"

    @property
    def pid(self) -> int:
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    async def start(self) -> None:
        """Start the process, and wait until it has listed the pods and answers."""
        self._pipe, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=_decide, args=(theirs, *self._asked), daemon=True
        )
        process.start()
        # Without this, a process that ends before it is ready would go unnoticed.
        theirs.close()
        self._process = process
        await asyncio.to_thread(self._pipe.recv)

    async def filter_calls(self) -> float:
        """Filter calls so far."""
        self._pipe.send("calls")
        return float(await asyncio.to_thread(self._pipe.recv))

    async def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.join)
            self._process = None


class Gate(msgspec.Struct):
    """A scheduling gate."""

    name: str


class Spec(msgspec.Struct):
    """The part of a pod's specification that the oracle reads."""

    gates: tuple[Gate, ...] = msgspec.field(name="schedulingGates", default=())
    node: str = msgspec.field(name="nodeName", default="")


class SeenPod(msgspec.Struct):
    """A pod as a list or the watch shows it. Its name is PREFIX-LEAF-NUMBER."""

    metadata: ObjectMeta
    spec: Spec


class Slots:
    """The pods that have a slot of each leaf, and those that wait.

    ``perform``: gets what wakes the pod that has its turn. ``first_come``: another pod may take its slot.
    """

    def __init__(
        self, slots: int, perform: Callable[[OpenGate | WakePod], None], *, first_come: bool = False
    ) -> None:
        self._slots = slots
        self._first_come = first_come
        self._reached: set[str] = set()
        self._perform = perform
        self._waiting: dict[str, deque[str]] = {}
        self._taken: dict[str, set[str]] = {}
        self._known: dict[str, SeenPod] = {}
        self._refused: set[str] = set()

    def on_changed(self, pod: SeenPod) -> None:
        uid, leaf = pod.metadata.uid, leaf_of(pod.metadata.name)
        new = uid not in self._known
        self._known[uid] = pod
        if not new:
            return
        if pod.spec.node:
            self._reached.add(uid)
            self._taken.setdefault(leaf, set()).add(uid)
        else:
            self._waiting.setdefault(leaf, deque()).append(uid)
            self._fill(leaf)

    def on_deleted(self, key: str) -> None:
        pod = self._known.pop(key, None)
        if pod is not None:
            leaf = leaf_of(pod.metadata.name)
            self._taken.setdefault(leaf, set()).discard(key)
            self._reached.discard(key)
            self._fill(leaf)

    def on_listed(self, keys: frozenset[str]) -> None:
        for key in self._known.keys() - keys:
            self.on_deleted(key)

    def admits(self, uid: str, name: str) -> bool:
        """True if a pod has a slot. The watch may still have to show it."""
        leaf = leaf_of(name)
        taken = self._taken.setdefault(leaf, set())
        if self._first_come and uid not in taken:
            self._swap(uid, leaf, taken)
        if uid in taken:
            self._reached.add(uid)
            return True
        self._refused.add(uid)
        return False

    def _swap(self, uid: str, leaf: str, taken: set[str]) -> None:
        """Give a slot to a pod that is tried now, in place of one that has not been tried since it got it."""
        idle = next((each for each in taken if each not in self._reached), None)
        if idle is not None and uid in self._waiting.get(leaf, ()):
            taken.remove(idle)
            self._waiting[leaf].remove(uid)
            self._waiting[leaf].appendleft(idle)
            taken.add(uid)

    def _fill(self, leaf: str) -> None:
        """Give the free slots of a leaf to those that wait longest."""
        waiting, taken = self._waiting.get(leaf, deque[str]()), self._taken.setdefault(leaf, set())
        while waiting and len(taken) < self._slots:
            uid = waiting.popleft()
            if uid in self._known:
                taken.add(uid)
                self._admit(self._known[uid])

    def _admit(self, pod: SeenPod) -> None:
        meta = pod.metadata
        uid = PodUid(meta.uid)
        if pod.spec.gates:
            self._perform(OpenGate(uid, meta.namespace, meta.name))
        elif meta.uid in self._refused:
            self._perform(WakePod(uid, meta.namespace, meta.name, token=meta.uid))


def leaf_of(name: str) -> str:
    """The leaf in a pod's name."""
    return name.split("-")[1]


class _Head(msgspec.Struct):
    metadata: ObjectMeta


class _Args(msgspec.Struct):
    pod: _Head = msgspec.field(name="Pod")
    names: msgspec.Raw = msgspec.field(name="NodeNames")


class Filter:
    """The filter verb. ``calls``: so far."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._decode = msgspec.json.Decoder(_Args).decode
        self._refusals: dict[bytes, bytes] = {}
        self.calls = 0

    def __call__(self, body: bytes) -> bytes:
        self.calls += 1
        asked = self._decode(body)
        meta, names = asked.pod.metadata, bytes(asked.names)
        if self._slots.admits(meta.uid, meta.name):
            return b'{"NodeNames":' + names + b"}"
        known = self._refusals.get(names)
        if known is None:
            refused = dict.fromkeys(msgspec.json.decode(names), WHY)
            known = msgspec.json.encode({"NodeNames": [], "FailedAndUnresolvableNodes": refused})
            self._refusals = {names: known}
        return known


def _decide(
    pipe: Connection, kubeconfig: str, namespace: str, slots: int, first_come: bool, port: int
) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe, kubeconfig, namespace, slots, first_come, port))


async def _serve(
    pipe: Connection, kubeconfig: str, namespace: str, slots: int, first_come: bool, port: int
) -> None:
    client = await connect(kubeconfig=kubeconfig)
    effector = Effector(client, learn=lambda _: None, may_act=lambda: True, count=lambda *_: None)
    held = Slots(slots, effector.perform, first_come=first_come)
    filtering = Filter(held)
    reflector = Reflector(
        client,
        path=f"/api/v1/namespaces/{namespace}/pods",
        decode=msgspec.json.Decoder(SeenPod).decode,
        key=lambda meta: meta.uid,
        sink=held,
    )
    answers: Any = {
        "filter": filtering,
        "prioritize": lambda _: b"[]",
        "preempt": lambda _: b"{}",
        "bind": binder(effector),
    }
    await listen_to_verbs(
        verbs_server(answers, measure=lambda *_: None, on_bug=lambda *_: None), Address("127.0.0.1", port)
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(effector.run())
        group.create_task(reflector.run())
        await reflector.synced.wait()
        pipe.send("ready")
        while True:
            await asyncio.to_thread(pipe.recv)
            pipe.send(filtering.calls)
