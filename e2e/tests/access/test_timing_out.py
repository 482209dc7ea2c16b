"""Applications whose execution time-out ends them, through a crash and by the shipped policy, for real.

Paddock has the account and the roles of the overlay `sidecar`. No one gives an order, and actions are off.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial

import pytest

from e2e.cluster.client import Cluster, Object, node_of
from e2e.stands.gangs import Job, is_holder
from e2e.stands.stand import SIDECAR, Stand, eventually, eventually_equal
from e2e.tests.access.test_ending import is_blocked, is_over, state_of
from e2e.tests.preemption.test_evictions import LABELS, allow, budget
from e2e.tests.tenants.test_records import POLICY

APP = "e2e-endless"
LIMIT = 45
"""Seconds that the application may run."""

TREE = {"a": {"max": {"vcore": "3"}, "properties": {"application.execution.timeout": f"{LIMIT}s"}}}
RECORD = ("paddock.dev/running-since", "paddock.dev/execution")


def record_of(stand: Stand, name: str) -> list[str]:
    """Annotations of a pod in which the time is recorded."""
    pod = stand.pods.named(name) or {}
    found = pod.get("metadata", {}).get("annotations", {})
    return [found[key] for key in RECORD if key in found]


async def has_event(cluster: Cluster, reason: str) -> bool:
    events = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/events")
    return any(each["reason"] == reason for each in events["items"])


@asynccontextmanager
async def begun(cluster: Cluster) -> AsyncIterator[Stand]:
    """Start a stand with a node, whose records no tenant can write."""
    arguments = ["--records-protected=true"]
    async with Stand(cluster, TREE, arguments=lambda _: arguments, policies=(POLICY,), **SIDECAR) as stand:
        await cluster.add_nodes(1, cpu="4")
        yield stand


@pytest.mark.rule("ACT-41", "ACT-42", "ACT-43")
async def test_a_crash_neither_lengthens_nor_shortens_the_time(cluster: Cluster) -> None:
    async with begun(cluster) as stand:
        for name in ("p-0", "p-1"):
            await cluster.create_pod(name, queue="root.a", app=APP)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "both run")
        await stand.pods.until(lambda: len(record_of(stand, "p-0")) == 2, "the originator has the record")
        since = datetime.fromisoformat(record_of(stand, "p-0")[0]).timestamp()
        await stand.paddock.restart()
        assert record_of(stand, "p-1") == []
        await stand.pods.until(lambda: is_over(stand, "p-0", "p-1"), "both go", timeout=120)
        assert time.time() >= since + LIMIT
        await eventually(partial(has_event, cluster, "ExecutionTimeoutNear"), "an Event has warned")
        await eventually(partial(has_event, cluster, "ExecutionTimeout"), "an Event says why")
        await cluster.create_pod("p-2", queue="root.a", app=APP)
        await stand.pods.until(
            lambda: len(record_of(stand, "p-2")) == 2, "a new application begins", timeout=60
        )
        assert datetime.fromisoformat(record_of(stand, "p-2")[0]).timestamp() > since + LIMIT
        await stand.audited()


@pytest.mark.rule("ACT-23", "ACT-42")
async def test_a_budget_holds_a_pod_until_it_allows_the_eviction(cluster: Cluster) -> None:
    """The test writes the status of the budget, as the disruption controller does."""
    async with begun(cluster) as stand:
        await budget(cluster, "db")
        await allow(cluster, "db", 0)
        await cluster.create_pod("guarded", queue="root.a", app=APP, labels=LABELS)
        await cluster.create_pod("plain", queue="root.a", app=APP)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "both run")
        await stand.pods.until(lambda: is_over(stand, "plain"), "one goes", timeout=120)
        await eventually(partial(is_blocked, cluster, "guarded", by="db"), "an Event names the budget")
        assert await state_of(stand, APP) == "Failing"
        await stand.paddock.restart()
        await eventually_equal(partial(state_of, stand, APP), "Failing", "it does after a crash", timeout=60)
        assert not is_over(stand, "guarded")
        await allow(cluster, "db", 1)
        await stand.pods.until(lambda: is_over(stand, "guarded"), "it goes, too", timeout=90)
        await eventually_equal(partial(state_of, stand, APP), "Failed", "it has ended")
        await stand.audited()


@pytest.mark.rule("ACT-21", "ACT-42")
async def test_members_and_placeholders_of_a_gang_go(cluster: Cluster) -> None:
    """Two of three members came, so a placeholder still holds the capacity of the third."""
    job = Job(APP, 3, members=2, queue="root.a")

    def holders(stand: Stand) -> list[Object]:
        return [each for each in stand.pods.bound() if is_holder(each)]

    async with begun(cluster) as stand:
        for pod in job.manifests(cluster):
            await cluster.create(pod)
        await stand.pods.until(
            lambda: all(node_of(stand.pods.named(name) or {"spec": {}}) for name in job.names),
            "both members run",
            timeout=60,
        )
        await stand.pods.until(lambda: len(holders(stand)) == 1, "one placeholder is left")
        (holder,) = holders(stand)
        ended = (*job.names, holder["metadata"]["name"])
        await stand.pods.until(lambda: is_over(stand, *ended), "all of them go", timeout=120)
        await eventually(partial(has_event, cluster, "ExecutionTimeout"), "an Event says why")
        await eventually_equal(partial(state_of, stand, APP), "Failed", "the application has ended")
        assert [each for each in stand.pods.bound() if is_holder(each)] == []
        await stand.audited()
