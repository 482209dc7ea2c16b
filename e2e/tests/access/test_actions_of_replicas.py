"""Actions where two Paddocks run: a standby passes them on, and a new leader finds what was ordered."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster.client import Cluster
from e2e.programs.paddock import PaddockProcess
from e2e.stands.administration import ENABLED, administered, status_of, until_done
from e2e.stands.front_door import FrontDoor
from e2e.stands.stand import eventually
from e2e.tests.access.test_replicas import LEADER, LEASE, STANDBY


@pytest_asyncio.fixture(loop_scope="session")
async def door(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    made = FrontDoor(cluster, tmp_path, host=STANDBY[0], lease=LEASE, more=[ENABLED])
    await cluster.ensure_namespace("paddock-system")
    await made.lead(LEADER[0])
    for name, address in (LEADER, STANDBY):
        await made.pod(name, address)
    async with administered(made):
        yield made


def audited(paddock: PaddockProcess) -> list[tuple[str, str]]:
    """Action and result of each line of the audit log that is no refusal."""
    lines = [each for each in paddock.logs() if each.get("event") == "audit"]
    return [(each["action"], each["result"]) for each in lines if each["result"] != "refused"]


@pytest.mark.rule("ACT-1", "ACT-3", "ACT-13")
async def test_a_standby_passes_an_order_on_and_keeps_it_when_it_leads(door: FrontDoor) -> None:
    """As an operator of one queue. The APIService leads to the standby; then the leader is killed."""
    leader = await door.start_another(LEADER[1], LEADER[0])
    close: dict[str, Any] = {"action": "close", "queue": "root.a", "reason": "drain"}
    assert (await until_done(door, **close))["changed"]
    assert (audited(leader), audited(door.paddock)) == ([("close", "changed")], [])
    _, text = await leader.get("/ws/v1/partition/default/queue/root.a")
    assert json.loads(text)["status"] == "Draining"
    await leader.kill()
    await door.lead(STANDBY[0])

    async def leads() -> bool:
        return await door.paddock.metric("paddock_leading") == 1

    await eventually(leads, "the standby leads", timeout=30)
    assert await status_of(door) == "Draining"
    assert not (await until_done(door, **close))["changed"]
    assert (await until_done(door, action="open", queue="root.a"))["changed"]
    assert await status_of(door) == "Active"
    assert audited(door.paddock) == [("close", "unchanged"), ("open", "changed")]
