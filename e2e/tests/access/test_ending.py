"""Applications that an operator ends, with played controllers, budgets and crashes, on a real control plane.

The operator has the right to one queue. Paddock has the account and the roles of the overlay `sidecar`.
"""

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e.cluster.client import Cluster, Object, is_terminal, message_of
from e2e.cluster.controllers import PlayedController
from e2e.stands.administration import (
    OPERATOR,
    RIVAL,
    act,
    administered_stand,
    kill_around_commit,
    until_done,
)
from e2e.stands.front_door import FrontDoor
from e2e.stands.stand import Stand, eventually, eventually_equal
from e2e.tests.preemption.test_evictions import LABELS, allow, budget

APP = "e2e-runaway"
TREE = {"a": {"max": {"vcore": "3"}}}


@asynccontextmanager
async def begun(cluster: Cluster, folder: Path) -> AsyncIterator[tuple[FrontDoor, Stand]]:
    """Start a stand with a node of four cores, of which the queue may use three."""
    door = FrontDoor(cluster, folder)
    async with administered_stand(door, TREE) as stand:
        await cluster.add_nodes(1, cpu="4")
        yield door, stand


def order(cluster: Cluster, **more: Any) -> dict[str, Any]:
    return {"action": "end", "application": APP, "namespace": cluster.namespace, **more}


async def state_of(stand: Stand, app: str = APP) -> str:
    """State of the application that has the id, or had it last."""
    for group in ("active", "completed"):
        _, text = await stand.paddock.get(f"/ws/v1/partition/default/applications/{group}")
        for each in json.loads(text) if text.startswith("[") else ():
            if each["applicationID"] == app:
                return str(each["applicationState"])
    return ""


def is_over(stand: Stand, *names: str) -> bool:
    """True if each of these pods is deleted or terminal."""
    pods = [stand.pods.named(name) for name in names]
    return all(pod is None or is_terminal(pod) for pod in pods)


async def is_blocked(cluster: Cluster, name: str, *, by: str) -> bool:
    """True once an Event on a pod names the budget that holds it."""
    found = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/events")
    return any(
        (each["reason"], each["involvedObject"]["name"]) == ("EvictionBlocked", name)
        and by in each["message"]
        for each in found["items"]
    )


@pytest.mark.rule("ACT-20", "ACT-21", "ACT-22")
async def test_controllers_get_one_new_pod_for_each_and_none_is_bound(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Three pods run and three wait. Two are of a ReplicaSet, three of a Job, and one of none."""
    async with begun(cluster, tmp_path) as (door, stand):
        pod = {"queue": "root.a", "app": APP}
        web = PlayedController(cluster, "ReplicaSet", "web", **pod)
        job = PlayedController(cluster, "Job", "job", **pod)
        for each in (web, job):
            stand.pods.listeners.append(each.on_pod)
        await web.scale(1)
        await job.scale(2)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 3, "three run")
        await web.scale(1)
        await job.scale(1)
        await cluster.create_pod("bare", **pod)
        waiting = ("web-1", "job-2", "bare")
        await stand.pods.until(
            lambda: all("QuotaExceeded" in message_of(stand.pods.named(name)) for name in waiting),
            "three wait",
        )
        await eventually(partial(_second_is_over, stand.pods.named("bare")), "its second is over")
        await until_done(door, **order(cluster, dryRun=True))
        assert len(stand.pods.bound()) == 3
        code, printed = await act(door, RIVAL, **order(cluster))
        assert (code, "may not do this" in printed) == (1, True)
        answer = await until_done(door, **order(cluster, reason="runaway"))
        assert answer["controllers"] == ["Job.batch/job", "ReplicaSet.apps/web"]
        assert len(answer["pods"]) == 6
        ended = ("web-0", "job-0", "job-1", "job-2", "bare")
        await stand.pods.until(lambda: is_over(stand, *ended), "all that the order ends are over")
        # One for each that ended: web-0 of the ReplicaSet, and three of the Job.
        await stand.pods.until(lambda: (len(web.created), len(job.created)) == (3, 6), "they are replaced")
        new = ("web-2", "job-3", "job-4", "job-5")
        await stand.pods.until(
            lambda: all("ApplicationEnded" in message_of(stand.pods.named(name)) for name in new),
            "the new ones wait",
        )
        assert [each["metadata"]["name"] for each in stand.pods.bound() if not is_terminal(each)] == []
        assert not (await until_done(door, **order(cluster, reason="runaway")))["changed"]
        assert (len(web.created), len(job.created)) == (3, 6)
        await until_done(door, **order(cluster) | {"action": "lift"})
        await stand.pods.until(lambda: len(_running(stand)) == 3, "three of them run once the bar is lifted")
        await stand.audited()


async def _second_is_over(pod: Object) -> bool:
    """True once pods that are created now cannot be taken for those of this pod's second (ACT-20)."""
    created = datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
    return time.time() >= created.timestamp() + 1


def _running(stand: Stand) -> list[Any]:
    return [each for each in stand.pods.bound() if not is_terminal(each)]


@pytest.mark.rule("ACT-23")
async def test_a_budget_holds_a_pod_through_a_crash(cluster: Cluster, tmp_path: Path) -> None:
    """The test writes the status of the budget, as the disruption controller does."""
    async with begun(cluster, tmp_path) as (door, stand):
        await budget(cluster, "db")
        await allow(cluster, "db", 0)
        await cluster.create_pod("guarded", queue="root.a", app=APP, labels=LABELS)
        await cluster.create_pod("plain", queue="root.a", app=APP)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "both run")
        await until_done(door, **order(cluster, bar=1))
        await stand.pods.until(lambda: is_over(stand, "plain"), "one is evicted")
        await eventually(partial(is_blocked, cluster, "guarded", by="db"), "an Event names the budget")
        await eventually_equal(partial(state_of, stand), "Failing", "it waits for the budget")
        await stand.paddock.restart()
        await eventually_equal(partial(state_of, stand), "Failing", "it does after a crash", timeout=60)
        assert len(_running(stand)) == 1
        await allow(cluster, "db", 1)
        await stand.pods.until(lambda: is_over(stand, "guarded"), "it is evicted, too", timeout=90)
        await eventually_equal(partial(state_of, stand), "Failed", "it has ended")
        await stand.audited()


@pytest.mark.rule("ACT-3", "ACT-20")
@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
async def test_a_crash_around_the_commit(cluster: Cluster, tmp_path: Path, committed: bool) -> None:
    """Before it, only a repeated request ends the application. After it, the next start does."""
    async with begun(cluster, tmp_path) as (door, stand):
        await cluster.create_pod("p", queue="root.a", app=APP)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "it runs")
        await until_done(door, **order(cluster, dryRun=True))
        send = partial(act, door, OPERATOR, **order(cluster))
        await kill_around_commit(stand, send, committed=committed)
        assert len(_running(stand)) == 1
        await stand.paddock.start()
        if not committed:
            await eventually_equal(partial(state_of, stand), "Running", "nothing was ordered", timeout=60)
            assert len(_running(stand)) == 1
            assert (await until_done(door, **order(cluster)))["changed"]
        await stand.pods.until(lambda: is_over(stand, "p"), "it is evicted once")
        if committed:
            assert not (await until_done(door, **order(cluster)))["changed"]
        # The watch may show the end of the pod before the proxy has the answer.
        await stand.pods.until(lambda: stand.proxy.accepted("POST", "/pods/p/eviction$"), "it was answered")
        assert stand.proxy.accepted("POST", "/pods/p/eviction$") == 1
        await stand.audited()
