"""Gangs as tests use them: a job's pods, and the course of its placeholders and members."""

import json
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from e2e.cluster.client import Cluster, Object, node_of, path_of
from e2e.programs.paddock import PaddockProcess
from e2e.stands.course import Place, Queues, place
from e2e.stands.stand import eventually, eventually_equal

DOMAIN = "yunikorn.apache.org/"
PLACEHOLDER = "internal.yunikorn.apache.org/placeholder"
REPLACES = "paddock.dev/replaces"
NOTED = "paddock.dev/gang"
GATE = "paddock.dev/queue"
GATE_POLICY = "gates/gate-managed-pods.yaml"

BOTH = pytest.mark.parametrize("gated", [False, True], ids=["refusals", "gates"])

QUEUE = "root.jobs"
GROUP = "workers"

PLACED_WITHIN = 10
"""A time-out, in seconds, before which a busy machine also places all placeholders that have capacity."""


@dataclass(frozen=True)
class Job:
    """A gang's job.

    ``size``: placeholders, of one core each. ``members``: pods, as many as ``size`` unless given.
    ``timeout``: seconds, 0 for the default. ``run_for``: seconds after which a member succeeds. ``spec``:
    further fields of a pod.
    """

    name: str
    size: int
    members: int | None = None
    style: str = "Soft"
    timeout: int = 0
    queue: str = QUEUE
    run_for: float | None = None
    cpu: str = "1"
    spec: Mapping[str, Any] | None = None

    @property
    def names(self) -> list[str]:
        count = self.size if self.members is None else self.members
        return [f"{self.name}-{at}" for at in range(count)]

    @property
    def first(self) -> str:
        """The pod that owns its placeholders."""
        return self.names[0]

    @property
    def holders(self) -> str:
        """The prefix of its placeholders' names."""
        return f"tg-{self.name}-{GROUP}-"

    def manifests(self, cluster: Cluster, *, start: int = 0) -> Iterator[Object]:
        """All its pods from a number on. Each carries the definition, as those of a controller do."""
        for name in self.names[start:]:
            pod = self.outsider(cluster, name)
            pod["metadata"]["annotations"][DOMAIN + "task-group-name"] = GROUP
            yield pod

    def outsider(self, cluster: Cluster, name: str = "") -> Object:
        """A pod of the application that is in none of its task groups."""
        group = {"name": GROUP, "minMember": self.size, "minResource": {"cpu": self.cpu}}
        policy = f"gangSchedulingStyle={self.style}"
        if self.timeout:
            policy += f" placeholderTimeoutInSeconds={self.timeout}"
        return cluster.pod(
            name or f"first-of-{self.name}",
            cpu=self.cpu,
            queue=self.queue,
            app=self.name,
            annotations={
                DOMAIN + "task-groups": json.dumps([group]),
                DOMAIN + "schedulingPolicyParameters": policy,
            },
            run_for=self.run_for,
            spec=self.spec,
        )


@dataclass
class Holder:
    """A placeholder as it was seen; times in seconds.

    ``node``: its node; ``taker``: the member that replaced it.
    """

    name: str
    made: float
    placed: float | None = None
    deleted_at: float | None = None
    node: str = ""
    taker: str = ""


@dataclass
class Log:
    """Every placeholder by uid and every member by name, as the watch showed them."""

    holders: dict[str, Holder] = field(default_factory=dict)
    linked: dict[str, float] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    bound: dict[str, float] = field(default_factory=dict)
    ended: dict[str, tuple[str, str]] = field(default_factory=dict)
    taken: Counter[str] = field(default_factory=Counter)

    def on_pod(self, kind: str, pod: Object) -> None:
        notes = pod["metadata"].get("annotations") or {}
        if notes.get(PLACEHOLDER) == "true":
            self._on_holder(kind, pod)
        else:
            self._on_member(pod, notes)

    def _on_holder(self, kind: str, pod: Object) -> None:
        uid, now = pod["metadata"]["uid"], time.monotonic()
        known = self.holders.setdefault(uid, Holder(pod["metadata"]["name"], now))
        if node_of(pod) and known.placed is None:
            known.placed, known.node = now, node_of(pod)
        if kind == "DELETED":
            known.deleted_at = now

    def _on_member(self, pod: Object, notes: Mapping[str, str]) -> None:
        name, now = pod["metadata"]["name"], time.monotonic()
        replaced = notes.get(REPLACES)
        if replaced and name not in self.linked:
            self.linked[name] = now
        if node_of(pod) and name not in self.nodes:
            self.nodes[name], self.bound[name] = node_of(pod), now
            if replaced in self.holders:
                self.holders[replaced].taker = name
                self.taken[replaced] += 1
        status = pod.get("status", {})
        if status.get("phase") in ("Succeeded", "Failed"):
            self.ended[name] = (status["phase"], status.get("reason", ""))

    def of(self, job: Job) -> list[Holder]:
        """Placeholders of a job, in the order of their creation."""
        return [each for each in self.holders.values() if each.name.startswith(job.holders)]

    def take_overs(self, names: Sequence[str]) -> list[float]:
        """Seconds from the link of a member with its placeholder to its node."""
        return [self.bound[name] - self.linked[name] for name in names if name in self.linked]


