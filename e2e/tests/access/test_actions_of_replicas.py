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
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually
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
    assert await status_of(leader) == "Draining"
    await leader.kill()
    await door.lead(STANDBY[0])

    async def leads() -> bool:
        return await door.paddock.metric("paddock_leading") == 1

    await eventually(leads, "the standby leads", timeout=30)
    assert await status_of(door.paddock) == "Draining"
    assert not (await until_done(door, **close))["changed"]
    assert (await until_done(door, action="open", queue="root.a"))["changed"]
    assert await status_of(door.paddock) == "Active"
    assert audited(door.paddock) == [("close", "unchanged"), ("open", "changed")]


async def queue_of(paddock: PaddockProcess, app: str) -> str:
    _, text = await paddock.get("/ws/v1/partition/default/applications/active")
    found = json.loads(text) if text.startswith("[") else []
    return next((str(each["queueName"]) for each in found if each["applicationID"] == app), "")


@pytest.mark.rule("ACT-30", "ACT-33", "ACT-22")
async def test_a_new_leader_keeps_a_moved_application_and_the_bar_of_an_ended_one(door: FrontDoor) -> None:
    """Pods name their node, since no kube-scheduler runs. Pods of both applications name the former queue."""
    cluster = door.cluster
    queues = document({"a": {"x": {"max": {"vcore": "8"}}, "y": {"max": {"vcore": "8"}}}})
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": queues})
    leader = await door.start_another(LEADER[1], LEADER[0])
    (node,) = await cluster.add_nodes(1, cpu="8")
    for app in ("moves", "ends"):
        pod = cluster.pod(f"p-{app}", queue="root.a.x", app=app)
        pod["spec"]["nodeName"] = node
        await cluster.create(pod)

    async def count_there() -> bool:
        return {await queue_of(leader, "moves"), await queue_of(leader, "ends")} == {"root.a.x"}

    await eventually(count_there, "both count in the first leaf", timeout=60)
    move = {"action": "move", "application": "moves", "namespace": cluster.namespace, "queue": "root.a.y"}
    end = {"action": "end", "application": "ends", "namespace": cluster.namespace}
    assert (await until_done(door, **move))["changed"]
    assert (await until_done(door, **end))["changed"]
    await leader.kill()
    await door.lead(STANDBY[0])

    async def is_moved() -> bool:
        return await queue_of(door.paddock, "moves") == "root.a.y"

    await eventually(is_moved, "it counts in the second leaf", timeout=60)
    for order in (move, end):
        assert not (await until_done(door, **order))["changed"]
    lift = {**end, "action": "lift"}
    assert (await until_done(door, **lift))["changed"]
    assert not (await until_done(door, **lift))["changed"]
    assert await door.paddock.drifts() == []
