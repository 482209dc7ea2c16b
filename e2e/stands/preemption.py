"""Preemption as tests use it: queues with guarantees, evicted pods, and the reports about them."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from e2e.cluster.client import Cluster, Object, node_of, path_of
from e2e.stands.course import RESERVED, Place, Queues, place
from e2e.stands.stand import eventually, eventually_equal

PREEMPTED_FOR = "paddock.dev/preempted-for"
TRIGGERED = "paddock.dev/triggered"

GATE = "e2e.paddock.dev/held"

DELAY = "1s"
"""`preemption.delay` of the queues here."""


def queue(*, guaranteed: int = 0, cap: int = 0, **properties: str) -> Object:
    """A queue of a document.

    Cores that it is guaranteed, cores that it may use at most, and its properties with ``_`` for a dot.
    """
    spec: Object = {"properties": {"preemption.delay": DELAY}}
    spec["properties"] |= {name.replace("_", "."): value for name, value in properties.items()}
    if guaranteed:
        spec.setdefault("resources", {})["guaranteed"] = {"vcore": str(guaranteed)}
    if cap:
        spec.setdefault("resources", {})["max"] = {"vcore": str(cap)}
    return spec


@dataclass
class Exits:
    """Pods taken off their nodes: their names in order, their nodes, and the notes on them."""

    left: list[str] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)
    receipts: dict[str, str] = field(default_factory=dict)
    pods: dict[str, Object] = field(default_factory=dict)

    def on_pod(self, kind: str, pod: Object) -> None:
        metadata = pod["metadata"]
        name = metadata["name"]
        if not node_of(pod):
            return
        self.nodes[name], self.pods[name] = node_of(pod), pod
        if note := metadata.get("annotations", {}).get(PREEMPTED_FOR):
            self.receipts[name] = note
        if (kind == "DELETED" or metadata.get("deletionTimestamp")) and name not in self.left:
            self.left.append(name)


class Contest:
    """A place whose queues contend for guarantees."""

    def __init__(self, here: Place) -> None:
        self.stand, self.cluster, self.pods = here.stand, here.cluster, here.pods
        self.course = here.course
        self._place = here
        self.exits = Exits()
        here.pods.listeners.append(self.exits.on_pod)

    async def run(self, prefix: str, count: int, *, queue: str, node: str = "", **pod: object) -> list[str]:
        """Create running pods of one core, the last one the newest; on ``node`` if one is named."""
        names = [f"{prefix}-{at}" for at in range(count)]
        spec = {**dict(pod.pop("spec", {})), **({"nodeSelector": {"e2e/node": node}} if node else {})}
        for name in names:
            await self.cluster.create_pod(name, queue=queue, spec=spec, **pod)
        await self.until_bound(*names)
        return names

    async def until_bound(self, *names: str) -> None:
        """Wait for a Binding. The time is enough for a failed attempt, its back-off of 15 s, and one more."""
        await self._place.until_bound(*names, timeout=45)

    async def until_refused_by_scheduler(self, *names: str) -> None:
        await self._place.until_refused_by_scheduler(*names)

    async def create_held(self, name: str, *, queue: str, spec: Object | None = None) -> None:
        """Create a pod behind another party's gate, old enough that a plan is due when the gate opens."""
        held = {**(spec or {}), "schedulingGates": [{"name": GATE}]}
        await self.cluster.create_pod(name, queue=queue, spec=held)
        # Creation times are whole seconds, rounded down. By then the delay of one second is over.
        await asyncio.sleep(1.2)

    async def open(self, name: str) -> Object:
        """Open the gate of a held pod, and return it."""
        path = path_of("Pod", self.cluster.namespace, name)
        return await self.cluster.patch(path, {"spec": {"schedulingGates": None}})

    async def until_unmarked(self) -> None:
        await self.pods.until(lambda: not _marked(self.pods.pods), "what was written is taken off")

    def node_of(self, name: str) -> str:
        """The node on which a pod runs or ran."""
        return self.exits.nodes.get(name, "")

    def uid(self, name: str) -> str:
        """Uid of a pod that has run."""
        return str(self.exits.pods[name]["metadata"]["uid"])

    async def label_nodes(self, *names: str) -> None:
        """Label the nodes so that `run` can name them."""
        for name in names:
            body = {"metadata": {"labels": {"e2e/node": name}}}
            await self.cluster.patch(f"/api/v1/nodes/{name}", body)

    async def ranks(self, *values: int) -> None:
        """Create a class for each priority that may preempt, unlike those of a place."""
        for value in values:
            await self.cluster.create_priority_class(f"rank-{value}", value)

    # -- what Paddock says -----------------------------------------------------------------------------------

    async def recent_plans(self, name: str) -> list[Object]:
        """The recent plans and refusals for a pod, the last one first."""
        _, text = await self.stand.paddock.get("/debug/preemptions")
        found: list[Object] = json.loads(text)["preemptions"]
        return [each for each in found if each["pod"] == f"{self.cluster.namespace}/{name}"]

    async def plan_for(self, name: str) -> Object:
        """The only plan that was made for a pod."""
        (found,) = [each for each in await self.recent_plans(name) if "victims" in each]
        return found

    async def until_refused(self, name: str, law: str) -> Object:
        """Wait until a plan was tried for it, and ``law`` stopped it."""

        async def ask() -> Object | None:
            return next((each for each in await self.recent_plans(name) if each.get("law") == law), None)

        return await eventually(ask, f"{name} is refused by {law}", timeout=30)

    async def events(self, name: str, reason: str = "Preempted") -> list[Object]:
        """Events that Paddock posted about a pod."""
        path = f"/api/v1/namespaces/{self.cluster.namespace}/events"
        found = await self.cluster.request(
            "GET", path, params={"fieldSelector": f"involvedObject.name={name},reason={reason}"}
        )
        return [each for each in found["items"] if each.get("source") == {"component": "paddock"}]

    async def until_event(self, name: str) -> str:
        """Wait for the Event that names why a pod was evicted."""
        event = (await eventually(lambda: self.events(name), f"an Event on {name}"))[0]
        assert event["involvedObject"]["uid"] == self.exits.pods[name]["metadata"]["uid"]
        return str(event["message"])

    async def asked(self) -> float:
        """The number of times kube-scheduler asked which pods it may evict."""
        return await self.stand.paddock.metric("paddock_verb_seconds_count", verb="preempt")

    async def until_evicted(self, granted: int) -> None:
        """Wait for evictions that the API server granted Paddock. Their answers come when the pods leave."""
        await eventually_equal(lambda: self.evictions("done"), granted, "evictions granted")

    async def evictions(self, outcome: str) -> float:
        """The number of evictions that Paddock was granted, ``done``, or that a ``budget`` forbade."""
        return await self.stand.paddock.metric("paddock_effects_total", effect="EvictPod", outcome=outcome)


