"""(c) Steps of a pod's life: calls of functions, and microseconds, by its form.

Bytes go in as an API server and kube-scheduler send them: lines of the watch through a reflector, bodies of
verbs. What the REST interface remembers of each pod is included. A Binding and a patch end in a client that
answers at once, so that no network is in the figures. Work that a step leaves for later is measured as a step
of its own, `cycle`. The least of many lives counts.
"""

import asyncio
import gc
import json
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any

from core.ledger import events as on
from core.ledger.effects import Effect, OpenGate
from core.ledger.settings import LedgerSettings
from e2e.bench.worlds.report import show
from e2e.bench.worlds.rig import Rig, rig
from e2e.programs.compiled import is_compiled
from extender.kube.effects.bodies import open_body, pod_path
from extender.kube.watch.pods import pod_reflector
from extender.kube.watch.reflector import Reflector
from extender.queueconfig.load import load_document
from extender.rest.memory.memory import RestMemory
from extender.verbs.bind import BindOutcome, BindVerb, PostBinding
from extender.wire import translate
from extender.wire.objects.plain import WireNamespace
from extender.wire.objects.pod import PodMetadata

NODES, OFFERED, LEAVES = 500, 230, 50
"""Nodes, those of a filter call as kube-scheduler samples them, and queues."""

LIVES, WARMED, COUNTED = 400, 50, 10
FORMS: Mapping[str, tuple[str, ...]] = {
    "plain": ("create", "update", "filter", "bind", "bound", "running", "deleted"),
    "direct": ("create", "update", "filter", "bound", "running", "deleted"),
    "gated": ("create", "gate", "opened", "bound", "running", "deleted"),
}
"""Steps in their order. ``update``: a status that changes nothing known. ``opened``: the gate is gone."""

Figures = dict[str, dict[str, float]]


class _Later:
    """Calls that the engine asks for, run by hand."""

    def __init__(self) -> None:
        self._calls: deque[Callable[[], None]] = deque()

    def __call__(self, _seconds: float, call: Callable[[], None]) -> None:
        self._calls.append(call)

    def run(self) -> None:
        """Run what was asked for so far, and what that asks for, a few rounds."""
        for _ in range(8):
            for _ in range(len(self._calls)):
                self._calls.popleft()()


class _Binder:
    """An API server that accepts every Binding."""

    async def post(self, binding: PostBinding, *, within: float) -> BindOutcome:
        return BindOutcome(bool(binding.node) and within > 0)

    async def read_pod(self, namespace: str, name: str, *, within: float) -> None:
        raise AssertionError(f"{namespace}/{name} was read within {within} s: its facts are known")


@dataclass(slots=True)
class World:
    """An engine with nodes and queues, and what it asks for. ``performed``: effects, taken by each step."""

    rig: Rig
    pods: Reflector[Any]
    bind: BindVerb
    later: _Later
    performed: list[Effect]
    versions: Iterator[int] = field(default_factory=lambda: iter(range(1000, 10**9)))

    def watch(self, kind: str, pod: Mapping[str, Any]) -> bytes:
        """A line of the watch, at the next version."""
        meta = {**pod["metadata"], "resourceVersion": str(next(self.versions))}
        return json.dumps({"type": kind, "object": {**pod, "metadata": meta}}, separators=(",", ":")).encode()


