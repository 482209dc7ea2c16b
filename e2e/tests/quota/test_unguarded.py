"""Gates as the only guard: kube-scheduler stopped and slow, and gates that others remove (F-2, F-7)."""

import asyncio
import copy
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from core.ledger.admission.unguarded import BYPASSED
from e2e.cluster.client import Cluster, Object, path_of
from e2e.cluster.permissions import allow, refusal
from e2e.stands.stand import Stand, eventually, scheduler_config
from e2e.tests.quota.test_gates import GATED

SCOPED = "kubeadm/scheduler-config-scoped.yaml"
MARKER = "paddock.dev/preempt"
AWAY = 30.0
"""Seconds without kube-scheduler; a turn lasts two."""


def guarded(cluster: Cluster, name: str, *, spec: Mapping[str, Any] = GATED, **more: Any) -> Object:
    """A pod as the shipped policies leave it when their markers are cut to ``preempt``."""
    pod = cluster.pod(name, queue="root.a", spec=dict(spec), **more)
    resources = pod["spec"]["containers"][0]["resources"]
    resources["requests"] |= {MARKER: "1"}
    resources["limits"] = {MARKER: "1"}
    return pod


# -- F-2 -----------------------------------------------------------------------------------------------------


async def test_kube_scheduler_away_restarted_and_slowed(cluster: Cluster) -> None:
    """200 pods run for a moment, at most 10 at a time. The observer checks every Binding."""
    async with Stand(cluster, {"a": {"max": {"vcore": "10"}}}, config=SCOPED) as stand:
        await cluster.add_nodes(4)
        names = [f"p{at}" for at in range(200)]
        bound: set[str] = set()
        stand.pods.listeners.append(
            lambda _, pod: bound.add(pod["metadata"]["name"]) if _has_node(pod) else None
        )
        await cluster.create_pods(guarded(cluster, name, run_for=0.2) for name in names)
        await _until(stand, bound, 60, "undisturbed")
        await stand.scheduler.kill()
        await asyncio.sleep(AWAY)
        assert _opened(stand, bound) <= 10
        await stand.scheduler.restart()
        await _until(stand, bound, 120, "after it came back")
        await _slow_down(stand)
        await stand.scheduler.start()
        await _until(stand, bound, 200, "as fast as before")
        await stand.pods.until(lambda: not stand.pods.waiting(), "none is left")
        assert stand.observer.rules.peaks["root.a"]["cpu"] == 10_000
        await stand.audited()


def _has_node(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName"))


def _opened(stand: Stand, bound: set[str]) -> int:
    """Pods with an open gate and no node."""
    waiting = [pod for pod in stand.pods.waiting() if pod["metadata"]["name"] not in bound]
    return sum(not pod["spec"].get("schedulingGates") for pod in waiting)


async def _until(stand: Stand, bound: set[str], count: int, when: str) -> None:
    began, before = time.monotonic(), len(bound)
    await stand.pods.until(lambda: len(bound) >= count, f"{count} had a node", timeout=90)
    print(f"{when}: {(len(bound) - before) / (time.monotonic() - began):.1f} pods bound per second")


async def _slow_down(stand: Stand) -> None:
    """Replace kube-scheduler for a while by one that may write twice a second."""
    await stand.scheduler.stop()
    config = copy.deepcopy(scheduler_config(SCOPED, stand.paddock.url))
    config["clientConnection"] = {"qps": 2, "burst": 2}
    slow = await stand.cluster.control_plane.scheduler(config, user="scheduler")
    try:
        await asyncio.sleep(8)
    finally:
        await slow.stop()


# -- F-7 -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def full(cluster: Cluster, **more: Any) -> AsyncIterator[Stand]:
    """A queue of two cores that are taken, a tenant with rights on pods, and one honest pod that waits."""
    async with Stand(cluster, {"a": {"max": {"vcore": "2"}}}, config=SCOPED, **more) as stand:
        await cluster.add_nodes(1)
        await _grant(cluster)
        for at in range(2):
            await cluster.create(guarded(cluster, f"runs-{at}"))
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "the queue is full")
        await cluster.create(guarded(cluster, "honest"))
        await eventually(lambda: _seen(stand, "honest"), "it waits")
        yield stand
        assert stand.observer.rules.violations, "the observer sees what the tenant forced"
        stand.observer.rules.violations.clear()


