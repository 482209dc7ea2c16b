"""Many pods for few slots: the cost of the queue order, with gates and with refusals alone.

Churn: 1,000 short pods in 20 queues for 100 slots, and filter calls per bound pod. Then a slot is freed every
50 ms on a full cluster where 400 pods wait. Measured is the time until Paddock's PATCH, a gate opened or a
wake-up, and until the Binding. A watch shows all three. The configuration is the shipped `kubeadm` one.

kube-scheduler tries every refused pod again at each event, and then holds it in a back-off of a second.
Wake-ups are therefore counted in three kinds. Some pods wait until their back-off is over. Others are taken
out early, when no other pod is to be tried. The rest are not in back-off.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.workload.pod import ADMITTED
from e2e.bench.worlds.arena import GATED, Arena, Finish, arena
from e2e.bench.worlds.report import percentiles, show
from e2e.cluster.client import Object, condition, node_of
from e2e.cluster.kubelet import StubKubelet
from e2e.cluster.watching import PodCache
from e2e.stands.course import WAKE
from e2e.stands.stand import scheduler_config
from extender.telemetry.logs import FLUSH_DELAY

NODES, CORES, QUEUES = 25, 4, 20
SLOTS = NODES * CORES
CHURN, RUN_FOR = 1_000, 0.5
FREED, SLOTS_APART = 300, 0.05
BACK_OFF = 1.0
"""Seconds: `podInitialBackoffSeconds` and `podMaxBackoffSeconds` as shipped."""

KINDS: dict[str, Any] = {"refused": {}, "gated": GATED}


class Course:
    """Times of freed slots, released pods and Bindings, as one watch shows them; in seconds."""

    def __init__(self, pods: PodCache) -> None:
        self.freed: list[float] = []
        self.released: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self._seen: dict[str, tuple[bool, str]] = {}
        pods.listeners.append(self._note)

    def _note(self, kind: str, pod: Object) -> None:
        name, now = pod["metadata"]["name"], time.perf_counter()
        if kind == "DELETED":
            self.freed.append(now)
        elif name.startswith("w"):
            self._follow(name, now, pod)

    def _follow(self, name: str, now: float, pod: Object) -> None:
        token = pod["metadata"].get("annotations", {}).get(WAKE, "")
        state = bool(pod["spec"].get("schedulingGates")), token
        if name in self._seen and state != self._seen[name] and name not in self.bound:
            self.released[name] = now
        self._seen[name] = state
        if node_of(pod) and name not in self.bound:
            self.bound[name] = now


async def run() -> None:
    """Print filter calls per bound pod, and the times in microseconds."""
    tree = {f"q{at}": {"max": {"vcore": "1000"}} for at in range(QUEUES)}
    async with arena(tree, nodes=NODES, cpu=str(CORES)) as here:
        control_plane = here.cluster.control_plane
        config = scheduler_config("kubeadm/scheduler-config-plain.yaml", here.url)
        scheduler = await control_plane.scheduler(config)
        calls = {kind: await _churn(here, spec) for kind, spec in KINDS.items()}
        show("contention, filter calls per bound pod", unit="calls", pods=CHURN, slots=SLOTS, **calls)
        times = {kind: await _slots(here, spec) for kind, spec in KINDS.items()}
        await scheduler.stop()
    show("contention, from a freed slot", unit="us", slots=FREED, apart_ms=SLOTS_APART * 1e3, **times)


async def _churn(here: Arena, spec: dict[str, Any]) -> dict[str, float]:
    """Create all pods at once. Each runs for a moment and leaves its slot to the next."""
    cluster, before = here.cluster, await here.filter_calls()
    async with PodCache(cluster, cluster.namespace) as pods, StubKubelet(cluster):
        finish = Finish(pods)
        manifests = (
            cluster.pod(f"c{at}", queue=f"root.q{at % QUEUES}", run_for=RUN_FOR, spec=spec)
            for at in range(CHURN)
        )
        creating = asyncio.create_task(cluster.create_pods(manifests))
        await finish.until(CHURN)
        await creating
        calls = await here.filter_calls() - before
        await here.delete_pods(pods)
    return {"per bound pod": round(calls / CHURN, 2), "bound a second": round(finish.rate, 1)}


async def _slots(here: Arena, spec: dict[str, Any]) -> dict[str, Any]:
    """Free one slot after another."""
    cluster, began = here.cluster, time.perf_counter()
    async with PodCache(cluster, cluster.namespace) as pods:
        holding = [f"holds{at}" for at in range(SLOTS)]
        await cluster.create_pods(cluster.pod(name, queue="root.q0") for name in holding)
        await pods.until(lambda: len(pods.bound()) == SLOTS, "the cluster is full")
        course = Course(pods)
        waiting = [f"w{at}" for at in range(FREED + SLOTS)]
        await cluster.create_pods(
            cluster.pod(name, queue=f"root.q{at % QUEUES}", spec=spec) for at, name in enumerate(waiting)
        )
        condition_type = ADMITTED if spec else "PodScheduled"
        await pods.until(
            lambda: _have_all_a_reason(pods, len(waiting), condition_type),
            "all know that they wait",
            timeout=60,
        )
        before = await here.filter_calls()
        await _free(here, holding, course)
        await pods.until(lambda: len(course.bound) >= FREED, "all slots are taken again")
        calls = await here.filter_calls() - before
        await asyncio.sleep(2 * FLUSH_DELAY)
        found = _times(course) | _by_back_off(course, _refusals(here, since=began))
        await here.delete_pods(pods)
    return {**found, "filter calls per bound pod": round(calls / FREED, 2)}


def _have_all_a_reason(pods: PodCache, count: int, kind: str) -> bool:
    waiting = pods.waiting()
    said = (condition(pod, kind) for pod in waiting)
    return len(waiting) == count and all(each is not None and each["status"] == "False" for each in said)


async def _free(here: Arena, holding: list[str], course: Course) -> None:
    """Delete a pod that has run for longest every 50 ms."""
    due = time.perf_counter()
    for at in range(FREED):
        if at >= len(holding):
            holding.append([*course.bound][at - SLOTS])
        await here.cluster.delete_pod(holding[at])
        due += SLOTS_APART
        await asyncio.sleep(max(0.0, due - time.perf_counter()))


def _refusals(here: Arena, *, since: float) -> dict[str, list[float]]:
    """Times at which filter refused each pod, from Paddock's log; seconds on the clock of a `Course`."""
    found: dict[str, list[float]] = {}
    ahead = time.time() - time.perf_counter()
    for line in here.paddock.logs():
        if line.get("verb") != "filter" or line["code"] == "Admitted":
            continue
        at = datetime.fromisoformat(line["timestamp"]).timestamp() - ahead
        if at > since:
            found.setdefault(line["pod"], []).append(at)
    return found


