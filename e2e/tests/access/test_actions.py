"""Actions of administrators through a real API server, under identities with and without the right.

No test acts as cluster-admin: that identity only prepares the cluster, and impersonates the others.
"""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.stands.front_door import ROOT, FrontDoor
from e2e.stands.stand import NAMESPACE, eventually

STORE = "paddock-actions"
GROUP = "rbac.authorization.k8s.io"
OPERATOR, RIVAL = "e2e-operator", "e2e-rival"


def roles() -> list[dict[str, Any]]:
    """Roles that the chart renders with `admin.enabled`, and the right of the operator to one queue."""
    one = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [STORE]}
    send = {"apiGroups": ["paddock.dev"], "resources": ["actions"], "verbs": ["create"]}
    queue = {"apiGroups": ["paddock.dev"], "resources": ["queues"], "resourceNames": ["root.a"]}
    service = {"kind": "ServiceAccount", "name": "paddock", "namespace": NAMESPACE}
    people = [{"kind": "User", "name": name, "apiGroup": GROUP} for name in (OPERATOR, RIVAL)]
    return [
        _role("Role", STORE, [{**one, "verbs": ["get", "list", "watch", "patch"]}]),
        _role("ClusterRole", "paddock-operator", [send]),
        _role("ClusterRole", "e2e-administers-a", [{**queue, "verbs": ["administer"]}]),
        _binding("RoleBinding", STORE, "Role", [service]),
        _binding("ClusterRoleBinding", "paddock-operator", "ClusterRole", people),
        _binding("ClusterRoleBinding", "e2e-administers-a", "ClusterRole", people[:1]),
    ]


def _role(kind: str, name: str, rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": _meta(kind, name), "rules": rules}


def _binding(kind: str, name: str, of: str, subjects: list[dict[str, Any]]) -> dict[str, Any]:
    role = {"apiGroup": GROUP, "kind": of, "name": name}
    meta = _meta(kind, name)
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": kind,
        "metadata": meta,
        "roleRef": role,
        "subjects": subjects,
    }


def _meta(kind: str, name: str) -> dict[str, str]:
    return {"name": name} if kind.startswith("Cluster") else {"name": name, "namespace": NAMESPACE}


@pytest_asyncio.fixture(loop_scope="session")
async def door(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    made = FrontDoor(cluster, tmp_path, more=["--admin-enabled=true"])
    try:
        await cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        for each in roles():
            await cluster.apply(each)
        await made.start()
        yield made
    finally:
        await made.stop()
        for each in reversed(roles()):
            meta = each["metadata"]
            path = path_of(each["kind"], meta.get("namespace", ""), meta["name"])
            await cluster.request("DELETE", path)
        with suppress(ApiFailure):
            await cluster.request("DELETE", path_of("ConfigMap", NAMESPACE, STORE))


async def act(door: FrontDoor, user: str, **order: Any) -> tuple[int, str]:
    """Exit code and output of an action under an identity."""
    file = door.folder / "action.json"
    file.write_text(json.dumps(order))
    arguments = ("create", "--raw", f"{ROOT}/actions", "-f", str(file), f"--as={user}")
    return await door.kubectl(*arguments, user="admin")


async def status_of(door: FrontDoor) -> str:
    """Status of the queue, once the REST interface answers. It does not right after a start (REST-43)."""

    async def found() -> str:
        _, text = await door.paddock.get("/ws/v1/partition/default/queue/root.a")
        return str(json.loads(text).get("status", ""))

    return await eventually(found, "the REST interface answers", timeout=60)


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
    assert (code, json.loads(printed)["changed"], await status_of(door)) == (0, True, "Active")
    code, printed = await act(door, OPERATOR, **close)
    assert (code, json.loads(printed)["message"]) == (0, "root.a is closed")
    assert await status_of(door) == "Draining"
    await door.paddock.kill()
    await door.paddock.start()
    assert await status_of(door) == "Draining"

    async def again() -> bool:
        code, printed = await act(door, OPERATOR, **close)
        return code == 0 and not json.loads(printed)["changed"]

    await eventually(again, "a repeated action changes nothing", timeout=60)
    code, printed = await act(door, OPERATOR, action="open", queue="root.a")
    assert (code, json.loads(printed)["message"], await status_of(door)) == (0, "root.a is open", "Active")
    lines = [each for each in door.paddock.logs() if each.get("event") == "audit"]
    assert {(each["user"], each["result"]) for each in lines} >= {(OPERATOR, "changed"), (RIVAL, "refused")}
    assert all(each["requestId"].count("-") == 4 for each in lines)
