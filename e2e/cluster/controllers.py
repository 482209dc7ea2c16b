"""Played controllers, in place of the controller-manager, which does not run here."""

import asyncio
from typing import Any

from e2e.cluster.client import Cluster, Object, is_terminal


class PlayedController:
    """A ReplicaSet or a Job that replaces each pod of its own once: when it is deleted, or when it failed.

    ``created``: names of all its pods, in the order of their creation. Use it as a listener of a `PodCache`.
    """

    def __init__(self, cluster: Cluster, kind: str, name: str, **pod: Any) -> None:
        version = {"ReplicaSet": "apps/v1", "Job": "batch/v1"}[kind]
        self._owner = {
            "apiVersion": version,
            "kind": kind,
            "name": name,
            "uid": f"uid-of-{name}",
            "controller": True,
        }
        self._cluster = cluster
        self._name = name
        self._pod = pod
        self._replaced: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self.created: list[str] = []

    async def scale(self, count: int) -> None:
        """Create that many pods."""
        for _ in range(count):
            await self._create()

    async def _create(self) -> None:
        name = f"{self._name}-{len(self.created)}"
        self.created.append(name)
        pod = self._cluster.pod(name, **self._pod)
        pod["metadata"]["ownerReferences"] = [self._owner]
        await self._cluster.create(pod)

    def on_pod(self, kind: str, pod: Object) -> None:
        """Replace a pod of its own that has ended."""
        meta = pod["metadata"]
        is_own = meta["name"] in self.created and meta["namespace"] == self._cluster.namespace
        if is_own and meta["uid"] not in self._replaced and (kind == "DELETED" or is_terminal(pod)):
            self._replaced.add(meta["uid"])
            self._tasks.append(asyncio.create_task(self._create()))