class Rally:
    """A place where gangs start."""

    def __init__(self, here: Place, *, gated: bool) -> None:
        self.place, self.stand, self.cluster, self.pods = here, here.stand, here.cluster, here.pods
        self.paddock, self.proxy = here.stand.paddock, here.stand.proxy
        self.gated = gated
        self.log = Log()
        here.pods.listeners.append(self.log.on_pod)

    def follow(self, paddock: PaddockProcess) -> None:
        """Ask another Paddock from now on, and for the verdict at the end."""
        self.paddock = self.stand.paddock = paddock

    async def submit(self, *jobs: Job) -> None:
        """Create all pods of one job, its first pod first, then those of the next."""
        for job in jobs:
            first, *others = job.manifests(self.cluster)
            await self.cluster.create(first)
            await self.cluster.create_pods(others)

    def rival_names(self, count: int) -> list[str]:
        return [f"rival-{at}" for at in range(count)]

    async def rivals(self, count: int) -> None:
        """Create pods of one core in another queue, unless they exist."""
        missing = [name for name in self.rival_names(count) if self.pods.named(name) is None]
        await self.cluster.create_pods(self.cluster.pod(name, queue="root.others") for name in missing)
        await self.pods.until(lambda: all(map(self.pods.named, missing)), "they are there")

    # -- what is awaited -------------------------------------------------------------------------------------

    async def until_bound(self, *names: str, timeout: float = 30.0) -> None:
        await self.pods.until(
            lambda: {*names} <= {*self.log.nodes}, f"{sorted(names)[:9]} are bound", timeout=timeout
        )

    async def until_bound_one_of(self, *names: str) -> None:
        """Wait until one of them is bound, and no more, as there is no capacity for the others."""
        await self.pods.until(lambda: {*names} & {*self.log.nodes}, f"one of {names} is bound")
        waiting = [name for name in names if name not in self.log.nodes]
        assert len(waiting) == len(names) - 1
        if not self.gated:
            await self.until_refused_by_scheduler(*waiting)

    async def until_ended(self, *names: str, timeout: float = 30.0) -> None:
        await self.pods.until(lambda: {*names} <= {*self.log.ended}, "all have ended", timeout=timeout)

    async def until_placed(self, job: Job, count: int, *, made: int | None = None) -> None:
        """Wait until some of its placeholders have a node, of a number that were created."""

        def placed() -> bool:
            return len(self.placed(job)) >= count and len(self.log.of(job)) >= (made or 0)

        await self.pods.until(placed, f"{count} placeholders of {job.name} have nodes")

    async def until_left(self, count: int) -> None:
        """Wait until so many placeholders are left. Paddock may know of an end before the test sees it."""
        await self.pods.until(lambda: len(self.holders()) == count, f"{count} placeholders are left")

    async def until_no_holders(self, *, timeout: float = 30.0) -> None:
        await self.pods.until(lambda: not self.holders(), "no placeholder is left", timeout=timeout)

    async def until_refused_by_scheduler(self, *names: str) -> None:
        await self.place.until_refused_by_scheduler(*names)

    # -- what there is ---------------------------------------------------------------------------------------

    def holders(self) -> list[Object]:
        """The placeholders that exist now."""
        return [pod for pod in self.pods.pods.values() if is_holder(pod)]

    def placed(self, job: Job) -> list[Holder]:
        """Placeholders of a job that have, or had, a node."""
        return [each for each in self.log.of(job) if each.placed is not None]

    async def until_gang(self, job: Job, *wanted: str | int, name: str = "") -> None:
        """Wait for the gang's phase and its placeholders: counted, replaced, timed out (GANG-16).

        ``name``: a pod that is left.
        """

        async def gang() -> tuple[str | int, ...]:
            gang_report = (await self.paddock.story(self.cluster.namespace, name or job.first))["gang"]
            (group,) = gang_report["progress"]
            return gang_report["phase"], group["count"], group["replaced"], group["timedOut"]

        await eventually_equal(gang, wanted, job.name)

    async def events(self) -> Counter[str]:
        """Events of Paddock about gangs here, by action. Each occurrence on one object counts."""
        path = f"/api/v1/namespaces/{self.cluster.namespace}/events"
        found = await self.cluster.request("GET", path)
        gang_report = (each for each in found["items"] if each["reason"] == "GangScheduling")
        return Counter(each["action"] for each in gang_report)

    async def until_events(self, **counts: int) -> None:
        async def posted() -> bool:
            found = await self.events()
            return all(found[action] >= count for action, count in counts.items())

        await eventually(posted, f"events {counts}")
        found = await self.events()
        assert {action: found[action] for action in counts} == counts

    async def until_used(self, vcore: int, queue: str = QUEUE) -> None:
        """Wait for the usage of a queue's pods, in thousandths."""
        used = partial(self.paddock.metric, "paddock_queue_allocated", queue=queue, resource="vcore")
        await eventually_equal(used, vcore, f"used of {queue}")

    # -- what is asserted ------------------------------------------------------------------------------------

    def assert_taken_over(self, job: Job) -> None:
        """Assert that all placeholders had nodes before any member, and that each went to one member."""
        holders = self.log.of(job)
        assert len(holders) == job.size, [each.name for each in holders]
        placed = [each.placed for each in holders]
        assert None not in placed
        assert max(each for each in placed if each) <= min(self.log.bound[name] for name in job.names)
        assert {each.taker for each in holders} == {*job.names[: job.size]}
        assert all(self.log.nodes[each.taker] == each.node for each in holders)
        assert all(each.deleted_at is not None for each in holders)

    async def until_started(self, job: Job) -> None:
        """Wait until placeholders were made once for all members, and one of two rivals has capacity."""
        await self.until_bound(*job.names)
        await self.until_no_holders()
        self.assert_taken_over(job)
        await self.until_gang(job, "Started", job.size, job.size, 0)
        await self.until_used(job.size * 1000)
        await self.until_bound_one_of(*self.rival_names(2))

    def say(self, what: str, names: Sequence[str]) -> None:
        """Print how long replacements took."""
        times = self.log.take_overs(names)
        if times:
            middle = statistics.median(times) * 1000
            print(f"{what}: {len(times)} taken over, median {middle:.0f} ms, max {max(times) * 1000:.0f} ms")


