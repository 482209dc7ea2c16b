"""(a) Cluster throughput: pods bound per second without an extender, with an echo, and with Paddock.

500 fake nodes, 2,000 pods in 50 leaf queues, identical scheduler settings; rounds in alternation, median
ratios. The echo is the product's own server with the four handlers replaced by fixed answers.
"""

import asyncio
import multiprocessing
import os
import statistics
import time
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from e2e.bench.report import show
from e2e.cluster import Cluster, Object, PodCache, node_of
from e2e.control_plane import ControlPlane
from e2e.paddock import PaddockProcess
from e2e.processes import free_port
from e2e.stand import CONFIG_MAP, INSTALLED, NAMESPACE, document, rendered

NODES, PODS, LEAVES = 500, 2_000, 50
ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "3"))
QPS = 5_000
VERBS = {
    "four verbs": ("filter", "prioritize", "preempt", "bind"),
    "filter and preempt": ("filter", "preempt"),
}

Rates = dict[str, list[float]]


def _echo(port: int, ready: Any) -> None:
    """In a process of its own: decides nothing, binds what it is told to bind."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_echo(port, ready))


class _EchoArgs(msgspec.Struct):
    pod: msgspec.Raw = msgspec.field(name="Pod")
    names: msgspec.Raw = msgspec.field(name="NodeNames")


async def _serve_echo(port: int, ready: Any) -> None:
    from core.ids import NodeName, PodUid
    from core.ledger.effects import PostBinding
    from extender.http.server import Address, listen, verbs_app
    from extender.kube.client import connect
    from extender.kube.effector import Effector
    from extender.wire.extender_v1 import bind_request_from

    kubeconfig = ready.recv()
    client = await connect(kubeconfig=kubeconfig)
    effector = Effector(client, learn=lambda _: None, may_act=lambda: True, count=lambda *_: None)
    decode = msgspec.json.Decoder(_EchoArgs).decode

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
    app = verbs_app(answers, measure=lambda *_: None, on_bug=lambda *_: None)
    await listen(app, Address("127.0.0.1", port))
    ready.send("ready")
    await asyncio.Event().wait()


async def run() -> None:
    """Print pods bound per second and the ratios."""
    async with AsyncExitStack() as stack:
        control_plane = await stack.enter_async_context(ControlPlane())
        cluster = await stack.enter_async_context(Cluster(control_plane))
        tree = {f"q{at}": {"max": {"vcore": "1000"}} for at in range(LEAVES)}
        await _install(cluster, tree)
        await cluster.add_nodes(NODES)
        paddock = PaddockProcess(control_plane.kubeconfig("paddock-certificate"), control_plane.folder)
        stack.push_async_callback(paddock.stop)
        await paddock.start()
        echo = _start_echo(control_plane, stack)
        rates: Rates = {}
        for _ in range(ROUNDS):
            await _round(cluster, paddock.url, echo, rates)
    _report(rates)


async def _install(cluster: Cluster, tree: Object) -> None:
    for thing in rendered("kubeadm"):
        if thing["kind"] in INSTALLED:
            await cluster.apply(thing)
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(tree)})
    cluster.namespace = await cluster.create_namespace()


def _start_echo(control_plane: ControlPlane, stack: AsyncExitStack) -> str:
    port = free_port()
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_echo, args=(port, theirs), daemon=True)
    process.start()
    stack.callback(process.join)
    stack.callback(process.terminate)
    ours.send(str(control_plane.kubeconfig("admin")))
    ours.recv()
    return f"http://127.0.0.1:{port}/v1"


async def _round(cluster: Cluster, paddock: str, echo: str, rates: Rates) -> None:
    rates.setdefault("none", []).append(await _measure(cluster, []))
    for name, verbs in VERBS.items():
        rates.setdefault(f"echo, {name}", []).append(await _measure(cluster, _extenders(echo, verbs)))
        rates.setdefault(f"paddock, {name}", []).append(await _measure(cluster, _extenders(paddock, verbs)))


def _extenders(url: str, verbs: tuple[str, ...]) -> list[Object]:
    entry: Object = {"urlPrefix": url, "nodeCacheCapable": True, "httpTimeout": "30s"}
    entry |= {f"{verb}Verb": verb for verb in verbs}
    if "prioritize" in verbs:
        entry["weight"] = 1
    return [entry]


async def _measure(cluster: Cluster, extenders: list[Object]) -> float:
    """Pods bound per second from the moment the scheduler starts on a full queue to the last Binding."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"qps": QPS, "burst": QPS},
        "podMaxBackoffSeconds": 1,
        "profiles": [{"schedulerName": "yunikorn"}],
        "extenders": extenders,
    }
    scheduler = await cluster.control_plane.scheduler(config)
    async with PodCache(cluster) as pods:
        times: list[float] = []
        bound: set[str] = set()

        def note(_kind: str, pod: Object) -> None:
            uid = pod["metadata"]["uid"]
            if node_of(pod) and uid not in bound:
                bound.add(uid)
                times.append(time.perf_counter())

        pods.listeners.append(note)
        creating = asyncio.create_task(
            cluster.create_pods(
                (cluster.pod(f"p{at}", cpu="100m", queue=f"root.q{at % LEAVES}") for at in range(PODS)),
                most=64,
            )
        )
        await pods.until(lambda: len(bound) == PODS, "all are bound", timeout=120)
        await creating
        rate = (PODS - 1) / (times[-1] - times[0])
        await scheduler.stop()
        await _delete_pods(cluster, pods)
    return rate


async def _delete_pods(cluster: Cluster, pods: PodCache) -> None:
    path = f"/api/v1/namespaces/{cluster.namespace}/pods"
    await cluster.request("DELETE", path, {"gracePeriodSeconds": 0})
    await pods.until(lambda: not pods.pods, "all are gone", timeout=60)


def _report(rates: Rates) -> None:
    figures = {name: round(statistics.median(each), 1) for name, each in rates.items()}
    ratios: dict[str, float] = {}
    for name in VERBS:
        ratios[f"echo/none, {name}"] = _ratio(rates[f"echo, {name}"], rates["none"])
        ratios[f"paddock/none, {name}"] = _ratio(rates[f"paddock, {name}"], rates["none"])
        ratios[f"paddock/echo, {name}"] = _ratio(rates[f"paddock, {name}"], rates[f"echo, {name}"])
    show("cluster throughput", unit="pods/s", rounds=ROUNDS, nodes=NODES, pods=PODS, **figures, ratios=ratios)


def _ratio(one: list[float], other: list[float]) -> float:
    """The median of the rounds' ratios: machines are shared, so only neighbours are compared."""
    return round(statistics.median(a / b for a, b in zip(one, other, strict=True)), 3)
