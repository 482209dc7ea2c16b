"""Filter calls beside a client that reads 1,000 nodes with 30,000 pods in a loop (REST-45).

The server has one core to itself, and each client is a process of its own on the others.
The system runs the reader only while the caller is idle, so no figure contains the reader's own work.
Readers differ: none, plain, gzip, a slow one, one that leaves half-way, and one of queues and users.
Rounds of 20 s take turns; a pod comes and goes every 20 ms, so that no body serves twice.
"""

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import aiohttp
import uvloop

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.settings import LedgerSettings
from core.queues.spec import PartitionSpec, QueueSpec
from core.resource import Resource
from core.workload.nodes.node import NodeFacts
from core.workload.pod import NamespaceFacts, PodFacts
from e2e.bench.worlds.report import percentiles, show
from e2e.bench.worlds.rig import filter_body, rig
from extender.configuration.reload import LiveConfiguration
from extender.engine.engine import Engine
from extender.host.garbage_collector import freeze_survivors
from extender.http.door import Door
from extender.http.endpoints import guarded_app
from extender.http.rest.service import RestService
from extender.http.server import Address, listen
from extender.http.verbs.listening import listen_to_verbs, verbs_server

NODES, PODS, APPS, NAMES = 1_000, 30_000, 500, 500
SECONDS = float(os.environ.get("PADDOCK_BENCH_SECONDS", "20"))
ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "1"))
CORE = 0
"""Core of the server."""

CALLS_APART = 0.005
CHURN_APART = 0.02
SAMPLES_APART = 0.005
NODES_PATH = "/ws/v1/partition/default/nodes"
USAGE_PATHS = ("/ws/v1/partition/default/queues", "/ws/v1/partition/default/usage/users", "/ws/v1/partitions")
READERS = ("none", "plain", "gzip", "slow", "leaving", "usage")
SIZE = Resource({"vcore": 100, "memory": 2**28, "pods": 1})


def _queue(path: str, *, leaf: bool) -> QueueSpec:
    return QueueSpec(
        path=path,  # type: ignore[arg-type]
        parent=path.rpartition(".")[0] or None,  # type: ignore[arg-type]
        is_leaf=leaf,
        max=None,
        guaranteed=None,
        max_applications=0,
        properties={},
        submit_acl="*",
        admin_acl="",
    )


def _pod(at: int) -> PodFacts:
    return PodFacts(
        uid=PodUid(f"00000000-0000-4000-8000-{at:012d}"),
        namespace="default",
        name=f"running-{at}",
        size=SIZE,
        version=1,
        scheduler_name="yunikorn",
        node=NodeName(f"node-{at % NODES:05d}"),
        app_id=f"app-{at % APPS}",
        queue=f"root.q{at % 20}",
        labels={"app": "bench", "yunikorn.apache.org/app-id": f"app-{at % APPS}"},
    )


def _fill(engine: Engine) -> None:
    queues = (_queue("root", leaf=False), *(_queue(f"root.q{at}", leaf=True) for at in range(20)))
    engine.learn(on.Configured(PartitionSpec("default", queues), LedgerSettings()))
    engine.learn(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("default")))
    engine.learn(on.ObjectsListed(on.NAMESPACES, frozenset({"default"})))
    size = Resource({"vcore": 32_000, "memory": 2**37, "pods": 110})
    names = [NodeName(f"node-{at:05d}") for at in range(NODES)]
    for name in names:
        engine.learn(on.ObjectObserved(on.NODES, NodeFacts(name, size)))
    engine.learn(on.ObjectsListed(on.NODES, frozenset(names)))
    for at in range(PODS):
        engine.learn(on.PodObserved(_pod(at)))
    engine.learn(on.PodsListed(frozenset(_pod(at).uid for at in range(PODS))))


# -- the server, pinned to one core --------------------------------------------------------------------------


async def _serve() -> None:
    """Print both ports, serve until a line comes in, then print stalls and memory."""
    os.sched_setaffinity(0, {CORE})
    services: list[RestService] = []
    wired = rig(settled=lambda uids, now: services[0].settled(uids, now))
    engine = wired.engine
    configuration = LiveConfiguration(
        engine, overrides={}, on_refused=lambda *_: None, on_applied=lambda *_: None
    )
    service = RestService(
        engine,
        configuration,
        clock=time.time,
        version="bench",
        validate=lambda _: {},
        unready=lambda: "",
        on_bug=lambda *each: print(each, file=sys.stderr),
    )
    services.append(service)
    _fill(engine)
    await service.check_health()
    freeze_survivors()
    verbs = verbs_server({"filter": wired.verbs.filter}, measure=wired.measure, on_bug=lambda *_: None)
    verbs_at = await listen_to_verbs(verbs, Address("127.0.0.1", 0))
    rest_at = await listen(guarded_app(service.endpoints(), Door()), Address("127.0.0.1", 0))
    stalls: list[float] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    tasks = [asyncio.create_task(_watch(stalls)), asyncio.create_task(_churn(engine))]
    print(json.dumps([verbs_at.addresses[0][1], rest_at.addresses[0][1]]), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    for task in tasks:
        task.cancel()
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "stall_ms": round(max(stalls) * 1e3, 2),
        "peak_mb": used.ru_maxrss // 1024,
        "core_taken_away": used.ru_nivcsw - before,
    }
    print(json.dumps(found), flush=True)