@asynccontextmanager
async def rally(
    cluster: Cluster,
    *,
    nodes: int,
    cores: int,
    queues: Queues | None = None,
    gated: bool = False,
    proxied: bool = False,
    priorities: Sequence[int] = (),
    lease: str = "",
) -> AsyncIterator[Rally]:
    """A place for gangs. At its end no placeholder is left, the audit is clean and all counts agree.

    ``gated``: the shipped policy gates every pod. ``lease``: as in `place`.
    """
    policies = (GATE_POLICY,) if gated else ()
    async with place(
        cluster,
        queues or {QUEUE: {}, "root.others": {}},
        nodes=nodes,
        cores=cores,
        proxied=proxied,
        priorities=priorities,
        policies=policies,
        lease=lease,
    ) as here:
        found = Rally(here, gated=gated)
        if gated:
            await _gate(cluster)
        yield found
        await found.until_no_holders()
        await found.pods.until(lambda: not nominated(found), "nothing is nominated")
    if gated:
        await _label(cluster, None)


def nominated(here: Rally) -> list[str]:
    """Pods that hold capacity by a nomination."""
    waiting = here.pods.waiting()
    return [pod["metadata"]["name"] for pod in waiting if pod["status"].get("nominatedNodeName")]


def is_holder(pod: Object) -> bool:
    return (pod["metadata"].get("annotations") or {}).get(PLACEHOLDER) == "true"


async def _gate(cluster: Cluster) -> None:
    await _label(cluster, "true")

    async def gates() -> bool:
        made = await cluster.request(
            "POST",
            path_of("Pod", cluster.namespace),
            cluster.pod("probe", queue=QUEUE),
            params={"dryRun": "All"},
        )
        gates: list[Any] = made["spec"].get("schedulingGates", [])
        return any(gate["name"] == GATE for gate in gates)

    await eventually(gates, "the policy gates pods")


async def _label(cluster: Cluster, value: str | None) -> None:
    body = {"metadata": {"labels": {"paddock.dev/gate": value}}}
    await cluster.patch(path_of("Namespace", name=cluster.namespace), body)
