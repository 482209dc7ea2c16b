"""Requests of a real kube-scheduler, recorded for the contract tests.

`python -m e2e.recording` writes a folder of files for the version of the programs that tests would run.
The extender here decides nothing: it prefers the first node, and accepts kube-scheduler's victims.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from e2e.cluster.client import Cluster, Object, path_of
from e2e.programs.binaries import ROOT, version_of_programs
from e2e.programs.control_plane import ControlPlane, Scheduler
from e2e.stands.stand import eventually

PAYLOADS = ROOT / "tests" / "contract" / "payloads"
VERBS = ("filter", "prioritize", "preempt", "bind")
SHAPES = {"names": True, "nodes": False}
"""Folders, and `nodeCacheCapable` of the extender that is asked."""
NODES = ("n1", "n2")
DRIVER, URGENT = "spark-driver", "urgent"
_DOMAIN = "yunikorn.apache.org/"
_GROUPS = [
    {"name": name, "minMember": members, "minResource": {"cpu": "1", "memory": memory}}
    for name, members, memory in (("driver", 1, "1Gi"), ("executor", 3, "2Gi"))
]


class Recorder:
    """An extender that notes the first body of each verb that tells of a chosen pod."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.recorded: dict[str, Object] = {}

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve the verbs. Yields the address."""
        app = web.Application(client_max_size=2**24)
        for verb in VERBS:
            app.router.add_post(f"/{verb}", getattr(self, f"_{verb}"))
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def _note(self, verb: str, pod: str, request: web.Request) -> Object:
        body: Object = await request.json()
        named = body["PodName"] if verb == "bind" else body["Pod"]["metadata"]["name"]
        if named == pod:
            self.recorded.setdefault(verb, body)
        return body

    async def _filter(self, request: web.Request) -> web.Response:
        body = await self._note("filter", DRIVER, request)
        return web.json_response({"Nodes": body["Nodes"], "NodeNames": body["NodeNames"]})

    async def _prioritize(self, request: web.Request) -> web.Response:
        await self._note("prioritize", DRIVER, request)
        return web.json_response([{"Host": NODES[0], "Score": 10}])

    async def _preempt(self, request: web.Request) -> web.Response:
        body = await self._note("preempt", URGENT, request)
        return web.json_response({"NodeNameToMetaVictims": _by_uid(body)})

    async def _bind(self, request: web.Request) -> web.Response:
        body = await self._note("bind", DRIVER, request)
        target = {"apiVersion": "v1", "kind": "Node", "name": body["Node"]}
        meta = {"name": body["PodName"], "uid": body["PodUID"]}
        path = f"{path_of('Pod', body['PodNamespace'], body['PodName'])}/binding"
        await self._cluster.request("POST", path, {"metadata": meta, "target": target})
        return web.json_response({})


def _by_uid(body: Object) -> Object:
    """Victims of a preempt body, as an extender answers them."""
    if body["NodeNameToMetaVictims"]:
        return dict(body["NodeNameToMetaVictims"])
    return {
        node: {"Pods": [{"UID": pod["metadata"]["uid"]} for pod in each["Pods"]], "NumPDBViolations": 0}
        for node, each in body["NodeNameToVictims"].items()
    }


async def record(folder: Path) -> None:
    """Write the bodies of each shape into a folder of its own below ``folder``."""
    for shape, is_cached in SHAPES.items():
        async with ControlPlane() as running, Cluster(running) as cluster:
            recorded = await _played(running, cluster, cached=is_cached)
        place = folder / shape
        place.mkdir(parents=True, exist_ok=True)
        for verb, body in recorded.items():
            (place / f"{verb}.json").write_text(json.dumps(body, indent=1))


async def _played(running: ControlPlane, cluster: Cluster, *, cached: bool) -> dict[str, Object]:
    """Let a pod be placed, and another one preempt pods of both nodes."""
    for name, value in (("low", 10), ("mid", 100), ("high", 1000)):
        await cluster.create_priority_class(name, value)
    for name in await cluster.add_nodes(len(NODES), cpu="4", memory="16Gi"):
        spec = {"priorityClassName": "low", "nodeName": name}
        await cluster.create_pod(f"low-{name}", cpu="1500m", spec=spec)
    recorder = Recorder(cluster)
    async with recorder.serving() as url:
        scheduler = await running.scheduler(_configuration(url, cached=cached))
        await cluster.create(_driver(cluster))
        await eventually(lambda: _knows(scheduler, pods=len(NODES) + 1), "the driver is bound", timeout=60)
        spec = {"priorityClassName": "high"}
        await cluster.create_pod(URGENT, cpu="3", scheduler_name="default-scheduler", spec=spec)
        await eventually(lambda: _has(recorder, "preempt"), "pods are preempted", timeout=60)
        await scheduler.stop()
    return recorder.recorded


async def _has(recorder: Recorder, verb: str) -> bool:
    return verb in recorder.recorded


async def _knows(scheduler: Scheduler, *, pods: int) -> bool:
    """True once kube-scheduler has so many pods on nodes, and read all of them from the API server.

    A pod that it has bound and not read yet would be a victim without the condition that binding sets.
    """
    text = await scheduler.metrics()
    return all(
        f'scheduler_cache_size{{type="{kind}"}} {count}\n' in text
        for kind, count in (("pods", pods), ("assumed_pods", 0))
    )


def _configuration(url: str, *, cached: bool) -> Object:
    verbs = {f"{verb}Verb": verb for verb in VERBS}
    extender = {"urlPrefix": url, "weight": 1, "nodeCacheCapable": cached, "httpTimeout": "30s", **verbs}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [extender],
    }


def _driver(cluster: Cluster) -> Object:
    """A pod with all that Paddock reads: queue, user, task groups, init containers and sidecars."""
    made = cluster.pod(
        DRIVER,
        queue="root.tenants.blue",
        app="spark-0001",
        scheduler_name="default-scheduler",
        labels={"app": "spark", "spark-role": "driver"},
        annotations={
            f"{_DOMAIN}schedulingPolicyParameters": "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard",
            f"{_DOMAIN}task-group-name": "driver",
            f"{_DOMAIN}task-groups": json.dumps(_GROUPS),
            f"{_DOMAIN}user.info": json.dumps({"user": "alice", "groups": ["analysts"]}),
        },
        grace=30,
    )
    near = {
        "labelSelector": {"matchLabels": {"app": "spark"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    apart = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": near}]}
    made["spec"] |= {
        "priorityClassName": "mid",
        "affinity": {"podAntiAffinity": apart},
        "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "spark", "effect": "NoSchedule"}],
        "initContainers": [
            _container("init", "busybox", "200m", "64Mi"),
            {**_container("log", "fluentbit", "50m", "32Mi"), "restartPolicy": "Always"},
        ],
        "containers": [
            {
                **_container("spark", "spark:4", "1", "1Gi", limits={"memory": "1Gi"}),
                "ports": [{"containerPort": 4040}],
                "env": [{"name": "SPARK_ROLE", "value": "driver"}],
            },
            _container("sidecar", "envoy", "100m", "128Mi"),
        ],
    }
    return made


def _container(name: str, image: str, cpu: str, memory: str, **more: Any) -> Object:
    requests = {"cpu": cpu, "memory": memory}
    return {"name": name, "image": image, "resources": {"requests": requests, **more}}


def main() -> None:
    """Replace the recorded requests of the version that the programs have."""
    folder = PAYLOADS / f"kube-scheduler-{version_of_programs()}"
    shutil.rmtree(folder, ignore_errors=True)
    asyncio.run(record(folder))
    print(f"recorded in {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
