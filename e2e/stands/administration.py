"""Administrators of a queue before a real API server: their roles, and the actions they send."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.programs.paddock import PaddockProcess
from e2e.stands.front_door import LOOPBACK, ROOT, FrontDoor, serving
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, SIDECAR, Stand, Tree, eventually

ENABLED = "--admin-enabled=true"
"""Flag that switches actions on."""

STORE = "paddock-actions"
_WRITTEN = ("POST|PATCH", f"/configmaps(/{STORE})?$")
"""Calls that commit an order: the first one creates the ConfigMap."""

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


@asynccontextmanager
async def granted(door: FrontDoor) -> AsyncIterator[FrontDoor]:
    """Give the roles, and take them, the front door and the orders away at the end."""
    cluster = door.cluster
    try:
        await cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        for each in roles():
            await cluster.apply(each)
        yield door
    finally:
        await door.stop()
        for each in reversed(roles()):
            meta = each["metadata"]
            path = path_of(each["kind"], meta.get("namespace", ""), meta["name"])
            await cluster.request("DELETE", path)
        with suppress(ApiFailure):
            await cluster.request("DELETE", path_of("ConfigMap", NAMESPACE, STORE))


@asynccontextmanager
async def administered(door: FrontDoor) -> AsyncIterator[FrontDoor]:
    """Start a front door with the roles, and take all of it away at the end."""
    async with granted(door):
        await door.start()
        yield door


@asynccontextmanager
async def administered_stand(door: FrontDoor, tree: Tree) -> AsyncIterator[Stand]:
    """Start a stand in the form sidecar behind a front door whose own Paddock does not run."""
    arguments = [*serving(LOOPBACK, door.ports), ENABLED]
    async with granted(door):
        # Paddock gives the APIService its authority as it begins to lead, and then once a minute.
        await door.lead_here()
        async with Stand(door.cluster, tree, arguments=lambda _: arguments, proxied=True, **SIDECAR) as stand:
            door.paddock = stand.paddock
            await door.until_available()
            yield stand


async def act(door: FrontDoor, user: str, **order: Any) -> tuple[int, str]:
    """Exit code and output of an action under an identity."""
    file = door.folder / "action.json"
    file.write_text(json.dumps(order))
    arguments = ("create", "--raw", f"{ROOT}/actions", "-f", str(file), f"--as={user}")
    return await door.kubectl(*arguments, user="admin")


async def status_of(paddock: PaddockProcess) -> str:
    """Status of the queue, once the REST interface answers. It does not right after a start (REST-43)."""

    async def found() -> str:
        _, text = await paddock.get("/ws/v1/partition/default/queue/root.a")
        return str(json.loads(text or "{}").get("status", ""))

    return await eventually(found, "the REST interface answers", timeout=60)


async def until_done(door: FrontDoor, **order: Any) -> Any:
    """Send an action of the operator's until it is carried out, and return the answer."""

    async def done() -> Any:
        code, printed = await act(door, OPERATOR, **order)
        return json.loads(printed) if code == 0 else None

    return await eventually(done, f"the operator may {order}", timeout=60)


async def kill_around_commit(stand: Stand, send: Callable[[], Awaitable[Any]], *, committed: bool) -> None:
    """Send an action, and kill Paddock as it stores the order.

    ``committed``: kill it when the order is stored, and before it knows that. Otherwise each write is cut
    before it arrives.
    """
    proxy, before = stand.proxy, _writes(stand)
    if committed:
        stored = proxy.hold_next(*_WRITTEN, "actions.json")
    else:
        proxy.drop_next(*_WRITTEN, n=1_000)
    sending = asyncio.ensure_future(send())

    async def is_written() -> bool:
        return stored.is_set() if committed else _writes(stand) > before

    await eventually(is_written, "Paddock writes the order", timeout=30)
    await stand.paddock.kill()
    await sending
    proxy.clear()


def _writes(stand: Stand) -> int:
    methods, path = _WRITTEN
    return sum(stand.proxy.count(method, path) for method in methods.split("|"))


@asynccontextmanager
async def configurers(cluster: Cluster, may: Sequence[str], send: Sequence[str]) -> AsyncIterator[None]:
    """Roles that the chart renders with `admin.config`. ``may``: users who may update the ConfigMap.

    ``send``: users who may send documents, with every right that is not about the ConfigMap.
    """
    one = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [CONFIG_MAP]}
    document = {"apiGroups": ["paddock.dev"], "resources": ["ws/config"], "resourceNames": ["v1"]}
    everything = {"apiGroups": ["paddock.dev"], "resources": ["actions", "queues"], "verbs": ["*"]}
    service = {"kind": "ServiceAccount", "name": "paddock", "namespace": NAMESPACE}
    writer, sender, updater = "paddock-configuration-writer", "e2e-sends", "e2e-updates"
    made = [
        _role("Role", writer, [{**one, "verbs": ["get", "patch"]}]),
        _role("ClusterRole", sender, [{**document, "verbs": ["update"]}, everything]),
        _role("Role", updater, [{**one, "verbs": ["update"]}]),
        _binding("RoleBinding", writer, "Role", [service]),
        _binding("ClusterRoleBinding", sender, "ClusterRole", [_person(each) for each in send]),
        _binding("RoleBinding", updater, "Role", [_person(each) for each in may]),
    ]
    await cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for each in made:
        await cluster.apply(each)
    try:
        yield
    finally:
        for each in reversed(made):
            meta = each["metadata"]
            path = path_of(each["kind"], meta.get("namespace", ""), meta["name"])
            await cluster.request("DELETE", path)


def _person(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name, "apiGroup": GROUP}
