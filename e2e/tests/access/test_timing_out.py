"""Applications whose execution time-out ends them, through a crash and by the shipped policy, for real.

Paddock has the account and the roles of the overlay `sidecar`. No one gives an order, and actions are off.
"""

import time
from datetime import datetime
from functools import partial

import pytest

from e2e.cluster.client import Cluster, is_terminal
from e2e.stands.stand import SIDECAR, Stand, eventually
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


def is_over(stand: Stand, name: str) -> bool:
    pod = stand.pods.named(name)
    return pod is None or is_terminal(pod)


async def has_event(cluster: Cluster, reason: str) -> bool:
    events = await cluster.request("GET", f"/api/v1/namespaces/{cluster.namespace}/events")
    return any(each["reason"] == reason for each in events["items"])


@pytest.mark.rule("ACT-41", "ACT-42", "ACT-43")
async def test_a_crash_neither_lengthens_nor_shortens_the_time(cluster: Cluster) -> None:
    arguments = ["--records-protected=true"]
    async with Stand(cluster, TREE, arguments=lambda _: arguments, policies=(POLICY,), **SIDECAR) as stand:
        await cluster.add_nodes(1, cpu="4")
        for name in ("p-0", "p-1"):
            await cluster.create_pod(name, queue="root.a", app=APP)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "both run")
        await stand.pods.until(lambda: len(record_of(stand, "p-0")) == 2, "the originator has the record")
        since = datetime.fromisoformat(record_of(stand, "p-0")[0]).timestamp()
        await stand.paddock.restart()
        assert record_of(stand, "p-1") == []
        await stand.pods.until(
            lambda: is_over(stand, "p-0") and is_over(stand, "p-1"), "both go", timeout=120
        )
        assert time.time() >= since + LIMIT
        await eventually(partial(has_event, cluster, "ExecutionTimeoutNear"), "an Event has warned")
        await eventually(partial(has_event, cluster, "ExecutionTimeout"), "an Event says why")
        await cluster.create_pod("p-2", queue="root.a", app=APP)
        await stand.pods.until(
            lambda: len(record_of(stand, "p-2")) == 2, "a new application begins", timeout=60
        )
        assert datetime.fromisoformat(record_of(stand, "p-2")[0]).timestamp() > since + LIMIT
        await stand.audited()