def world() -> World:
    """A new engine on the running loop."""
    later, performed = _Later(), list[Effect]()
    wired = rig(later=later, perform=performed.append, settled=lambda uids, now: memory.settled(uids, now))
    memory = RestMemory(lambda: wired.engine.view, instance="life", started=0.0)
    learn = wired.engine.learn
    queues = [{"name": f"q{at}", "resources": {"max": {"vcore": "1000"}}} for at in range(LEAVES)]
    root = {"name": "root", "submitacl": "*", "queues": queues}
    partition = load_document(json.dumps({"partitions": [{"name": "default", "queues": [root]}]}))
    learn(on.Configured(partition, LedgerSettings()))
    namespace = WireNamespace(metadata=PodMetadata(name="default"))
    learn(on.ObjectObserved(on.NAMESPACES, translate.namespace_from(namespace)))
    learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
    amounts = {"cpu": "32", "memory": "64Gi", "pods": "110"}
    for name in _names(NODES):
        raw = json.dumps({"metadata": {"name": name}, "status": {"allocatable": amounts}}).encode()
        learn(on.ObjectObserved(on.NODES, translate.node_from(translate.NODE.decode(raw))))
    learn(on.ObjectsListed(on.NODES, frozenset(_names(NODES))))  # type: ignore[arg-type]
    for empty in (on.PRIORITY_CLASSES, on.BUDGETS):
        learn(on.ObjectsListed(empty, frozenset()))  # type: ignore[type-var]
    learn(on.PodsListed(frozenset()))
    synced = asyncio.Event()
    synced.set()
    bind = BindVerb(wired.engine, _Binder(), synced=synced, asked=wired.engine.asked)
    return World(wired, pod_reflector(_NoClient(), learn), bind, later, performed)


class _NoClient:
    """A transport of which nothing is asked."""

    async def get(self, path: str, params: Any = None, *, timeout: float = 0) -> bytes:
        raise AssertionError(path)

    def stream(self, path: str, params: Any = None, *, idle_timeout: float = 0) -> Any:
        raise AssertionError(path)


def _names(count: int) -> list[str]:
    return [f"node-{at:05d}" for at in range(count)]


# -- the steps -----------------------------------------------------------------------------------------------

Step = Callable[[], Awaitable[object] | object]


def steps_of(here: World, form: str, number: int) -> Iterator[tuple[str, Step]]:
    """The steps of a pod's life. Each is made only when the one before it is over."""
    name, leaf = f"p{number}", number % LEAVES
    pod = _pod(name, f"root.q{leaf}", gated=form == "gated")
    node = _names(NODES)[number % NODES]
    for step in FORMS[form]:
        match step:
            case "create":
                yield step, _line(here, "ADDED", pod)
            case "update":
                pod = _with_condition(pod, "PodScheduled", "Unknown")
                yield step, _line(here, "MODIFIED", pod)
            case "filter":
                body = json.dumps({"Pod": pod, "Nodes": None, "NodeNames": _names(OFFERED)}).encode()
                yield step, partial(here.rig.verbs.filter, body)
            case "bind":
                uid = pod["metadata"]["uid"]
                asked = {"PodName": name, "PodNamespace": "default", "PodUID": uid, "Node": node}
                body = json.dumps(asked).encode()
                yield step, partial(here.bind.bind, body)
            case "gate":
                yield step, partial(_opened, here)
            case "opened":
                pod = {**pod, "spec": {**pod["spec"], "schedulingGates": None}}
                pod["metadata"]["annotations"] = {"paddock.dev/gate-opened": "true"}
                yield step, _line(here, "MODIFIED", pod)
            case "bound":
                pod = _with_condition(
                    {**pod, "spec": {**pod["spec"], "nodeName": node}}, "PodScheduled", "True"
                )
                yield step, _line(here, "MODIFIED", pod)
            case "running":
                pod = {**pod, "status": {**pod["status"], "phase": "Running", "containerStatuses": [_STATUS]}}
                yield step, _line(here, "MODIFIED", pod)
            case "deleted":
                yield step, _line(here, "DELETED", pod)


_STATUS = {"name": "main", "ready": True, "restartCount": 0, "image": "example", "state": {"running": {}}}


def _line(here: World, kind: str, pod: Mapping[str, Any]) -> Step:
    line = here.watch(kind, pod)
    return partial(here.pods.take, line)


def _opened(here: World) -> int:
    """Make the requests of the gates that are to be opened, and report them as done."""
    effects = [each for each in here.performed if isinstance(each, OpenGate)]
    assert effects, "the gate was not opened"
    here.performed.clear()
    for each in effects:
        open_body(each)
        pod_path(each.namespace, each.name)
        here.rig.engine.learn(on.PodWoken(each.uid, reached=True))
    return len(effects)


