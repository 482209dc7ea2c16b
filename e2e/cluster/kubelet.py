"""A kubelet for the run's nodes: runs bound pods, refuses those that do not fit, ends deleted ones.

A node that the run did not make has a kubelet of its own, and its pods belong to others.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from e2e.cluster.client import (
    RUN_FOR,
    RUN_LABEL,
    ApiFailure,
    Cluster,
    Object,
    is_terminal,
    node_of,
    path_of,
    was_bound,
)
from e2e.cluster.sizing import Amounts, amounts_of, size_of
from e2e.cluster.watching import LISTED_IN, watch

AT_ONCE = 48


class StubKubelet:
    """The kubelet.

    ``refused``: names of pods that were bound to a node and did not fit it. Pods that were created with their
    node do not count. ``hold``: leave bound pods as they are.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.refused: list[str] = []
        self.hold = False
        self._nodes: dict[str, Amounts] = {}
        self._ours: set[str] = set()
        self._early: dict[str, dict[str, Object]] = {}
        self._on_node: dict[str, dict[str, Amounts]] = {}
        self._started: set[str] = set()
        self._ending: set[str] = set()
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._watches: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        listed = asyncio.Event()
        session = self._cluster.session

        def on_pods(pods: list[Object]) -> None:
            for pod in pods:
                self._on_pod("ADDED", pod)
            listed.set()

        self._watches = [
            self._spawn(watch(session, "/api/v1/nodes", self._on_nodes, self._on_node_event)),
            self._spawn(watch(session, "/api/v1/pods", on_pods, self._on_pod)),
        ]
        await asyncio.wait_for(listed.wait(), LISTED_IN)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End the kubelet. Raises what ended a watch: a kubelet with a gap proves nothing."""
        tasks = [*self._tasks, *self._watches]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in self._watches:
            if not task.cancelled():
                task.result()

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _on_nodes(self, nodes: list[Object]) -> None:
        for node in nodes:
            self._on_node_event("ADDED", node)

    def _on_node_event(self, kind: str, node: Object) -> None:
        metadata, allocatable = node["metadata"], node.get("status", {}).get("allocatable")
        name = metadata["name"]
        if kind == "DELETED":
            self._nodes.pop(name, None)
        elif allocatable and metadata.get("labels", {}).get(RUN_LABEL) == self._cluster.run:
            self._nodes[name] = amounts_of(allocatable)
            self._ours.add(name)
            for pod in self._early.pop(name, {}).values():
                self._on_pod("ADDED", pod)

    def _on_pod(self, kind: str, pod: Object) -> None:
        uid, node = pod["metadata"]["uid"], node_of(pod)
        if kind == "DELETED" or is_terminal(pod):
            self._on_node.get(node, {}).pop(uid, None)
        if kind == "DELETED":
            self._early.get(node, {}).pop(uid, None)
        elif node and node not in self._ours:
            self._early.setdefault(node, {})[uid] = pod
        elif pod["metadata"].get("deletionTimestamp"):
            if node and uid not in self._ending:
                self._ending.add(uid)
                self._spawn(self._end(pod))
        elif node and not is_terminal(pod) and uid not in self._started and not self.hold:
            self._started.add(uid)
            self._admit(pod, node)

    def _admit(self, pod: Object, node: str) -> None:
        """Admit a pod at once.

        Its end may be the next event, and a count made after that would stay for ever.
        """
        size = size_of(pod)
        short = self._short(node, size)
        if short is None:
            self._on_node.setdefault(node, {})[pod["metadata"]["uid"]] = size
            self._spawn(self._run(pod))
        else:
            if was_bound(pod):
                self.refused.append(pod["metadata"]["name"])
            refusal = {"phase": "Failed", "reason": f"OutOf{short}", "message": "does not fit"}
            self._spawn(self._status(pod, refusal))

    async def _run(self, pod: Object) -> None:
        await self._status(pod, _running(pod))
        seconds = pod["metadata"].get("annotations", {}).get(RUN_FOR)
        if seconds is not None:
            await asyncio.sleep(float(seconds))
            await self._status(pod, {"phase": "Succeeded"})

    def _short(self, node: str, size: Amounts) -> str | None:
        """The first resource that is short. A resource that the node does not publish is ignored."""
        held = self._on_node.get(node, {}).values()
        for name, cap in self._nodes.get(node, {}).items():
            if size.get(name, 0) and sum(each.get(name, 0) for each in held) + size[name] > cap:
                return name
        return None

    async def _end(self, pod: Object) -> None:
        # From now on, as the kubelet counts it (pkg/kubelet/pod_workers.go). The deletion time is rounded
        # down to a second, so until then a pod might have none of the second that it was given.
        await asyncio.sleep(pod["metadata"].get("deletionGracePeriodSeconds", 0))
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        await self._call("DELETE", _path(pod), body)

    async def _status(self, pod: Object, status: Object) -> None:
        body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        await self._call("PATCH", _path(pod) + "/status", body)

    async def _call(self, method: str, path: str, body: Object) -> None:
        """Make a call for a pod, unless it is gone meanwhile."""
        kind = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
        async with self._gate:
            with suppress(ApiFailure):
                await self._cluster.request(method, path, body, content_type=kind)


def _path(pod: Object) -> str:
    return path_of("Pod", pod["metadata"]["namespace"], pod["metadata"]["name"])


def _running(pod: Object) -> Object:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kinds = ("Initialized", "ContainersReady", "Ready")
    return {
        "phase": "Running",
        "startTime": stamp,
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": stamp} for kind in kinds],
    }