def _by_back_off(course: Course, refusals: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Times from the patch to the bind, by how kube-scheduler treated a pod that it had just tried."""
    times: dict[str, list[float]] = {}
    again = 0
    for name, released in course.released.items():
        before = [at for at in refusals.get(name, ()) if at < released]
        if name not in course.bound or not before:
            continue
        again += refusals[name][-1] > released
        kind = "woken after its back-off"
        if released - before[-1] < BACK_OFF:
            waited = course.bound[name] - before[-1] >= BACK_OFF
            kind = (
                "in its back-off, which it waited out" if waited else "in its back-off, and taken out early"
            )
        times.setdefault(kind, []).append(course.bound[name] - released)
    shown = {kind: {**percentiles(each), "pods": len(each)} for kind, each in times.items()}
    return {"from the patch to the bind": {**shown, "refused again": again}} if shown else {}


def _times(course: Course) -> dict[str, Any]:
    """Times from slot to pod: the n-th pod released, or bound without a release, took the n-th slot."""
    went = {name: course.released.get(name, bound) for name, bound in course.bound.items()}
    taken = list(zip(course.freed[:FREED], sorted(went, key=went.__getitem__), strict=False))
    released = [course.released[name] - freed for freed, name in taken if name in course.released]
    return {
        "to the patch": {**percentiles(released), "patches": len(released)},
        "to the bind": percentiles([course.bound[name] - freed for freed, name in taken]),
    }
