"""Queues that an operator closes and opens, with crashes around the commit, on a real control plane.

The operator has the right to one queue. Paddock has the account and the roles of the overlay `sidecar`.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e.cluster.client import Cluster, message_of, node_of, path_of
from e2e.stands.administration import (
    OPERATOR,
    STORE,
    act,
    administered_stand,
    kill_around_commit,
    status_of,
    until_done,
)
from e2e.stands.front_door import FrontDoor
from e2e.stands.stand import NAMESPACE, Stand, eventually, eventually_equal
from extender.actions.stored import KEY, MOST_ENTRIES

TREE = {"a": {"max": {"vcore": "6"}}}
CLOSE: dict[str, Any] = {"action": "close", "queue": "root.a"}
OPEN: dict[str, Any] = {"action": "open", "queue": "root.a"}


@asynccontextmanager
async def begun(cluster: Cluster, folder: Path) -> AsyncIterator[tuple[FrontDoor, Stand]]:
    """Start a stand in whose queue an application runs."""
    door = FrontDoor(cluster, folder)
    async with administered_stand(door, TREE) as stand:
        await cluster.add_nodes(1, cpu="8")
        await cluster.create_pod("runs", queue="root.a", app="old")
        await until_bound(stand, "runs")
        yield door, stand


async def until_bound(stand: Stand, *names: str) -> None:
    await stand.pods.until(lambda: all(is_bound(stand, name) for name in names), f"{names} run")


def is_bound(stand: Stand, name: str) -> bool:
    pod = stand.pods.named(name)
    return pod is not None and bool(node_of(pod))


async def until_waits(stand: Stand, name: str) -> None:
    def waits() -> bool:
        return "QueueClosed" in message_of(stand.pods.named(name))

    await stand.pods.until(waits, f"{name} waits for its queue")
    assert not is_bound(stand, name)


async def version_of_store(cluster: Cluster) -> str:
    found = await cluster.request("GET", path_of("ConfigMap", NAMESPACE, STORE))
    return str(found["metadata"]["resourceVersion"])


@pytest.mark.rule("ACT-3", "ACT-7", "ACT-10", "ACT-13")
@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("order", [CLOSE, OPEN], ids=["close", "open"])
async def test_a_crash_around_the_commit(
    cluster: Cluster, tmp_path: Path, order: dict[str, Any], committed: bool
) -> None:
    """Before it, the queue is as it was. After it, the next start has the order. Repeats change nothing."""
    async with begun(cluster, tmp_path) as (door, stand):
        await until_done(door, **CLOSE, dryRun=order == CLOSE)
        await kill_around_commit(stand, partial(act, door, OPERATOR, **order), committed=committed)
        await stand.paddock.start()
        is_closed = committed is (order == CLOSE)
        assert await status_of(door.paddock) == ("Draining" if is_closed else "Active")
        await cluster.create_pod("first", queue="root.a", app="new")
        await cluster.create_pod("next", queue="root.a", app="old")
        await until_bound(stand, "next")
        await (until_waits if is_closed else until_bound)(stand, "first")
        assert (await until_done(door, **order))["changed"] is not committed
        version = await version_of_store(cluster)
        assert not (await until_done(door, **order))["changed"]
        assert await version_of_store(cluster) == version
        assert await status_of(door.paddock) == ("Draining" if order == CLOSE else "Active")
        await cluster.create_pod("later", queue="root.a", app="newer")
        await (until_waits if order == CLOSE else until_bound)(stand, "later")
        await until_done(door, **OPEN)
        await until_bound(stand, "first", "next", "later")
        await stand.audited()


@pytest.mark.rule("ACT-4", "ACT-7")
async def test_a_full_store_refuses_a_further_order_and_keeps_the_others(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The cluster's administrator fills the store with orders about queues that do not exist."""
    async with begun(cluster, tmp_path) as (door, stand):
        entries = [
            {"queue": f"root.a.q{at}", "by": "e2e", "since": "2026-01-01T00:00:00Z"}
            for at in range(MOST_ENTRIES)
        ]
        text = json.dumps({"version": 2, "closedQueues": entries, "endedApplications": []})
        await until_done(door, **CLOSE, dryRun=True)
        await cluster.configmap(NAMESPACE, STORE, {KEY: text})

        async def is_refused(order: dict[str, Any]) -> bool:
            code, printed = await act(door, OPERATOR, **order)
            return (code, f"there are {MOST_ENTRIES} actions" in printed) == (1, True)

        await eventually(partial(is_refused, CLOSE), "there is no place", timeout=30)
        version = await version_of_store(cluster)
        assert await is_refused(CLOSE | {"dryRun": True})
        end = {"action": "end", "application": "old", "namespace": cluster.namespace}
        assert await is_refused(end)
        assert await version_of_store(cluster) == version
        assert await status_of(door.paddock) == "Active"
        await cluster.create_pod("first", queue="root.a", app="new")
        await until_bound(stand, "first")
        assert (await until_done(door, **OPEN | {"queue": "root.a.q0"}))["changed"]
        assert (await until_done(door, **CLOSE))["changed"]
        await eventually_equal(partial(status_of, door.paddock), "Draining", "there was place for one")
        lines = [each for each in stand.paddock.logs() if each.get("event") == "audit"]
        refused = {(each["action"], each["status"]) for each in lines if each["result"] == "refused"}
        assert refused >= {("close", 409), ("end", 409)}
        await stand.audited()
