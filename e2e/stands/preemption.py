"""Preemption as a test speaks of it: queues with guarantees, who had to leave, and what is said of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from e2e.cluster.client import Cluster, Object, node_of, path_of
from e2e.stands.course import RESERVED, Place, Queues, place
from e2e.stands.stand import eventually, eventually_equal

PREEMPTED_FOR = "paddock.dev/preempted-for"
TRIGGERED = "paddock.dev/triggered"

GATE = "e2e.paddock.dev/held"

DELAY = "1s"
"""`preemption.delay` of the queues here."""


def queue(*, guaranteed: int = 0, cap: int = 0, **properties: str) -> Object:
    """What a document says of a queue: cores that it is guaranteed, cores that it may have at most; and its
    properties, ``_`` standing for a dot."""
    spec: Object = {"properties": {"preemption.delay": DELAY}}
    spec["properties"] |= {name.replace("_", "."): value for name, value in properties.items()}
    if guaranteed:
        spec.setdefault("resources", {})["guaranteed"] = {"vcore": str(guaranteed)}
    if cap:
        spec.setdefault("resources", {})["max"] = {"vcore": str(cap)}
    return spec


@dataclass
class Exits:
    """Pods taken off their nodes: their names in order, where they ran, and what was written on them."""

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
        """Pods of one core that run, the last one the newest; on ``node`` if one is named."""
        names = [f"{prefix}-{at}" for at in range(count)]
        spec = {**dict(pod.pop("spec", {})), **({"nodeSelector": {"e2e/node": node}} if node else {})}
        for name in names:
            await self.cluster.create_pod(name, queue=queue, spec=spec, **pod)
        await self.until_bound(*names)
        return names

    async def until_bound(self, *names: str) -> None:
        """Time enough for an attempt in vain, after which an ask rests 15 s, and one more."""
        await self._place.until_bound(*names, timeout=45)

    async def until_told(self, *names: str) -> None:
        await self._place.until_told(*names)

    async def create_held(self, name: str, *, queue: str, spec: Object | None = None) -> None:
        """A pod behind a gate of somebody's, so old that a plan is due for it when the gate opens."""
        held = {**(spec or {}), "schedulingGates": [{"name": GATE}]}
        await self.cluster.create_pod(name, queue=queue, spec=held)
        # Creation times are whole seconds, rounded down: by then the delay of one second is over.
        await asyncio.sleep(1.2)

    async def open(self, name: str) -> Object:
        """Let go a pod that was held; as it is then."""
        path = path_of("Pod", self.cluster.namespace, name)
        return await self.cluster.patch(path, {"spec": {"schedulingGates": None}})

    async def until_unmarked(self) -> None:
        await self.pods.until(lambda: not _marked(self.pods.pods), "what was written is taken off")

    def node_of(self, name: str) -> str:
        """Where it runs, or ran."""
        return self.exits.nodes.get(name, "")

    def uid(self, name: str) -> str:
        """Of a pod that has run."""
        return str(self.exits.pods[name]["metadata"]["uid"])

    async def label_nodes(self, *names: str) -> None:
        """So that `run` can name them."""
        for name in names:
            body = {"metadata": {"labels": {"e2e/node": name}}}
            await self.cluster.patch(f"/api/v1/nodes/{name}", body)

    async def ranks(self, *values: int) -> None:
        """A class for each priority that may preempt, unlike those of a place."""
        for value in values:
            await self.cluster.create_priority_class(f"rank-{value}", value)

    # -- what Paddock says -----------------------------------------------------------------------------------

    async def told(self, name: str) -> list[Object]:
        """The plans and refusals of late for a pod, the last one first."""
        _, text = await self.stand.paddock.get("/debug/preemptions")
        found: list[Object] = json.loads(text)["preemptions"]
        return [each for each in found if each["pod"] == f"{self.cluster.namespace}/{name}"]

    async def plan_for(self, name: str) -> Object:
        """The one plan that was made for a pod."""
        (found,) = [each for each in await self.told(name) if "victims" in each]
        return found

    async def until_refused(self, name: str, law: str) -> Object:
        """It was looked into, and ``law`` stopped it."""

        async def look() -> Object | None:
            return next((each for each in await self.told(name) if each.get("law") == law), None)

        return await eventually(look, f"{name} is refused by {law}", timeout=30)

    async def events(self, name: str, reason: str = "Preempted") -> list[Object]:
        """Those that Paddock posted about a pod."""
        path = f"/api/v1/namespaces/{self.cluster.namespace}/events"
        found = await self.cluster.request(
            "GET", path, params={"fieldSelector": f"involvedObject.name={name},reason={reason}"}
        )
        return [each for each in found["items"] if each.get("source") == {"component": "paddock"}]

    async def until_event(self, name: str) -> str:
        """What is said of why a pod went."""
        event = (await eventually(lambda: self.events(name), f"an Event on {name}"))[0]
        assert event["involvedObject"]["uid"] == self.exits.pods[name]["metadata"]["uid"]
        return str(event["message"])

    async def asked(self) -> float:
        """How often kube-scheduler asked whom it may evict."""
        return await self.stand.paddock.metric("paddock_verb_seconds_count", verb="preempt")

    async def until_evicted(self, granted: int) -> None:
        """By so many evictions that the API server granted Paddock, whose answers come when the pods go."""
        await eventually_equal(lambda: self.evictions("done"), granted, "evictions granted")

    async def evictions(self, outcome: str) -> float:
        """That the API server granted Paddock, ``done``, or that a ``budget`` forbade."""
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
) -> AsyncIterator[Contest]:
    """At its end nothing is kept or marked any more, and no law was broken."""
    async with place(cluster, queues, nodes=nodes, cores=cores, proxied=proxied, lease=lease) as here:
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
    """Pods that say of themselves that a preemption is under way."""
    return [
        pod["metadata"]["name"]
        for pod in pods.values()
        if {PREEMPTED_FOR, RESERVED, TRIGGERED} & {*(pod["metadata"].get("annotations") or {})}
    ]
