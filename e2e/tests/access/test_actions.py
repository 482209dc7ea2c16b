"""Actions of administrators through a real API server, under identities with and without the right.

No test acts as cluster-admin: that identity only prepares the cluster, and impersonates the others.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.cluster.client import Cluster, Object, condition, path_of
from e2e.stands.administration import ENABLED, OPERATOR, RIVAL, act, administered, status_of, until_done
from e2e.stands.front_door import FrontDoor
from e2e.stands.stand import eventually, eventually_equal

GATE, ADMITTED = "paddock.dev/queue", "paddock.dev/Admitted"


@pytest_asyncio.fixture(loop_scope="session")
async def door(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    async with administered(FrontDoor(cluster, tmp_path, more=[ENABLED])) as made:
        yield made


@pytest.mark.rule("ACT-1", "ACT-2", "ACT-3")
async def test_a_queue_is_closed_by_its_administrator_and_stays_so(door: FrontDoor) -> None:
    """As an operator of one queue, as one without the right to it, and as a user without any right."""
    close = {"action": "close", "queue": "root.a", "reason": "drain"}

    async def may_send() -> bool:
        return "may not do this" in (await act(door, RIVAL, **close))[1]

    await eventually(may_send, "the roles count", timeout=30)
    code, printed = await act(door, "e2e-nobody", **close)
    assert (code, "cannot create resource" in printed) == (1, True)
    code, printed = await act(door, OPERATOR, **{**close, "queue": "root"})
    assert (code, "may not do this" in printed) == (1, True)
    code, printed = await act(door, OPERATOR, **close, dryRun=True)
    assert (code, json.loads(printed)["changed"], await status_of(door.paddock)) == (0, True, "Active")
    code, printed = await act(door, OPERATOR, **close)
    assert (code, json.loads(printed)["message"]) == (0, "root.a is closed")
    assert await status_of(door.paddock) == "Draining"
    await door.paddock.kill()
    await door.paddock.start()
    assert await status_of(door.paddock) == "Draining"

    async def again() -> bool:
        code, printed = await act(door, OPERATOR, **close)
        return code == 0 and not json.loads(printed)["changed"]

    await eventually(again, "a repeated action changes nothing", timeout=60)
    code, printed = await act(door, OPERATOR, action="open", queue="root.a")
    assert (code, json.loads(printed)["message"], await status_of(door.paddock)) == (
        0,
        "root.a is open",
        "Active",
    )
    lines = [each for each in door.paddock.logs() if each.get("event") == "audit"]
    assert {(each["user"], each["result"]) for each in lines} >= {(OPERATOR, "changed"), (RIVAL, "refused")}
    assert all(each["requestId"].count("-") == 4 for each in lines)


@pytest.mark.rule("ACT-12", "ACT-13")
async def test_a_queue_opens_by_itself_after_a_restart_and_while_no_process_runs(door: FrontDoor) -> None:
    """Two orders with an end: one ends in the next process, the other before its start."""
    close = {"action": "close", "queue": "root.a"}
    await until_done(door, **close, dryRun=True)
    # On a busy machine the order, the restart and the first answer take seconds.
    await until_done(door, **close, until=_in(20))
    await door.paddock.restart()
    assert await status_of(door.paddock) == "Draining"

    async def is_open() -> bool:
        return await status_of(door.paddock) == "Active"

    await eventually(is_open, "the queue opens by itself", timeout=40)
    await until_done(door, **close, dryRun=True)
    end = time.time() + 6
    await until_done(door, **close, until=_in(6))
    await door.paddock.kill()
    await asyncio.sleep(max(0.0, end + 1 - time.time()))
    await door.paddock.start()
    assert await status_of(door.paddock) == "Active"


def _in(seconds: float) -> str:
    return datetime.fromtimestamp(time.time() + seconds, UTC).isoformat()


@pytest.mark.rule("ACT-10")
async def test_gates_of_a_closed_queue_stay_except_for_what_runs(door: FrontDoor) -> None:
    """An application runs on a played node. Two pods wait at Paddock's gate, one of that application.

    No kube-scheduler takes part. What runs at a start counts as let in.
    """
    cluster = door.cluster
    (node,) = await cluster.add_nodes(1)
    await cluster.create_pod("runs", queue="root.a", app="old", spec={"nodeName": node})
    await door.paddock.restart()
    await until_done(door, action="close", queue="root.a")
    gated = {"schedulingGates": [{"name": GATE}]}
    for name, app in (("first", "new"), ("next", "old")):
        await cluster.create_pod(name, queue="root.a", app=app, spec=gated)

    async def read(name: str) -> Object:
        return await cluster.request("GET", path_of("Pod", cluster.namespace, name))

    async def is_open(name: str) -> bool:
        return not (await read(name))["spec"].get("schedulingGates")

    async def reason() -> str:
        return str((condition(await read("first"), ADMITTED) or {}).get("reason", ""))

    await eventually(lambda: is_open("next"), "the gate of the running application's pod is opened")
    await eventually_equal(reason, "QueueClosed", "the condition of the other pod")
    assert not await is_open("first")
    await until_done(door, action="open", queue="root.a")
    await eventually(lambda: is_open("first"), "its gate is opened once the queue is")
    assert await door.paddock.drifts() == []
