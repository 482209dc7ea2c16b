"""An observer with a watch of its own that asserts, at every single event, what must never happen.

It trusts nothing of what it tests. The test itself hands it the queue of a pod and the maxima, and
`e2e.cluster.sizing` computes sizes. Amounts: cpu in millicores, else base units.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from e2e.cluster.client import Cluster, Object, condition, is_terminal, node_of, was_bound
from e2e.cluster.sizing import Amounts, amounts_of, size_of
from e2e.cluster.watching import LISTED_IN, watch

GRACE = 5.0
"""Seconds for which a max that was replaced may still have let a Binding through."""

Limits = Mapping[str, Mapping[str, int]]


@dataclass
class Seen:
    """A pod as the observer knows it."""

    node: str
    queue: str | None
    size: Amounts
    writes: list[tuple[str, str, str]] = field(default_factory=list)


class Rules:
    """The assertions, which receive events. `violations` lists what was broken, in order."""

    def __init__(self, queue_of: Callable[[Object], str | None], limits: Limits) -> None:
        self._queue_of = queue_of
        self._limits: list[tuple[float, Limits]] = [(float("-inf"), limits)]
        self._pods: dict[str, Seen] = {}
        self._ever_bound: dict[str, str] = {}
        self._usage: dict[str, Amounts] = {}
        self._on_node: dict[str, Amounts] = {}
        self._nodes: dict[str, Amounts] = {}
        self._writes: dict[str, list[tuple[str, str, str]]] = {}
        self.violations: list[str] = []
        self.bindings = 0
        self.peaks: dict[str, Amounts] = {}

    def set_limits(self, limits: Limits, *, now: float) -> None:
        """Set the maxima from ``now`` on."""
        self._limits.append((now, limits))

    def on_node(self, kind: str, node: Object) -> None:
        name = node["metadata"]["name"]
        if kind == "DELETED":
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = amounts_of(node.get("status", {}).get("allocatable"))

    def on_pod(self, kind: str, pod: Object, *, now: float, listed: bool = False) -> None:
        """Take in a pod. ``listed``: from the first list, so its Binding was not seen to happen."""
        uid = pod["metadata"]["uid"]
        self._note_write(uid, pod)
        known = self._pods.pop(uid, None)
        if known is not None:
            self._count(known, -1)
        node = node_of(pod)
        self._check_place(uid, pod, node)
        if kind == "DELETED" or is_terminal(pod) or not node:
            return
        seen = Seen(node, self._queue_of(pod), size_of(pod))
        self._pods[uid] = seen
        self._count(seen, +1)
        if known is None and not listed and uid not in self._ever_bound:
            self.bindings += 1
            self._check_binding(pod, seen, now)
        self._ever_bound[uid] = node

    def usage(self, queue: str) -> Amounts:
        """The amounts that bound pods of a queue and of those below it ask for now."""
        return {name: amount for name, amount in self._usage.get(queue, {}).items() if amount}

    def recount(self, queue: str) -> Amounts:
        """Return the usage of a queue, added up anew."""
        total: Amounts = {}
        for seen in self._pods.values():
            if seen.queue is not None and queue in _chain(seen.queue):
                _add(total, seen.size, +1)
        return {name: amount for name, amount in total.items() if amount}

    def status_writes(self, uid: str) -> int:
        """The number of times that PodScheduled changed while the pod had no node."""
        return len(self._writes.get(uid, ()))

    def messages(self, uid: str) -> list[str]:
        return [message for _, _, message in self._writes.get(uid, ())]

    def _note_write(self, uid: str, pod: Object) -> None:
        found = condition(pod, "PodScheduled")
        if found is None or node_of(pod):
            return
        write = (found["status"], found.get("reason", ""), found.get("message", ""))
        writes = self._writes.setdefault(uid, [])
        if not writes or writes[-1] != write:
            writes.append(write)

    def _count(self, seen: Seen, sign: int) -> None:
        _add(self._on_node.setdefault(seen.node, {}), seen.size, sign)
        for queue in _chain(seen.queue) if seen.queue else ():
            usage = self._usage.setdefault(queue, {})
            _add(usage, seen.size, sign)
            peak = self.peaks.setdefault(queue, {})
            for name, amount in usage.items():
                peak[name] = max(peak.get(name, 0), amount)

    def _check_place(self, uid: str, pod: Object, node: str) -> None:
        before = self._ever_bound.get(uid)
        if before is not None and node != before:
            name = pod["metadata"]["name"]
            self.violations.append(f"pod {name} was bound to {before} and now to {node or 'nothing'}")

    def _check_binding(self, pod: Object, seen: Seen, now: float) -> None:
        name = pod["metadata"]["name"]
        for queue in _chain(seen.queue) if seen.queue else ():
            for resource, amount in seen.size.items():
                used = self._usage[queue].get(resource, 0)
                if amount and not any(used <= cap for cap in self._caps(queue, resource, now)):
                    cap = max(self._caps(queue, resource, now))
                    self.violations.append(f"{name} takes {queue} to {used} {resource} above its max {cap:g}")
        for resource, cap in self._nodes.get(seen.node, {}).items() if was_bound(pod) else ():
            used = self._on_node[seen.node].get(resource, 0)
            if seen.size.get(resource) and used > cap:
                self.violations.append(f"{name} takes node {seen.node} to {used} {resource} of {cap}")

    def _caps(self, queue: str, resource: str, now: float) -> Iterator[float]:
        """Every max in force during the last seconds. A max that is not set is no limit."""
        for at, (_, limits) in enumerate(self._limits):
            ends = self._limits[at + 1][0] if at + 1 < len(self._limits) else float("inf")
            if ends >= now - GRACE:
                yield limits.get(queue, {}).get(resource, float("inf"))


def _chain(queue: str) -> list[str]:
    parts = queue.split(".")
    return [".".join(parts[:length]) for length in range(len(parts), 0, -1)]


def _add(total: Amounts, size: Amounts, sign: int) -> None:
    for name, amount in size.items():
        total[name] = total.get(name, 0) + sign * amount


class Observer:
    """`Rules` with a watch. A lost event is a violation of its own."""

    def __init__(self, cluster: Cluster, *, queue_of: Callable[[Object], str | None], limits: Limits) -> None:
        self._cluster = cluster
        self.rules = Rules(queue_of, limits)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        session, listed = self._cluster.session, asyncio.Event()

        def on_list(items: list[Object]) -> None:
            for item in items:
                self.rules.on_pod("ADDED", item, now=self._now, listed=True)
            listed.set()

        def on_nodes(items: list[Object]) -> None:
            for item in items:
                self.rules.on_node("ADDED", item)

        self._tasks = [
            asyncio.create_task(watch(session, "/api/v1/nodes", on_nodes, self.rules.on_node)),
            asyncio.create_task(
                watch(
                    session,
                    "/api/v1/pods",
                    on_list,
                    lambda kind, pod: self.rules.on_pod(kind, pod, now=self._now),
                )
            ),
        ]
        await asyncio.wait_for(listed.wait(), LISTED_IN)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        failures = [task.exception() for task in self._tasks if task.done()]
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        if kind is None:
            assert not failures, f"the observer lost events: {failures}"
            self.assert_clean()

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def set_limits(self, limits: Limits) -> None:
        self.rules.set_limits(limits, now=self._now)

    def assert_clean(self) -> None:
        assert not self.rules.violations, "\n".join(self.rules.violations[:20])