def _pod(name: str, queue: str, *, gated: bool) -> dict[str, Any]:
    """A pod as an API server sends it, with its defaults and the fields of managers."""
    gates = {"schedulingGates": [{"name": "paddock.dev/queue"}]} if gated else {}
    fields = {f"f:field{at}": {".": {}, "f:name": {}, "f:value": {}} for at in range(20)}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"00000000-0000-4000-8000-{int(name[1:]):012d}",
            "creationTimestamp": "2026-11-20T23:26:49Z",
            "labels": {"yunikorn.apache.org/app-id": f"app-{queue}", "yunikorn.apache.org/queue": queue},
            "managedFields": [{"manager": "client", "operation": "Update", "fieldsV1": fields}],
        },
        "spec": {
            "schedulerName": "yunikorn",
            "restartPolicy": "Always",
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default",
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "main",
                    "image": "example",
                    "env": [{"name": f"VARIABLE_{at}", "value": "x" * 40} for at in range(20)],
                    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
                    "imagePullPolicy": "Always",
                }
            ],
            "tolerations": [
                {"key": f"node.kubernetes.io/{each}", "operator": "Exists", "effect": "NoExecute"}
                for each in ("not-ready", "unreachable")
            ],
            **gates,
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }


def _with_condition(pod: dict[str, Any], kind: str, status: str) -> dict[str, Any]:
    conditions = [{"type": kind, "status": status, "lastTransitionTime": "2026-11-20T23:26:50Z"}]
    return {**pod, "status": {**pod["status"], "conditions": conditions}}


# -- measuring -----------------------------------------------------------------------------------------------


async def lives(form: str, count: int, take: Callable[[str, Step], Awaitable[None]]) -> None:
    """Run lives one after the other in a new world. ``take``: called for each step, and for its cycle."""
    here = world()
    for number in range(count):
        for name, step in steps_of(here, form, number):
            await take(name, step)
            await take("cycle", here.later.run)
            if form != "gated":
                here.performed.clear()


async def calls_of(form: str) -> dict[str, int]:
    """The least calls of Python functions and of C functions for each step of a warm life, `cycle` in all.

    The least of several lives, since a timer of the loop may fall into one.
    """
    found: list[dict[str, int]] = []

    async def take(name: str, step: Step) -> None:
        calls = 0

        def count(_frame: FrameType, event: str, _arg: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            made = step()
            if isinstance(made, Awaitable):
                await made
        finally:
            sys.setprofile(None)
        if name == "create":
            found.append({})
        found[-1][name] = found[-1].get(name, 0) + calls

    await lives(form, WARMED + COUNTED, take)
    return {name: min(each[name] for each in found[WARMED:]) for name in found[-1]}


async def microseconds_of(form: str) -> dict[str, float]:
    """The least time of each step, in microseconds; of `cycle` the least sum of a life."""
    best: dict[str, float] = {}
    cycles = 0.0

    async def take(name: str, step: Step) -> None:
        nonlocal cycles
        start = time.perf_counter_ns()
        made = step()
        if isinstance(made, Awaitable):
            await made
        took = (time.perf_counter_ns() - start) / 1e3
        if name == "cycle":
            cycles += took
            return
        if name == "create":
            best["cycle"] = min(best.get("cycle", float("inf")), cycles or float("inf"))
            cycles = 0.0
        best[name] = min(best.get(name, took), took)

    gc.collect()
    gc.disable()
    try:
        await lives(form, LIVES, take)
    finally:
        gc.enable()
    return {name: round(each, 1) for name, each in best.items()}


async def run() -> None:
    """Print calls and microseconds of each step, and their sums."""
    for form in FORMS:
        calls = await calls_of(form) if not is_compiled() else {}
        times = await microseconds_of(form)
        show(
            f"life, {form}",
            core="compiled" if is_compiled() else "interpreted",
            microseconds=times | {"sum": round(sum(times.values()), 1)},
            calls=calls | {"sum": sum(calls.values())} if calls else None,
        )
