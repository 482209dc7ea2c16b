"""A control plane with nodes and Paddock, and the rate at which pods are bound there."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from e2e.cluster.client import Cluster, Object, node_of
from e2e.cluster.watching import PodCache
from e2e.programs.control_plane import ControlPlane, Scheduler
from e2e.programs.paddock import PaddockProcess
from e2e.stands.stand import CONFIG_MAP, INSTALLED, NAMESPACE, document, eventually, rendered
from e2e.stands.tenants import checksum

NODES = 500
QPS = 5_000
"""Calls a second that kube-scheduler may make: high, so that this is not what is measured."""

GATED: Mapping[str, Any] = {"schedulingGates": [{"name": "paddock.dev/queue"}]}
"""The spec of a pod behind Paddock's gate, as the shipped policy would leave it."""


class Arena:
    """A control plane with Paddock. ``url``: where kube-scheduler calls Paddock."""

    def __init__(self, cluster: Cluster, paddock: PaddockProcess, stack: AsyncExitStack) -> None:
        self.cluster, self.paddock, self.stack = cluster, paddock, stack
        self.url = paddock.url

    async def configure(self, tree: Mapping[str, Any]) -> None:
        """Put a document into force."""
        text = document(tree)
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text})

        async def in_force() -> bool:
            _, found = await self.paddock.get("/readyz?verbose")
            return f"configuration: {checksum(text)}" in found.splitlines()

        await eventually(in_force, "the document is in force", timeout=60)

    async def scheduler(self, extenders: list[Object]) -> Scheduler:
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"qps": QPS, "burst": QPS},
            "podInitialBackoffSeconds": 1,
            "podMaxBackoffSeconds": 1,
            "profiles": [{"schedulerName": "yunikorn"}],
            "extenders": extenders,
        }
        return await self.cluster.control_plane.scheduler(config)

    async def delete_pods(self, pods: PodCache) -> None:
        """Delete the pods of the cluster's namespace, and wait until they are gone."""
        path = f"/api/v1/namespaces/{self.cluster.namespace}/pods"
        await self.cluster.request("DELETE", path, {"gracePeriodSeconds": 0})
        await pods.until(lambda: not pods.pods, "all are gone", timeout=60)

    async def filter_calls(self) -> float:
        return await self.paddock.metric("paddock_verb_seconds_count", verb="filter")


class Finish:
    """The time at which each pod was bound, by name, as a watch shows it."""

    def __init__(self, pods: PodCache) -> None:
        self._pods = pods
        self.bound: dict[str, float] = {}
        pods.listeners.append(self._note)

    def _note(self, _kind: str, pod: Object) -> None:
        name = pod["metadata"]["name"]
        if node_of(pod) and name not in self.bound:
            self.bound[name] = time.perf_counter()

    async def until(self, count: int) -> None:
        await self._pods.until(lambda: len(self.bound) >= count, f"{count} are bound", timeout=120)

    @property
    def rate(self) -> float:
        """Pods a second, from the first to the last."""
        times = [*self.bound.values()]
        return (len(times) - 1) / (times[-1] - times[0])


@asynccontextmanager
async def arena(tree: Mapping[str, Any], *, nodes: int = NODES, cpu: str = "32") -> AsyncIterator[Arena]:
    """A new control plane with Paddock, installed as the kubeadm overlay ships it, until the block ends."""
    async with AsyncExitStack() as stack:
        control_plane = await stack.enter_async_context(ControlPlane())
        cluster = await stack.enter_async_context(Cluster(control_plane))
        for thing in rendered("kubeadm"):
            if thing["kind"] in INSTALLED:
                await cluster.apply(thing)
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document(tree)})
        cluster.namespace = await cluster.create_namespace()
        await cluster.add_nodes(nodes, cpu=cpu)
        paddock = PaddockProcess(control_plane.kubeconfig("paddock-certificate"), control_plane.folder)
        stack.push_async_callback(paddock.stop)
        await paddock.start()
        yield Arena(cluster, paddock, stack)


def extenders(url: str, verbs: tuple[str, ...]) -> list[Object]:
    """An extender entry for these verbs."""
    entry: Object = {"urlPrefix": url, "nodeCacheCapable": True, "httpTimeout": "30s"}
    entry |= {f"{verb}Verb": verb for verb in verbs}
    if "prioritize" in verbs:
        entry["weight"] = 1
    return [entry]
