"""A stand whose queues have properties, and the course of its pods: refused, woken, bound, deleted."""

import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import yaml

from e2e.cluster.client import Cluster, Object, is_terminal, message_of, node_of
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, Stand, eventually
from e2e.stands.tenants import checksum

WAKE = "paddock.dev/wake"
RESERVED = "paddock.dev/reserved-node"
HOLD = "root.hold"
"""The queue of pods that take all capacity until they are deleted."""

Queues = Mapping[str, Mapping[str, Any]]
"""Contents of queues in a document besides their children, by path."""


@dataclass
class Course:
    """Times at which each pod was refused, woken, bound, and freed its capacity; in seconds, by name."""

    freed: list[float] = field(default_factory=list)
    bound: dict[str, float] = field(default_factory=dict)
    woken: dict[str, list[float]] = field(default_factory=dict)
    _tokens: dict[str, str] = field(default_factory=dict)
    _over: set[str] = field(default_factory=set)

    def on_pod(self, kind: str, pod: Object) -> None:
        name, now = pod["metadata"]["name"], time.monotonic()
        token = pod["metadata"].get("annotations", {}).get(WAKE, "")
        if token != self._tokens.get(name, ""):
            self._tokens[name] = token
            self.woken.setdefault(name, []).append(now)
        if node_of(pod) and name not in self.bound:
            self.bound[name] = now
        if (kind == "DELETED" or is_terminal(pod)) and name in self.bound and name not in self._over:
            self._over.add(name)
            self.freed.append(now)

    def names(self, prefixes: Sequence[str]) -> list[str]:
        """The bound pods in the order of their Bindings."""
        return [name for name in self.bound if name.startswith(tuple(prefixes))]


class Place:
    """A stand whose document has properties and guarantees, and the course of its pods."""

    def __init__(self, stand: Stand, queues: Queues, settings: Mapping[str, str]) -> None:
        self.stand, self.cluster, self.pods = stand, stand.cluster, stand.pods
        self.queues, self.settings = queues, settings
        self.course = Course()
        stand.pods.listeners.append(self.course.on_pod)

    async def configure(self) -> None:
        text = yaml.safe_dump(document_of(self.queues))
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": text, **self.settings})

        async def in_force() -> bool:
            _, found = await self.stand.paddock.get("/readyz?verbose")
            return f"configuration: {checksum(text)}" in found.splitlines()

        await eventually(in_force, "the document is in force")

    async def priorities(self, *values: int) -> None:
        """Create a class for each priority that never preempts, since only the order is tested here."""
        for value in values:
            await self.cluster.create_priority_class(f"order-{value}", value, preempts=False)

    async def fill(self, cores: int) -> list[str]:
        """Take that many cores, one pod each, and return the names of the pods."""
        names = [f"hold-{at}" for at in range(cores)]
        await self.cluster.create_pods(self.cluster.pod(name, queue=HOLD) for name in names)
        await self.until_bound(*names)
        return names

    async def until_bound(self, *names: str, timeout: float = 15.0) -> None:
        await self.pods.until(lambda: {*names} <= {*self.course.bound}, f"{names} are bound", timeout=timeout)

    async def until_more(self, prefix: str, count: int) -> None:
        """Wait until that many more pods have been bound."""
        await self.pods.until(
            lambda: len(self.course.names([prefix])) >= count, f"{count} of {prefix!r} are bound"
        )

    def named(self, name: str) -> Object:
        found = self.pods.named(name)
        assert found is not None, name
        return found

    async def until_refused_by_scheduler(self, *names: str) -> None:
        """Wait until kube-scheduler has tried these pods and reported that it cannot place them."""
        await self.pods.until(
            lambda: all(message_of(self.pods.named(name)) for name in names), "all have been tried"
        )

    async def calls(self) -> float:
        return await self.stand.paddock.metric("paddock_verb_seconds_count", verb="filter")

    async def held(self) -> float:
        """The number of answers that it is another pod's turn."""
        return await self.stand.paddock.metric("paddock_decisions_total", code="WaitingForTurn")

    async def agrees(self) -> bool:
        """Wait until the audit is clean, nothing is reserved, and queues hold what the observer counts."""
        drifts = await self.stand.paddock.drifts()
        rules, metric = self.stand.observer.rules, self.stand.paddock.metric
        held = {
            path: await metric("paddock_queue_allocated", queue=path, resource="vcore")
            for path in (HOLD, *self.queues)
        }
        seen = {path: rules.recount(path).get("cpu", 0) for path in held}
        reserved = await metric("paddock_reservations")
        return (drifts, reserved) == ([], 0) and held == seen

    async def settled(self) -> None:
        await eventually(self.agrees, "Paddock counts what is seen, and the audit is clean")
        refused = self.stand.kubelet.refused
        assert refused == [], f"pods that did not fit their node: {refused}"


@asynccontextmanager
async def place(
    cluster: Cluster,
    queues: Queues,
    *,
    nodes: int,
    cores: int,
    priorities: Sequence[int] = (),
    proxied: bool = False,
    settings: Mapping[str, str] | None = None,
    policies: tuple[str, ...] = (),
    lease: str = "",
    form: Mapping[str, Any] | None = None,
) -> AsyncIterator[Place]:
    """A place for tests of order.

    ``settings``: further keys of the ConfigMap. ``policies``: shipped ones in force besides. ``lease``: the
    Lease that names the acting Paddock. ``form``: more for the `Stand`, such as `SIDECAR`.
    """
    more = {"lease": lease, **(form or {})}
    async with Stand(cluster, {}, proxied=proxied, policies=policies, **more) as stand:
        await cluster.add_nodes(nodes, cpu=str(cores), pods=1000)
        found = Place(stand, queues, settings or {})
        await found.configure()
        await found.priorities(*priorities)
        yield found
        await found.settled()


def document_of(queues: Queues) -> Object:
    """A queue document from paths, in which a parent comes before its children."""
    root: Object = {"name": "root", "submitacl": "*", "queues": []}
    made = {"root": root}
    for path, spec in {HOLD: {}, **queues}.items():
        above, _, name = path.rpartition(".")
        made[path] = {"name": name, **spec}
        made[above].setdefault("queues", []).append(made[path])
    return {"partitions": [{"name": "default", "queues": [root]}]}


def offset(value: int) -> Object:
    return {"properties": {"priority.offset": str(value)}}


def fence(value: int = 0) -> Object:
    return {"properties": {"priority.policy": "fence", "priority.offset": str(value)}}


def of_priority(priority: int) -> Object:
    return {"spec": {"priorityClassName": f"order-{priority}"}}


def say(what: str, seconds: Sequence[float]) -> None:
    if seconds:
        middle = statistics.median(seconds) * 1000
        print(f"{what}: median {middle:.0f} ms, max {max(seconds) * 1000:.0f} ms of {len(seconds)}")
