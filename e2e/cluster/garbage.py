"""A garbage collector for pods that pods own, in place of the controller-manager, which does not run here."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.cluster.watching import LISTED_IN, watch


class GarbageCollector:
    """A collector that deletes every pod whose owner is a pod that no longer exists."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._there: set[str] = set()
        self._owned: dict[str, dict[str, Object]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None]

    async def __aenter__(self) -> Self:
        listed = asyncio.Event()

        def on_list(pods: list[Object]) -> None:
            self._there = {_uid(pod) for pod in pods}
            for pod in pods:
                self._on_pod("ADDED", pod)
            listed.set()

        self._watch = asyncio.create_task(watch(self._cluster.session, path_of("Pod"), on_list, self._on_pod))
        await asyncio.wait_for(listed.wait(), LISTED_IN)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End the collector. Raises what ended its watch: a collector with a gap proves nothing."""
        tasks = [self._watch, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not self._watch.cancelled():
            self._watch.result()

    def _on_pod(self, kind: str, pod: Object) -> None:
        """Take in a pod. An owner is always seen before its pods, since its uid is not known any sooner."""
        uid = _uid(pod)
        if kind == "DELETED":
            self._there.discard(uid)
            for owner in _owners(pod):
                self._owned.get(owner, {}).pop(uid, None)
            for owned in self._owned.pop(uid, {}).values():
                self._collect(owned)
            return
        self._there.add(uid)
        for owner in _owners(pod):
            if owner in self._there:
                self._owned.setdefault(owner, {})[uid] = pod
            elif kind == "ADDED":
                self._collect(pod)

    def _collect(self, pod: Object) -> None:
        task = asyncio.create_task(self._delete(pod))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _delete(self, pod: Object) -> None:
        """Delete a pod, unless it goes by itself meanwhile."""
        path = path_of("Pod", pod["metadata"]["namespace"], pod["metadata"]["name"])
        with suppress(ApiFailure):
            await self._cluster.request("DELETE", path, {"preconditions": {"uid": _uid(pod)}})


def _uid(pod: Object) -> str:
    return str(pod["metadata"]["uid"])


def _owners(pod: Object) -> list[str]:
    """The owners that are pods, by uid."""
    owners = pod["metadata"].get("ownerReferences", ())
    return [each["uid"] for each in owners if (each["apiVersion"], each["kind"]) == ("v1", "Pod")]
