"""Parts of a server without a cluster: an engine with a manual clock, and verbs with a fake API server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession

from core.decisions.preemption.judging import Breach
from core.decisions.preemption.planning import Outcome as Planned
from core.decisions.preemption.receipts import Plan
from core.ids import NodeName
from core.ledger import events as on
from core.ledger.audit.drift import Drift
from core.ledger.effects import Effect, EndWait
from core.ledger.ledger import Ledger
from core.ledger.pods.record import PodRecord
from core.queues.spec import QueueSpec
from core.workload.pod import PodFacts
from extender.engine.engine import Engine
from extender.engine.outward import Outward
from extender.http.door import Door as Guards
from extender.http.server import Address
from extender.http.verbs.listening import MOST_BYTES, listen_to_verbs, verbs_server
from extender.verbs.bind import BindOutcome, BindVerb, PostBinding
from extender.verbs.pure import PureVerbs
from extender.wire.annotations.gang import POD_GROUP_MIN, POD_GROUP_NAME
from extender.wire.translate import POD, pod_from
from tests.builders import START, drifts, make_ledger, make_queue

VERBS = ("filter", "prioritize", "preempt", "bind")


@dataclass
class Witnessing:
    """Witness that records decisions."""

    decisions: list[tuple[str, str, object]] = field(default_factory=list)
    drifts: list[Drift] = field(default_factory=list)
    plans: list[tuple[str, str, Planned]] = field(default_factory=list)

    def decided(self, verb: str, record: PodRecord, verdict: object, *, now: float) -> None:
        self.decisions.append((verb, record.facts.name, verdict))

    def learned(self, event: on.Event, *, now: float) -> None:
        pass

    def planned(self, outcome: Planned, *, pod: str, how: str, now: float) -> None:
        self.plans.append((pod, how, outcome))

    def breached(self, plan: Plan, breaches: tuple[Breach, ...], *, pod: str, now: float) -> None:
        raise AssertionError(breaches)

    def drifted(self, drifts: list[Drift]) -> None:
        self.drifts += drifts


@dataclass
class PlayedApi:
    """An API server for the bind verb. It answers with ``outcomes`` in order, then with success."""

    outcomes: list[BindOutcome | BaseException] = field(default_factory=list)
    pods: dict[tuple[str, str], PodFacts] = field(default_factory=dict)
    posted: list[PostBinding] = field(default_factory=list)
    open: asyncio.Event | None = None
    """Event for which posts wait; None for no wait."""

    async def post(self, binding: PostBinding, *, within: float) -> BindOutcome:
        self.posted.append(binding)
        if self.open is not None:
            await self.open.wait()
        outcome = self.outcomes.pop(0) if self.outcomes else BindOutcome(True)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def read_pod(self, namespace: str, name: str, *, within: float) -> PodFacts | None:
        return self.pods.get((namespace, name))


class Rig:
    """Everything behind the HTTP server, with a manual clock."""

    def __init__(self, *queues: QueueSpec, nodes: int = 3, ledger: Ledger | None = None) -> None:
        self.time = START
        self.ledger = ledger or make_ledger(
            *(queues or (make_queue("root.a", max={"vcore": 2000}),)), nodes=nodes
        )
        self.effects: list[Effect] = []
        self.planned: list[Callable[[], None]] = []
        self.witness = Witnessing()
        self.api = PlayedApi()
        self.synced = asyncio.Event()
        if self.ledger.view.synced:
            self.synced.set()
        self.engine = Engine(
            Outward(lambda: self.time, self._later, self._perform, self.witness), self.ledger
        )
        self.verbs = PureVerbs(self.engine)
        self.bind_verb = BindVerb(self.engine, self.api, synced=self.synced, deadline=5.0)

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, EndWait):
            self.bind_verb.waits.end(effect.uid, effect.why)
        else:
            self.effects.append(effect)

    def _later(self, _seconds: float, call: Callable[[], None]) -> None:
        self.planned.append(call)

    def run_planned(self) -> None:
        """Run cycles until none is planned any more."""
        while self.planned:
            self.planned.pop(0)()

    def audit(self) -> tuple[Drift, ...]:
        return tuple(drifts(self.ledger))

    def filter(self, name: str, **pod: Any) -> dict[str, Any]:
        """Call filter for a pod that the API server has, with the same body."""
        body = filter_body(name, **pod)
        there = pod_from(POD.decode(json.dumps(json.loads(body)["Pod"])))
        self.api.pods.setdefault((there.namespace, there.name), there)
        answer: dict[str, Any] = json.loads(self.verbs.filter(body))
        return answer

    async def bind(self, name: str, node: str = "n1", **pod: Any) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(await self.bind_verb.bind(bind_body(name, node, **pod)))
        return answer


def pod_body(
    name: str,
    *,
    uid: str = "",
    cpu: str = "1",
    queue: str = "root.a",
    app: str = "app-1",
    namespace: str = "default",
    scheduler: str = "yunikorn",
    version: str = "5",
    group: tuple[str, int] | None = None,
) -> dict[str, Any]:
    labels = {"yunikorn.apache.org/queue": queue, "yunikorn.apache.org/app-id": app} if queue else {}
    if group is not None:
        labels |= {POD_GROUP_NAME: group[0], POD_GROUP_MIN: str(group[1])}
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid or f"uid-{name}",
            "resourceVersion": version,
            "labels": labels,
        },
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
        },
        "status": {"phase": "Pending"},
    }


def filter_body(name: str, *, nodes: Iterable[str] = ("n1", "n2"), full: bool = False, **pod: Any) -> bytes:
    names = list(nodes)
    items = {"metadata": {}, "items": [{"metadata": {"name": node}} for node in names]}
    return json.dumps(
        {
            "Pod": pod_body(name, **pod),
            "Nodes": items if full else None,
            "NodeNames": None if full else names,
        }
    ).encode()


def preempt_body(name: str, victims: dict[str, list[str] | None], *, full: bool = False, **pod: Any) -> bytes:
    def of(uids: list[str] | None) -> Any:
        if uids is None:
            return None
        pods = [{"metadata": {"uid": uid}} if full else {"UID": uid} for uid in uids]
        return {"Pods": pods, "NumPDBViolations": 1}

    given = {node: of(uids) for node, uids in victims.items()}
    return json.dumps(
        {
            "Pod": pod_body(name, **pod),
            "NodeNameToVictims": given if full else None,
            "NodeNameToMetaVictims": None if full else given,
        }
    ).encode()


def bind_body(name: str, node: str = "n1", *, uid: str = "", namespace: str = "default") -> bytes:
    return json.dumps(
        {"PodName": name, "PodNamespace": namespace, "PodUID": uid or f"uid-{name}", "Node": node}
    ).encode()


def nodes_of(*names: str) -> frozenset[NodeName]:
    return frozenset(map(NodeName, names))


@dataclass
class Door:
    """A listener for verbs, and its reports about calls. ``faults``: verb and fault of each that failed."""

    client: ClientSession
    port: int
    faults: list[tuple[str, str]] = field(default_factory=list)
    bugs: list[tuple[str, BaseException, bytes]] = field(default_factory=list)
    calls: int = 0

    async def post(self, verb: str, body: Any, **headers: str) -> tuple[int, Any]:
        """Status and decoded answer of one call."""
        async with self.client.post(f"/v1/{verb}", data=body, headers=headers) as response:
            return response.status, json.loads(await response.read())

    def measure(self, verb: str, seconds: float, fault: str) -> None:
        assert seconds >= 0
        self.calls += 1
        if fault:
            self.faults.append((verb, fault))

    def on_bug(self, verb: str, error: BaseException, body: bytes) -> None:
        self.bugs.append((verb, error, body))


@asynccontextmanager
async def serving(
    answers: Mapping[str, Callable[[bytes], Any]],
    *,
    most_bytes: int = MOST_BYTES,
    guards: Guards | None = None,
) -> AsyncIterator[Door]:
    """The real listener for these verbs, on a loopback port."""
    doors: list[Door] = []
    app = verbs_server(
        answers,
        measure=lambda *call: doors[0].measure(*call),
        on_bug=lambda *bug: doors[0].on_bug(*bug),
        most_bytes=most_bytes,
        door=guards,
    )
    runner = await listen_to_verbs(app, Address("127.0.0.1", 0), shutdown=0.2)
    port = runner.addresses[0][1]
    try:
        async with ClientSession(f"http://127.0.0.1:{port}") as client:
            doors.append(Door(client, port))
            yield doors[0]
    finally:
        await runner.cleanup()


def answers_of(rig: Rig) -> dict[str, Callable[[bytes], Any]]:
    """The four verbs as the listener takes them."""
    pure = {each: getattr(rig.verbs, each) for each in VERBS if each != "bind"}
    return {**pure, "bind": rig.bind_verb.bind}


BODIES = {
    "filter": filter_body("p"),
    "prioritize": filter_body("p"),
    "preempt": preempt_body("p", {"n1": ["v1"], "n2": None}),
    "bind": bind_body("p"),
}
"""Valid bodies by verb."""


def changed(change: Callable[[dict[str, Any]], object], body: bytes = BODIES["filter"]) -> bytes:
    """A body with one value replaced."""
    decoded = json.loads(body)
    change(decoded)
    return json.dumps(decoded).encode()


async def answers_still(door: Door) -> None:
    """Assert that the listener still answers, whatever came before."""
    # A separate application, since bodies may have changed the others.
    status, answer = await door.post("filter", filter_body("well", app="well"))
    assert (status, answer) == (200, {"NodeNames": ["n1", "n2"]})