@asynccontextmanager
async def contest(
    cluster: Cluster,
    queues: Queues,
    *,
    nodes: int,
    cores: int,
    ranks: Sequence[int] = (),
    proxied: bool = False,
    lease: str = "",
    form: Mapping[str, Any] | None = None,
) -> AsyncIterator[Contest]:
    """A contest. At its end no node is reserved, no pod marked, and no law broken.

    ``form``: as in `place`.
    """
    async with place(
        cluster, queues, nodes=nodes, cores=cores, proxied=proxied, lease=lease, form=form
    ) as here:
        found = Contest(here)
        await found.label_nodes(*(f"n{at}" for at in range(1, nodes + 1)))
        await found.ranks(*ranks)
        yield found
        await found.until_unmarked()
        assert await here.stand.paddock.metric("paddock_preemption_breaches_total") == 0


def with_port(cluster: Cluster) -> Object:
    """The spec of a pod that wants a port of its node, so that only kube-scheduler can judge it."""
    port = {"containerPort": 80, "hostPort": 18_081}
    return {"containers": [{**cluster.pod("")["spec"]["containers"][0], "ports": [port]}]}


def _marked(pods: Mapping[str, Object]) -> list[str]:
    """Pods with a note that a preemption is under way."""
    return [
        pod["metadata"]["name"]
        for pod in pods.values()
        if {PREEMPTED_FOR, RESERVED, TRIGGERED} & {*(pod["metadata"].get("annotations") or {})}
    ]
