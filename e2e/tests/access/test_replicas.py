"""Two Paddocks behind a Service: a standby gives the leader's answers at both ports with a login (REST-43).

Readers are a service account and a user with `paddock-viewer`. Both Paddocks run under the shipped role.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.cluster.client import Cluster
from e2e.stands.front_door import LOOPBACK, ODD_QUEUE, ROOT, FrontDoor, account, bind
from e2e.stands.stand import eventually

LEASE = "kube-system/paddock-scheduler"
"""The Lease of the overlay `sidecar`, whose role may read it."""

LEADER, STANDBY = ("paddock-scheduler-0", "127.0.0.2"), ("paddock-scheduler-1", LOOPBACK)
"""Name of the pod, which is its host's name, and its address. The APIService leads to the standby."""

EVENTS = "/ws/v1/events/batch"
READER = {"kind": "User", "name": "tenant", "apiGroup": "rbac.authorization.k8s.io"}


@pytest_asyncio.fixture(loop_scope="session")
async def door(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    made = FrontDoor(cluster, tmp_path, host=STANDBY[0], lease=LEASE)
    try:
        await cluster.ensure_namespace("paddock-system")
        await made.lead(LEADER[0])
        for name, address in (LEADER, STANDBY):
            await made.pod(name, address)
        await made.start()
        yield made
    finally:
        await made.stop()


def instance_in(text: str) -> str:
    """The process that an answer about events is of; empty for another answer."""
    try:
        return str(json.loads(text).get("InstanceUUID", ""))
    except ValueError:
        return ""


@pytest.mark.rule("REST-43")
async def test_a_standby_gives_the_leaders_answers_and_then_leads_itself(door: FrontDoor) -> None:
    cluster = door.cluster
    leader = await door.start_another(LEADER[1], LEADER[0])

    async def instance() -> str:
        return instance_in((await leader.get(EVENTS))[1])

    leading = await eventually(instance, "the leader answers", timeout=30)
    assert (await door.paddock.get(EVENTS))[0] == 503
    token = await account(cluster, "reader", role="paddock-viewer")
    await bind(cluster, "paddock-viewer", READER)

    async def by_token() -> tuple[int, str]:
        status, text = await door.ask("rest", EVENTS, {"Authorization": f"Bearer {token}"})
        return status, instance_in(text)

    async def is_answered() -> bool:
        return await by_token() == (200, leading)

    await eventually(is_answered, "the standby's REST port answers as the leader", timeout=30)

    async def is_led() -> bool:
        code, printed = await door.kubectl("get", "--raw", f"{ROOT}{EVENTS}", user="tenant")
        return code == 0 and instance_in(printed) == leading

    await eventually(is_led, "the aggregated API answers as the leader", timeout=30)
    path = f"{ROOT}/ws/v1/partition/default/queue/root.x%2540y%25231"
    code, printed = await door.kubectl("get", "--raw", path, user="tenant")
    assert (code, json.loads(printed)["queuename"]) == (0, f"root.{ODD_QUEUE}")
    assert await door.paddock.metric("paddock_passed_on_requests_total", outcome="answered") >= 3
    assert await leader.metric("paddock_passed_on_requests_total") == 0
    # The leader believes the certificate of an instance alone.
    for certificate in ("", "front-proxy/front-proxy-client"):
        headers = {"Authorization": f"Bearer {token}", "X-Remote-User": "system:admin"}
        found = await door.ask("peer", EVENTS, headers, certificate=certificate, address=LEADER[1])
        assert found == (0, "")

    await leader.kill()
    status, text = await door.ask("rest", EVENTS, {"Authorization": f"Bearer {token}"})
    assert (status, json.loads(text)["status_code"]) == (503, 503)
    await door.lead(STANDBY[0])

    async def leads() -> bool:
        status, answered = await by_token()
        return status == 200 and answered not in ("", leading)

    await eventually(leads, "the standby leads and answers itself", timeout=30)
