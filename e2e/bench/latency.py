"""(b) Verb latency: 5,000 nodes, 50,000 running pods and 1,000 queues in memory.

filter with 500 names, in process and over loopback; prioritize with up to all names, in process.
"""

import asyncio
import gc
import random
import resource
import time
from collections.abc import Callable
from typing import Any

import aiohttp

from core.decisions.decision import Scored
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Limit, Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts
from e2e.bench.worlds.report import percentiles, show
from e2e.bench.worlds.rig import filter_body, rig
from extender.engine.engine import Engine
from extender.http.server import Address
from extender.http.verbs.listening import listen_to_verbs, verbs_server
from extender.verbs.pure import PureVerbs
from extender.wire.calls import extender_v1 as v1

NODES, PODS, TEAMS, LEAVES, NAMES = 5_000, 50_000, 20, 49, 500
CALLS = 3_000
SCORED = (100, 1_000, 5_000)
SCORE_CALLS = 300


def _queue(path: str, *, leaf: bool, cap: int | None) -> QueueSpec:
    parent, _, _ = path.rpartition(".")
    return QueueSpec(
        path=path,  # type: ignore[arg-type]
        parent=parent or None,  # type: ignore[arg-type]
        is_leaf=leaf,
        max=Limit({"vcore": cap, "memory": cap * 2**22}) if cap else None,
        guaranteed=None,
        max_applications=0,
        properties={},
        submit_acl="*",
        admin_acl="",
    )


def _partition() -> PartitionSpec:
    """1,000 queues: root, 20 teams, and 49 leaves each, less one.

    The leaf ``full`` of each team takes nothing.
    """
    queues = [_queue("root", leaf=False, cap=None)]
    for team in range(TEAMS):
        queues.append(_queue(f"root.t{team}", leaf=False, cap=10_000_000))
        for leaf in range(LEAVES):
            queues.append(_queue(f"root.t{team}.q{leaf}", leaf=True, cap=1 if leaf == 0 else 5_000_000))
    return PartitionSpec("default", tuple(queues))


def fill(engine: Engine) -> None:
    """Put the world into an engine that is new."""
    engine.learn(on.Configured(_partition(), LedgerSettings()))
    engine.learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
    engine.learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
    size = Resource({"vcore": 32_000, "memory": 2**37, "pods": 110})
    for at in range(NODES):
        engine.learn(on.ObjectObserved(on.NODES, NodeFacts(NodeName(f"node-{at:05d}"), size)))
    engine.learn(on.ObjectsListed(on.NODES, frozenset(NodeName(f"node-{at:05d}") for at in range(NODES))))
    small = Resource({"vcore": 100, "memory": 2**28, "pods": 1})
    uids = [PodUid(f"00000000-0000-4000-8000-{at:012d}") for at in range(PODS)]
    for at, uid in enumerate(uids):
        engine.learn(on.PodObserved(_running(uid, at, small)))
    engine.learn(on.PodsListed(frozenset(uids)))
    gc.collect()
    gc.freeze()


def _running(uid: PodUid, at: int, size: Resource) -> PodFacts:
    return PodFacts(
        uid=uid,
        namespace="default",
        name=f"running-{at}",
        size=size,
        version=1,
        scheduler_name="yunikorn",
        node=NodeName(f"node-{at % NODES:05d}"),
        app_id=f"app-{at % 5_000}",
        queue=f"root.t{at % TEAMS}.q{1 + at % (LEAVES - 1)}",
    )


def bodies_of(*, refused: bool) -> list[bytes]:
    """Bodies with 500 names each, rotated as kube-scheduler does."""
    rng = random.Random(7)
    bodies = []
    for at in range(200):
        start = rng.randrange(NODES)
        names = [f"node-{(start + step) % NODES:05d}" for step in range(NAMES)]
        bodies.append(_body(at, f"root.t{at % TEAMS}.q{0 if refused else 1 + at % (LEAVES - 1)}", names))
    return bodies


def _body(at: int, queue: str, names: list[str]) -> bytes:
    name = f"ask-{queue}-{at}"
    return filter_body(name, name, queue, names, app=name)


