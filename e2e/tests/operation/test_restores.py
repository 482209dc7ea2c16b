"""A restore of etcd under a running Paddock, where versions of the real API server begin again (F-8)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from e2e.cluster.client import Cluster, path_of
from e2e.programs.control_plane import ControlPlane, Scheduler
from e2e.programs.paddock import PaddockProcess
from e2e.stands.stand import (
    CONFIG_MAP,
    NAMESPACE,
    document,
    eventually,
    eventually_equal,
    install,
    scheduler_config,
)

HELD = {"schedulingGates": [{"name": "example.com/held"}]}
NAMES = ("stays", "doomed", "late", "new-1", "new-2")


@pytest.mark.timeout(300)
async def test_a_restored_cluster_is_counted_as_it_is() -> None:
    """A deleted pod runs again, two were never made, and a bound one is not bound any more."""
    async with _bare() as (own, paddock, scheduler):
        for name in ("stays", "doomed"):
            await own.create_pod(name, queue="root.a")
        await own.create_pod("late", queue="root.a", spec=HELD)
        await eventually_equal(lambda: _charged(paddock, own), ["doomed", "stays"], "two run")
        await own.control_plane.save_etcd()

        late = path_of("Pod", own.namespace, "late")
        await own.patch(late, {"spec": {"schedulingGates": None}})
        await own.delete_pod("doomed")
        for name in ("new-1", "new-2"):
            await own.create_pod(name, queue="root.a")
        four = ["late", "new-1", "new-2", "stays"]
        await eventually_equal(lambda: _charged(paddock, own), four, "four run", timeout=60)
        for at in range(30):
            await own.patch(late, {"metadata": {"annotations": {"edited": str(at)}}})

        await own.control_plane.restore_etcd()
        await scheduler.restart()
        await eventually_equal(
            lambda: _charged(paddock, own), ["doomed", "stays"], "as restored", timeout=150
        )
        assert await _allocated(paddock) == 2000

        await own.patch(late, {"spec": {"schedulingGates": None}})
        for name in ("more-1", "more-2"):
            await own.create_pod(name, queue="root.a")
        await eventually_equal(lambda: _bound(own), 4, "the queue is full", timeout=60)
        await eventually_equal(lambda: _allocated(paddock), 4000, "and Paddock knows")
        await own.create_pod("too-many", queue="root.a")
        await eventually(lambda: _refused(paddock, own, "too-many"), "the next one waits")
        assert await _bound(own) == 4
        assert await paddock.drifts() == []


@asynccontextmanager
async def _bare() -> AsyncIterator[tuple[Cluster, PaddockProcess, Scheduler]]:
    """A control plane without watchers, which would not survive the restart."""
    async with ControlPlane() as control_plane, Cluster(control_plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        await install(cluster, "kubeadm")
        tree = {"a": {"max": {"vcore": "4"}}}
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(tree)})
        await cluster.add_nodes(1)
        paddock = PaddockProcess(
            control_plane.kubeconfig("paddock-certificate"), control_plane.folder, arguments=["--lease="]
        )
        try:
            await paddock.start()
            config = scheduler_config("kubeadm/scheduler-config-plain.yaml", paddock.url)
            yield cluster, paddock, await control_plane.scheduler(config)
        finally:
            await paddock.stop()


async def _allocated(paddock: PaddockProcess) -> float:
    return await paddock.metric("paddock_queue_allocated", queue="root.a", resource="vcore")


async def _charged(paddock: PaddockProcess, cluster: Cluster) -> list[str]:
    """The pods that Paddock takes to be on a node."""
    found = []
    for name in NAMES:
        status, text = await paddock.get(f"/debug/pods/{cluster.namespace}/{name}")
        if status == 200 and json.loads(text)["node"]:
            found.append(name)
    return sorted(found)


async def _refused(paddock: PaddockProcess, cluster: Cluster, name: str) -> bool:
    _, text = await paddock.get(f"/debug/pods/{cluster.namespace}/{name}")
    return "QuotaExceeded" in text


async def _bound(cluster: Cluster) -> int:
    pods = await cluster.request("GET", path_of("Pod", cluster.namespace))
    return sum(bool(pod["spec"].get("nodeName")) for pod in pods["items"])
