"""The queue document, written through a real API server under identities with and without the right.

No test acts as cluster-admin: that identity only prepares the cluster, and impersonates the others.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster.client import Cluster, Object, path_of
from e2e.programs.paddock import PaddockProcess
from e2e.stands.administration import ENABLED, OPERATOR, RIVAL, administered, configurers
from e2e.stands.front_door import ROOT, FrontDoor
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually, eventually_equal
from e2e.tests.access.test_replicas import LEADER, LEASE, STANDBY
from extender.configuration.sources import checksum

WRITES = [ENABLED, "--admin-config=true", "--admin-acl=true"]
LISTED = "e2e-listed"
"""A user whom `adminacl` of the root names, with every other right but the one to the ConfigMap."""

BEFORE = document({"a": {}}).replace("submitacl: '*'", f"submitacl: '*'\n    adminacl: {LISTED}")
AFTER = "# by the operator, kept as it is\n" + BEFORE.replace("name: a", "name: a # a comment") + "\n\n"


@asynccontextmanager
async def _configured(door: FrontDoor) -> AsyncIterator[FrontDoor]:
    async with configurers(door.cluster, [OPERATOR], [OPERATOR, RIVAL, LISTED]), administered(door):
        await door.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": BEFORE, "other.key": "stays"})
        yield door


@pytest_asyncio.fixture(loop_scope="session")
async def door(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    async with _configured(FrontDoor(cluster, tmp_path, more=WRITES)) as made:
        await until_in_force(made.paddock, BEFORE)
        yield made


async def write(door: FrontDoor, user: str, text: str, query: str = "") -> tuple[int, str]:
    """Exit code and output of a write under an identity."""
    file = door.folder / "queues.yaml"
    file.write_text(text)
    path = f"{ROOT}/ws/v1/config{query}"
    return await door.kubectl("replace", "--raw", path, "-f", str(file), f"--as={user}", user="admin")


async def until_written(door: FrontDoor, text: str, query: str = "") -> Any:
    """Write as the operator until it is carried out, and return the answer."""

    async def done() -> Any:
        code, printed = await write(door, OPERATOR, text, query)
        return json.loads(printed) if code == 0 else None

    return await eventually(done, "the operator may write", timeout=60)


async def stored(door: FrontDoor) -> Object:
    return await door.cluster.request("GET", path_of("ConfigMap", NAMESPACE, CONFIG_MAP))


async def until_in_force(paddock: PaddockProcess, text: str) -> None:
    async def in_force() -> bool:
        _, shown = await paddock.get("/readyz?verbose")
        return f"configuration: {checksum(text)}\n" in shown

    await eventually(in_force, "the document is in force", timeout=30)


@pytest.mark.rule("ACT-50", "ACT-53", "ACT-55")
async def test_the_right_to_the_configmap_decides_about_a_write(door: FrontDoor) -> None:
    """As an operator who may, as one who may not, as a user whom `adminacl` names, and as nobody."""

    async def may_send(user: str) -> bool:
        return "may not do this" in (await write(door, user, AFTER))[1]

    for user in (RIVAL, LISTED):
        await eventually(lambda user=user: may_send(user), "the roles count", timeout=30)
    code, printed = await write(door, "e2e-nobody", AFTER)
    assert (code, "cannot update resource" in printed) == (1, True)
    assert (await stored(door))["data"]["queues.yaml"] == BEFORE
    assert (await until_written(door, AFTER, "?dryRun=All"))["changed"]
    assert (await stored(door))["data"]["queues.yaml"] == BEFORE
    answer = await until_written(door, AFTER)
    assert (answer["changed"], answer["checksum"]) == (True, checksum(AFTER))
    found = await stored(door)
    assert found["data"] == {"queues.yaml": AFTER, "other.key": "stays"}
    assert found["metadata"]["resourceVersion"] == answer["resourceVersion"]
    await until_in_force(door.paddock, AFTER)
    assert not (await until_written(door, AFTER))["changed"]
    lines = [each for each in door.paddock.logs() if each.get("event") == "audit"]
    seen = {(each["user"], each["action"], each["result"]) for each in lines}
    assert seen >= {
        (OPERATOR, "configure", "changed"),
        (OPERATOR, "configure", "unchanged"),
        (RIVAL, "configure", "refused"),
        (LISTED, "configure", "refused"),
    }


@pytest.mark.rule("ACT-53")
async def test_an_edit_of_another_is_not_lost(door: FrontDoor) -> None:
    await until_written(door, BEFORE, "?dryRun=All")
    version = (await stored(door))["metadata"]["resourceVersion"]
    other = BEFORE + "# of another\n"
    await door.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": other})
    code, printed = await write(door, OPERATOR, AFTER, f"?resourceVersion={version}")
    assert (code, "was changed meanwhile" in printed) == (1, True)
    assert (await stored(door))["data"]["queues.yaml"] == other


@pytest.mark.rule("ACT-54")
@pytest.mark.parametrize(
    ("manager", "owner"),
    [("argocd-controller", "Argo CD"), ("kustomize-controller", "Flux"), ("helm", "Helm")],
)
async def test_a_configmap_that_another_program_applied_is_written_by_force_only(
    door: FrontDoor, manager: str, owner: str
) -> None:
    """The managed fields are those that the API server writes for a server-side apply of that name."""
    await until_written(door, BEFORE, "?dryRun=All")
    applied = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE},
        "data": {"queues.yaml": BEFORE + f"# by {manager}\n"},
    }
    file = door.folder / "applied.json"
    file.write_text(json.dumps(applied))
    options = ("--server-side", f"--field-manager={manager}", "--force-conflicts")
    assert (await door.kubectl("apply", *options, "-f", str(file), user="admin"))[0] == 0
    code, printed = await write(door, OPERATOR, AFTER)
    assert (code, f"{owner} (field manager {manager})" in printed) == (1, True)
    assert (await stored(door))["data"]["queues.yaml"] == applied["data"]["queues.yaml"]  # type: ignore[index]
    assert (await write(door, OPERATOR, AFTER, "?force=true"))[0] == 0
    assert (await stored(door))["data"]["queues.yaml"] == AFTER


@pytest.mark.rule("ACT-53")
@pytest.mark.parametrize("after", [0.0, 0.02, 0.05, 0.1, 0.2])
async def test_a_process_that_is_killed_leaves_one_of_the_two_documents(
    door: FrontDoor, after: float
) -> None:
    await until_written(door, BEFORE)
    sending = asyncio.create_task(write(door, OPERATOR, AFTER))
    # kubectl needs some time to start, so the kill comes before, during or after the write.
    await asyncio.sleep(0.1 + after)
    await door.paddock.kill()
    await sending
    assert (await stored(door))["data"]["queues.yaml"] in (BEFORE, AFTER)
    await door.paddock.start()
    await until_written(door, AFTER)
    assert (await stored(door))["data"] == {"queues.yaml": AFTER, "other.key": "stays"}
    await until_in_force(door.paddock, AFTER)


@pytest_asyncio.fixture(loop_scope="session")
async def pair(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    made = FrontDoor(cluster, tmp_path, host=STANDBY[0], lease=LEASE, more=WRITES)
    await cluster.ensure_namespace(NAMESPACE)
    await made.lead(LEADER[0])
    for name, address in (LEADER, STANDBY):
        await made.pod(name, address)
    async with _configured(made) as door:
        yield door


@pytest.mark.rule("ACT-50", "ACT-55")
async def test_a_standby_passes_a_write_on_and_both_instances_have_it(pair: FrontDoor) -> None:
    """The APIService leads to the standby. Then the leader is killed, and the standby writes by itself."""
    leader = await pair.start_another(LEADER[1], LEADER[0])
    # Larger than the bodies of actions.
    large = AFTER + "# " + "x" * 100_000 + "\n"
    await until_written(pair, large)
    for each in (leader, pair.paddock):
        await until_in_force(each, large)
    assert _written_by(leader)
    assert not _written_by(pair.paddock)
    await leader.kill()
    await pair.lead(STANDBY[0])

    async def leads() -> float:
        return await pair.paddock.metric("paddock_leading")

    await eventually_equal(leads, 1, "the standby leads", timeout=30)
    assert not (await until_written(pair, large))["changed"]
    assert (await until_written(pair, BEFORE))["changed"]
    assert _written_by(pair.paddock)
    await until_in_force(pair.paddock, BEFORE)


def _written_by(paddock: PaddockProcess) -> bool:
    lines = [each for each in paddock.logs() if each.get("event") == "audit"]
    return any((each["action"], each["result"]) == ("configure", "changed") for each in lines)