async def run() -> None:
    """Print p50 and p99 in microseconds: filter accepted and refused, prioritize by its names; and RSS."""
    wired = rig()
    engine, verbs = wired.engine, wired.verbs
    fill(engine)
    figures: dict[str, Any] = {}
    for kind, refused in (("accepted", False), ("refused", True)):
        bodies = bodies_of(refused=refused)
        figures[f"in_process_{kind}"] = await _in_process(verbs, bodies)
        figures[f"loopback_{kind}"] = await _over_loopback(verbs, wired.measure, bodies)
    figures["prioritize"] = _prioritized(engine, verbs)
    figures["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    show("verb latency", unit="us", nodes=NODES, pods=PODS, queues=len(engine.view.tree), **figures)


async def _in_process(verbs: PureVerbs, bodies: list[bytes]) -> dict[str, float]:
    took = []
    for at in range(CALLS):
        body = bodies[at % len(bodies)]
        start = time.perf_counter()
        verbs.filter(body)
        took.append(time.perf_counter() - start)
        if at % 50 == 0:
            await asyncio.sleep(0)
    return percentiles(took)


async def _over_loopback(verbs: PureVerbs, measure: Any, bodies: list[bytes]) -> dict[str, float]:
    app = verbs_server({"filter": verbs.filter}, measure=measure, on_bug=lambda *_: None)
    runner = await listen_to_verbs(app, Address("127.0.0.1", 0))
    port = runner.addresses[0][1]
    took = []
    async with aiohttp.ClientSession() as session:
        for at in range(CALLS):
            start = time.perf_counter()
            async with session.post(
                f"http://127.0.0.1:{port}/v1/filter", data=bodies[at % len(bodies)]
            ) as answer:
                await answer.read()
            took.append(time.perf_counter() - start)
    await runner.cleanup()
    return percentiles(took)


def _prioritized(engine: Engine, verbs: PureVerbs) -> dict[int, dict[str, float]]:
    """Times of prioritize by the number of names: the whole call, and the medians of its three parts."""
    engine.learn(on.Configured(_partition(), LedgerSettings(scores_nodes=True)))
    rng = random.Random(7)
    for at in range(NODES):
        _bind(engine, f"uneven-{at}", at, rng)
    return {count: _prioritized_of(count, engine, verbs, rng) for count in SCORED}


def _prioritized_of(count: int, engine: Engine, verbs: PureVerbs, rng: random.Random) -> dict[str, float]:
    """Times as in a scheduling cycle: each call follows the pod's filter call, and a pod was bound before."""
    whole, parts = [], []
    for at in range(SCORE_CALLS):
        body = _score_body(rng, at, count)
        for turn in ("whole", "parts"):
            _bind(engine, f"{turn}-{count}-{at}", 7 * at, rng)
            verbs.filter(body)
            if turn == "whole":
                whole.append(_seconds(verbs.prioritize, body))
            else:
                parts.append(_seconds_of_parts(engine, body))
    medians = [percentiles(list(part))["p50"] for part in zip(*parts, strict=True)]
    return percentiles(whole) | dict(zip(("decode", "decide", "encode"), medians, strict=True))


def _bind(engine: Engine, name: str, at: int, rng: random.Random) -> None:
    """Bind a pod of some size to a node. Equally full nodes would be sorted by name only."""
    size = Resource({"vcore": rng.randrange(1, 20_000), "memory": rng.randrange(2**34), "pods": 1})
    engine.learn(on.PodObserved(_running(PodUid(name), at, size)))


def _score_body(rng: random.Random, at: int, count: int) -> bytes:
    """A body with names in no order, as kube-scheduler checks nodes in parallel."""
    names = [f"node-{each:05d}" for each in rng.sample(range(NODES), count)]
    return _body(at, f"root.t{at % TEAMS}.q{1 + at % (LEAVES - 1)}", names)


def _seconds(call: Callable[[bytes], bytes], body: bytes) -> float:
    start = time.perf_counter()
    call(body)
    return time.perf_counter() - start


def _seconds_of_parts(engine: Engine, body: bytes) -> tuple[float, float, float]:
    start = time.perf_counter()
    request = v1.node_request_from(body)
    names = request.node_name_set()
    decoded = time.perf_counter()
    scored = engine.score(PodUid(request.pod.metadata.uid), names)
    decided = time.perf_counter()
    assert isinstance(scored, Scored)
    v1.priorities(scored.bands, plain=request.is_plain)
    encoded = time.perf_counter()
    return decoded - start, decided - decoded, encoded - decided