async def test_a_tenant_removes_his_own_gate(cluster: Cluster) -> None:
    """Without the policy that forbids it, the pod is charged and reported at once; no other is admitted."""
    async with full(cluster) as stand:
        await stand.scheduler.kill()
        await _create_as_tenant(cluster, guarded(cluster, "cheat"))
        await eventually(lambda: _seen(stand, "cheat"), "Paddock knows it")
        path = path_of("Pod", cluster.namespace, "cheat")
        await cluster.patch(path, {"spec": {"schedulingGates": None}}, user="tenant")
        await eventually(lambda: _reserved(stand, 1000), "it is charged before it has a node")
        await eventually(lambda: _reported(cluster, "cheat"), "an Event says so")
        assert await stand.paddock.metric("paddock_admission_bypasses_total") == 1
        await stand.paddock.restart()
        assert await _reserved(stand, 1000), "also after a restart"
        await stand.scheduler.restart()
        await _holds_until_below(cluster, stand)


async def test_a_pod_that_never_had_a_gate(cluster: Cluster) -> None:
    """A pod with the marker for that is charged while pending, a pod without any when found on a node."""
    async with full(cluster) as stand:
        await _create_as_tenant(cluster, guarded(cluster, "cheat", spec={}))
        bare = cluster.pod("bare", queue="root.a")
        await _create_as_tenant(cluster, bare)
        for name in ("cheat", "bare"):
            await eventually(lambda name=name: _reported(cluster, name), f"an Event on {name}")  # type: ignore[misc]
        assert await stand.paddock.metric("paddock_admission_bypasses_total") == 2
        await cluster.delete_pod("bare")
        await _holds_until_below(cluster, stand)


async def _holds_until_below(cluster: Cluster, stand: Stand) -> None:
    """Let the ungated pod run, and admit the honest one when usage is below the max again."""
    await stand.pods.until(lambda: len(stand.pods.bound()) == 3, "the cheat runs")
    await cluster.delete_pod("runs-0")
    await eventually(lambda: _allocated(stand, 2000), "at the max again")
    assert stand.pods.waiting()[0]["spec"]["schedulingGates"]
    await cluster.delete_pod("cheat")
    await stand.pods.until(
        lambda: not stand.pods.waiting() and len(stand.pods.bound()) == 2, "the honest one"
    )
    await stand.audited()


async def _grant(cluster: Cluster) -> None:
    """Grant a tenant rights on pods of a namespace, and wait until the API server knows of them."""
    subject = {"kind": "User", "name": "tenant"}
    await allow(cluster, subject, ["create", "get", "update", "patch", "delete"], "pods", groups=[""])
    path, probe = path_of("Pod", cluster.namespace), guarded(cluster, "probe")

    async def allowed() -> bool:
        tried = cluster.request("POST", path, copy.deepcopy(probe), params={"dryRun": "All"}, user="tenant")
        return not await refusal(tried)

    await eventually(allowed, "the tenant may create pods")


async def _create_as_tenant(cluster: Cluster, pod: Object) -> None:
    await cluster.request("POST", path_of("Pod", cluster.namespace), pod, user="tenant")


async def _seen(stand: Stand, name: str) -> bool:
    status, _ = await stand.paddock.get(f"/debug/pods/{stand.cluster.namespace}/{name}")
    return status == 200


async def _reserved(stand: Stand, millicores: int) -> bool:
    held = await stand.paddock.metric("paddock_queue_reserved", queue="root.a", resource="vcore")
    return held == millicores


async def _allocated(stand: Stand, millicores: int) -> bool:
    held = await stand.paddock.metric("paddock_queue_allocated", queue="root.a", resource="vcore")
    return held == millicores


async def _reported(cluster: Cluster, name: str) -> bool:
    found = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/events")
    return any(
        (each["reason"], each["involvedObject"]["name"]) == (BYPASSED, name) for each in found["items"]
    )
