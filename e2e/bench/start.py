"""(c) Start: list and index 5,000 nodes and 50,000 pods from a server on loopback, until ready."""

import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from e2e.bench.worlds.report import show
from extender.app import App, Options
from extender.http.server import Address
from extender.kube.connection.client import connect
from extender.telemetry.logs import configure_logs

NODES, PODS, PAGE = 5_000, 50_000, 500

_QUEUES = """
partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
""" + "\n".join(f"    - name: q{at}" for at in range(100))


def _node(at: int) -> dict[str, Any]:
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    conditions = [{"type": f"C{n}", "status": "False", "message": "x" * 60} for n in range(20)]
    return {
        "metadata": {
            "name": f"node-{at:05d}",
            "uid": f"n{at}",
            "resourceVersion": "1",
            "labels": _filler(20),
        },
        "spec": {},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": conditions},
    }


def _pod(at: int) -> dict[str, Any]:
    """A running pod of about 5 KB."""
    container = {
        "name": "main",
        "image": "example",
        "env": [{"name": f"V{n}", "value": "x" * 60} for n in range(30)],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    return {
        "metadata": {
            "name": f"pod-{at}",
            "namespace": "default",
            "uid": f"00000000-0000-4000-8000-{at:012d}",
            "resourceVersion": str(at + 1),
            "creationTimestamp": "2026-11-20T23:26:49Z",
            "labels": {"yunikorn.apache.org/queue": f"root.q{at % 100}", **_filler(5)},
            "annotations": _filler(10),
        },
        "spec": {
            "schedulerName": "yunikorn",
            "nodeName": f"node-{at % NODES:05d}",
            "containers": [container],
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}] * 4},
    }


def _filler(count: int) -> dict[str, str]:
    return {f"example.com/key-{n}": "v" * 40 for n in range(count)}


def _pages(items: list[dict[str, Any]]) -> list[bytes]:
    starts = range(0, max(len(items), 1), PAGE)
    pages = []
    for start in starts:
        more = str(start + PAGE) if start + PAGE < len(items) else ""
        metadata = {"resourceVersion": "100000", **({"continue": more} if more else {})}
        pages.append(json.dumps({"metadata": metadata, "items": items[start : start + PAGE]}).encode())
    return pages


def _serve(ready: Any) -> None:
    """Serve as a played API server in its own process: pages made beforehand, watches that stay silent."""
    lists = {
        "/api/v1/nodes": _pages([_node(at) for at in range(NODES)]),
        "/api/v1/pods": _pages([_pod(at) for at in range(PODS)]),
        "/api/v1/namespaces": _pages([{"metadata": {"name": "default", "resourceVersion": "1"}}]),
        "/apis/scheduling.k8s.io/v1/priorityclasses": _pages([]),
    }

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            stream = web.StreamResponse()
            await stream.prepare(request)
            await asyncio.sleep(600)
            return stream
        page = int(request.query.get("continue", "0")) // PAGE
        return web.Response(body=lists[request.path][page], content_type="application/json")

    async def main() -> None:
        app = web.Application()
        for path in lists:
            app.router.add_get(path, answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ready.send(runner.addresses[0][1])
        await asyncio.sleep(600)

    asyncio.run(main())


async def run() -> None:
    """Print seconds until ready, and RSS."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    try:
        port = await asyncio.to_thread(ours.recv)
        seconds = await _time_start(port)
    finally:
        server.terminate()
        await asyncio.to_thread(server.join)
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    show("start", nodes=NODES, pods=PODS, seconds=round(seconds, 2), rss_mb=rss)


async def _time_start(port: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        queues = Path(folder) / "queues.yaml"
        queues.write_text(_QUEUES)
        options = Options(Address("127.0.0.1", 0), Address("127.0.0.1", 0), queues=queues)
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text(json.dumps(_kubeconfig(port)))
        async with await connect(kubeconfig=str(kubeconfig)) as client:
            started = time.perf_counter()
            with open("/dev/null", "w") as nowhere:  # noqa: ASYNC230 - a device
                app = App(options, client, configure_logs(nowhere))
                running = asyncio.ensure_future(app.run())
                waiting = asyncio.ensure_future(app.synced.wait())
                await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
                took = time.perf_counter() - started
                waiting.cancel()
                running.cancel()
                await asyncio.gather(running, waiting, return_exceptions=True)
    return took


def _kubeconfig(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "played",
        "clusters": [{"name": "played", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "nobody", "user": {}}],
        "contexts": [{"name": "played", "context": {"cluster": "played", "user": "nobody"}}],
    }