async def _watch(stalls: list[float]) -> None:
    """Note how late the event loop was. Its own clock counts whole milliseconds."""
    while True:
        due = time.perf_counter() + SAMPLES_APART
        await asyncio.sleep(SAMPLES_APART)
        stalls.append(time.perf_counter() - due)


async def _churn(engine: Engine) -> None:
    at = PODS
    while True:
        await asyncio.sleep(CHURN_APART)
        pod = _pod(at)
        engine.learn(on.PodObserved(pod))
        engine.learn(on.PodDeleted(pod.uid))
        at += 1


# -- the clients ---------------------------------------------------------------------------------------------


def _leave_core() -> None:
    """Let this process use any core but the server's, if there is one."""
    others = os.sched_getaffinity(0) - {CORE}
    if others:
        os.sched_setaffinity(0, others)


async def _read(kind: str, port: int) -> int:
    """Read in a loop; the number of bodies that were begun."""
    _leave_core()
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    paths = USAGE_PATHS if kind == "usage" else (NODES_PATH,)
    headers = {"Accept-Encoding": "gzip" if kind == "gzip" else "identity"}
    until, bodies = time.monotonic() + SECONDS, 0
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        while time.monotonic() < until:
            url = f"http://127.0.0.1:{port}{paths[bodies % len(paths)]}"
            async with session.get(url, headers=headers) as response:
                await _take(response, kind, leaves=kind == "leaving" and bodies % 2 == 1)
            bodies += 1
    return bodies


async def _take(response: aiohttp.ClientResponse, kind: str, *, leaves: bool) -> None:
    async for _ in response.content.iter_chunked(2**16):
        if kind == "slow":
            await asyncio.sleep(0.01)
        if leaves:
            response.close()
            return


async def _call(port: int) -> dict[str, Any]:
    """Filter calls, each at its time. What holds one up is in its time, and in that of those after it."""
    _leave_core()
    names = [f"node-{at:05d}" for at in range(NAMES)]
    queues = [f"root.q{at % 20}" for at in range(50)]
    asks = [(f"ask-{at}", queue) for at, queue in enumerate(queues)]
    bodies = [filter_body(name, name, queue, names, app="a") for name, queue in asks]
    took: list[float] = []
    began = due = time.perf_counter()
    async with aiohttp.ClientSession() as session:
        while due - began < SECONDS:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            url = f"http://127.0.0.1:{port}/v1/filter"
            async with session.post(url, data=bodies[len(took) % 50]) as answer:
                await answer.read()
            took.append(time.perf_counter() - due)
            due += CALLS_APART
    return {"calls": len(took), **percentiles(took)}


PARTS: Mapping[str, Callable[[list[str]], Any]] = {
    "serve": lambda _: _serve(),
    "read": lambda given: _read(given[0], int(given[1])),
    "call": lambda given: _call(int(given[0])),
}


async def _started(*arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "e2e.bench.beside.answers", *arguments]
    return await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)


async def _line(process: asyncio.subprocess.Process) -> Any:
    assert process.stdout is not None
    return json.loads(await process.stdout.readline())


async def _round(kind: str) -> dict[str, Any]:
    """Figures of one server beside one kind of reader."""
    server = await _started("serve")
    assert server.stdin is not None
    verbs, rest = await _line(server)
    caller = await _started("call", str(verbs))
    reader = await _started("read", kind, str(rest)) if kind != "none" else None
    figures = await _line(caller)
    bodies = await _line(reader) if reader is not None else 0
    server.stdin.write(b"\n")
    await server.stdin.drain()
    ended = await _line(server)
    for each in (server, caller, *((reader,) if reader is not None else ())):
        await each.wait()
    return {"bodies": bodies, **figures, **ended}


async def run() -> None:
    """Print microseconds of filter calls, the longest stall and the peak of memory by kind of reader."""
    rounds: dict[str, list[dict[str, Any]]] = {kind: [] for kind in READERS}
    for _ in range(ROUNDS):
        for kind in READERS:
            rounds[kind].append(await _round(kind))
            show("answers", unit="us", reader=kind, **rounds[kind][-1])
    show(
        "answers against none",
        rounds=ROUNDS,
        **{kind: _against(rounds[kind], rounds["none"]) for kind in READERS if kind != "none"},
    )


def _against(those: list[dict[str, Any]], without: list[dict[str, Any]]) -> dict[str, float]:
    """Differences in milliseconds and ratios of medians, the longest stall and the most memory.

    ``core_taken_away``: how often the system ran another process on the server's core instead.
    """
    found: dict[str, float] = {}
    for name in ("p50", "p99", "max"):
        with_reader, alone = (median(each[name] for each in rounds) for rounds in (those, without))
        found[f"{name}_more_ms"] = round((with_reader - alone) / 1000, 2)
        found[f"{name}_ratio"] = round(with_reader / alone, 2)
    for name in ("stall_ms", "core_taken_away"):
        found[name] = max(each[name] for each in those)
    found["stall_more_ms"] = round(found["stall_ms"] - max(each["stall_ms"] for each in without), 2)
    found["peak_more_mb"] = max(each["peak_mb"] for each in those) - max(each["peak_mb"] for each in without)
    return found


def main(arguments: list[str]) -> None:
    """Be one of the processes."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found = runner.run(PARTS[arguments[0]](arguments[1:]))
    if found is not None:
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
