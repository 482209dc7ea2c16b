"""Applications that an operator moves, with crashes around the commit, on a real control plane.

The operator has the right to one queue, and moves between its leaves. Paddock has the account and the roles
of the overlay `sidecar`.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e.cluster.client import Cluster, message_of
from e2e.stands.administration import (
    OPERATOR,
    RIVAL,
    act,
    administered_stand,
    kill_around_commit,
    until_done,
)
from e2e.stands.front_door import FrontDoor
from e2e.stands.stand import Stand, eventually, eventually_equal, limits

APP = "e2e-wanders"
TREE = {
    "a": {
        "max": {"vcore": "3"},
        "x": {"max": {"vcore": "2"}},
        "y": {"max": {"vcore": "3"}},
        "z": {"max": {"vcore": "1"}},
    }
}


@asynccontextmanager
async def begun(cluster: Cluster, folder: Path) -> AsyncIterator[tuple[FrontDoor, Stand]]:
    """Start a stand with two pods of an application that run in one leaf, and a third that waits."""
    door = FrontDoor(cluster, folder)
    async with administered_stand(door, TREE) as stand:
        await cluster.add_nodes(1, cpu="8")
        for name in ("p-0", "p-1", "p-2"):
            await cluster.create_pod(name, queue="root.a.x", app=APP)
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two run")
        # The observer counts by labels, which a move does not change. The queue above both leaves has all.
        stand.observer.set_limits({path: most for path, most in limits(TREE).items() if path == "root.a"})
        yield door, stand


def order(cluster: Cluster, queue: str = "root.a.y", **more: Any) -> dict[str, Any]:
    target = {"application": APP, "namespace": cluster.namespace, "queue": queue}
    return {"action": "move", **target, **more}


async def queue_of(stand: Stand) -> str:
    _, text = await stand.paddock.get("/ws/v1/partition/default/applications/active")
    found = json.loads(text) if text.startswith("[") else []
    return next((str(each["queueName"]) for each in found if each["applicationID"] == APP), "")


async def settled(stand: Stand) -> None:
    """Wait until all usage counts in the new leaf, and the audit finds no drift."""
    for queue, cores in (("root.a.x", 0), ("root.a.y", 3000), ("root.a", 3000)):
        ask = partial(stand.paddock.metric, "paddock_queue_allocated", queue=queue, resource="vcore")
        await eventually_equal(ask, cores, f"usage of {queue}", timeout=30)
    assert await stand.paddock.drifts() == []


@pytest.mark.rule("ACT-30", "ACT-31")
async def test_an_application_is_moved_and_stays_there(cluster: Cluster, tmp_path: Path) -> None:
    async with begun(cluster, tmp_path) as (door, stand):
        await stand.pods.until(lambda: stand.pods.refused("QuotaExceeded"), "one waits")
        dry = await until_done(door, **order(cluster, dryRun=True))
        assert (dry["source"], len(dry["pods"]), await queue_of(stand)) == ("root.a.x", 3, "root.a.x")
        refused = (
            (RIVAL, order(cluster), "may not do this"),
            (OPERATOR, order(cluster, "root.a.z"), "would be missing"),
            (OPERATOR, order(cluster, "root.a"), "no leaf"),
            (OPERATOR, order(cluster, "root.a.none"), "no such queue"),
            (OPERATOR, order(cluster, "root.b"), "may not do this"),
            (OPERATOR, order(cluster) | {"application": "none"}, "may not do this"),
        )
        for user, asked, why in refused:
            await eventually(partial(_is_refused, door, user, asked, why), f"refused: {why}", timeout=60)
        assert (await until_done(door, **order(cluster)))["changed"]
        assert await queue_of(stand) == "root.a.y"
        await stand.pods.until(lambda: len(stand.pods.bound()) == 3, "the third has quota there")
        assert not (await until_done(door, **order(cluster)))["changed"]
        await stand.paddock.restart()
        await cluster.create_pod("p-3", queue="root.a.x", app=APP)
        await stand.pods.until(lambda: "root.a.y" in message_of(stand.pods.named("p-3")), "it follows")
        await eventually_equal(partial(queue_of, stand), "root.a.y", "it is there", timeout=60)
        assert len(stand.pods.bound()) == 3
        await settled(stand)


async def _is_refused(door: FrontDoor, user: str, asked: dict[str, Any], why: str) -> bool:
    """True once an order is refused for a reason. Too many reviews at once are refused for their own."""
    code, printed = await act(door, user, **asked)
    assert code == 1
    return why in printed


@pytest.mark.rule("ACT-3", "ACT-33")
@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
async def test_a_crash_around_the_commit(cluster: Cluster, tmp_path: Path, committed: bool) -> None:
    """Before it, only a repeated request moves the application. After it, the next start finds it moved."""
    async with begun(cluster, tmp_path) as (door, stand):
        await until_done(door, **order(cluster, dryRun=True))
        send = partial(act, door, OPERATOR, **order(cluster))
        await kill_around_commit(stand, send, committed=committed)
        await stand.paddock.start()
        queue = "root.a.y" if committed else "root.a.x"
        await eventually_equal(partial(queue_of, stand), queue, "it is where the store says", timeout=60)
        assert (await until_done(door, **order(cluster)))["changed"] is not committed
        await stand.pods.until(lambda: len(stand.pods.bound()) == 3, "all run")
        assert await queue_of(stand) == "root.a.y"
        await settled(stand)
