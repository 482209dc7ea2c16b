"""Forged, outdated and missing credentials against a real API server, and whom its audit log names.

Each test says under which identity it asks. None of them is an administrator, except to prepare the cluster.
"""

import asyncio
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest_asyncio
import yaml
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from e2e.cluster.client import Cluster, path_of
from e2e.programs.binaries import ROOT as REPOSITORY
from e2e.programs.control_plane import ControlPlane
from e2e.stands.front_door import ODD_QUEUE, ROOT, FrontDoor, account, bind
from e2e.stands.stand import eventually, eventually_equal

METRICS = "/ws/v1/metrics"
FORGED = {"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters", "X-Paddock-User": "e30="}
READER = {"kind": "User", "name": "tenant", "apiGroup": "rbac.authorization.k8s.io"}
"""A user without any other right, to whom `paddock-viewer` is bound."""

FOR_ALL = ("/livez", "/readyz", "/apis/")
"""Paths that RBAC's own roles allow to every authenticated caller."""

AUTHENTICATION = path_of("ConfigMap", "kube-system", "extension-apiserver-authentication")
AUTHORITY = "requestheader-client-ca-file"


@pytest_asyncio.fixture(loop_scope="session")
async def door(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    made = FrontDoor(cluster, tmp_path)
    try:
        await made.start()
        yield made
    finally:
        await made.stop()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed_again(plane: ControlPlane, token: str, **claims: Any) -> str:
    """A token with other claims, signed with the API server's own key."""
    head, body, _ = token.split(".")
    found = {**json.loads(urlsafe_b64decode(body + "==")), **claims}
    body = urlsafe_b64encode(json.dumps(found).encode()).rstrip(b"=").decode()
    key = serialization.load_pem_private_key((plane.folder / "service-account.key").read_bytes(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    signature = key.sign(f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{head}.{body}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


async def test_an_expired_token_is_refused(door: FrontDoor) -> None:
    """As a service account with `paddock-metrics`, whose token only its time makes useless."""
    plane = door.cluster.control_plane
    token = await account(door.cluster, "scraper", role="paddock-metrics")
    issued = json.loads(urlsafe_b64decode(token.split(".")[1] + "=="))["iat"]
    valid = signed_again(plane, token, exp=issued + 900)
    expired = signed_again(plane, token, iat=issued - 7200, nbf=issued - 7200, exp=issued - 3600)

    async def is_read() -> bool:
        return (await door.ask("rest", METRICS, bearer(valid)))[0] == 200

    await eventually(is_read, "a token that was signed so is accepted", timeout=30)
    for port, path in (("rest", METRICS), ("aggregated", f"{ROOT}{METRICS}")):
        status, text = await door.ask(port, path, bearer(expired))
        assert (status, "yunikorn_" in text) == (401, False)
    logged = await asyncio.to_thread(door.paddock.tail, 200)
    assert expired not in logged


async def test_a_rotated_authority_counts_while_paddock_runs(door: FrontDoor) -> None:
    """As the API server's proxy of before, and as that of another authority, which then becomes its own."""
    cluster = door.cluster
    file = cluster.control_plane.folder / "front-proxy" / "ca.crt"
    old = file.read_text()
    new = (cluster.control_plane.folder / "another-proxy" / "ca.crt").read_text()
    user = {"X-Remote-User": "tenant"}

    async def seen(folder: str) -> int:
        return (await door.ask("aggregated", ROOT, user, certificate=f"{folder}/front-proxy-client"))[0]

    async def only(authority: str) -> None:
        """The API server adds its own authority to the ConfigMap, and never takes one off."""
        await asyncio.to_thread(file.write_text, authority)
        await cluster.patch(AUTHENTICATION, {"data": {AUTHORITY: authority}})

    assert (await seen("front-proxy"), await seen("another-proxy")) == (200, 0)
    try:
        await asyncio.to_thread(file.write_text, old + new)

        async def both_count() -> bool:
            return (await seen("another-proxy"), await seen("front-proxy")) == (200, 200)

        await eventually(both_count, "both authorities count", timeout=120)

        async def the_new_one_counts() -> bool:
            await only(new)
            return (await seen("another-proxy"), await seen("front-proxy")) == (200, 0)

        await eventually(the_new_one_counts, "the former authority does not count", timeout=120)
    finally:

        async def the_old_one_counts() -> bool:
            await only(old)
            counts = (await seen("another-proxy"), await seen("front-proxy")) == (0, 200)
            # Until the API server has read its file, it adds the authority of before.
            return counts and (await cluster.request("GET", AUTHENTICATION))["data"][AUTHORITY] == old

        await eventually(the_old_one_counts, "all is as before", timeout=120)


async def test_each_route_is_refused_without_a_login_and_without_the_right(door: FrontDoor) -> None:
    """As a caller without a token, as one that names a user itself, and as an account without any right."""
    idle = bearer(await account(door.cluster, "idle"))
    golden = (REPOSITORY / "tests/interfaces/golden/routes.txt").read_text().split("\n")
    rows = [row.split(" ") for row in golden if row.startswith("10291")]
    routes = {(method.replace("*", "GET"), path) for _, method, path in rows if method != "HEAD"}
    assert len(routes) > 10
    samples = {"{namespace}": door.cluster.namespace, "{name}": "p", "{ws}": "ws", "{tail}": "v1/partitions"}

    async def judged(port: str, method: str, path: str) -> tuple[int, str]:
        """The answer to the account; the number of reviews in a second is limited."""
        found = (429, "")

        async def is_judged() -> bool:
            nonlocal found
            found = await door.ask(port, path, {**idle, **FORGED}, method=method)
            return found[0] != 429

        await eventually(is_judged, "the caller was reviewed")
        return found

    for method, pattern in sorted(routes):
        path = pattern
        for name, value in samples.items():
            path = path.replace(name, value)
        for headers in ({}, FORGED):
            status, text = await door.ask("rest", path, headers, method=method)
            assert (method, path, status, set(json.loads(text))) == (
                *(method, path, 401),
                {"status_code", "message", "description"},
            )
        status, text = await judged("rest", method, path)
        if not path.startswith(FOR_ALL):
            assert (method, path, status, "may not" in text) == (method, path, 403, True)
        if path.startswith("/ws/"):
            assert (await door.ask("aggregated", f"{ROOT}{path}", FORGED, method=method))[0] == 401
            assert (await judged("aggregated", method, f"{ROOT}{path}"))[0] == 403


async def test_a_forged_user_changes_nothing_on_loopback(door: FrontDoor) -> None:
    """As any process of the machine."""
    base = f"http://127.0.0.1:{door.paddock.admin_port}"
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{base}{ROOT}/actions", headers=FORGED) as answer:
            assert answer.status == 403
        rebound = {**FORGED, "Host": "elsewhere.example"}
        async with session.get(f"{base}{METRICS}", headers=rebound) as answer:
            assert (answer.status, "yunikorn_" in await answer.text()) == (403, False)


async def test_a_name_that_is_escaped_twice_arrives_as_it_is(door: FrontDoor) -> None:
    """As a user with `paddock-viewer`, through the API server (REST-22)."""
    await bind(door.cluster, "paddock-viewer", READER)
    path = f"{ROOT}/ws/v1/partition/default/queue/root.x%2540y%25231"

    async def is_read() -> bool:
        code, printed = await door.kubectl("get", "--raw", path, user="tenant")
        return code == 0 and json.loads(printed)["queuename"] == f"root.{ODD_QUEUE}"

    await eventually(is_read, "the queue is shown", timeout=30)
    code, printed = await door.kubectl("get", "--raw", f"{path}2", user="tenant")
    assert (code != 0, "NotFound" in printed) == (True, True), printed


POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}


async def test_both_logs_name_the_impersonated_user(tmp_path: Path) -> None:
    """As a user that may impersonate one other user, and has no right in Paddock itself."""
    policy, log = tmp_path / "policy.yaml", tmp_path / "audit.log"
    policy.write_text(yaml.safe_dump(POLICY))
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={log}")
    async with ControlPlane(flags=flags) as plane, Cluster(plane) as cluster:
        cluster.namespace = await cluster.create_namespace()
        door = FrontDoor(cluster, tmp_path)
        try:
            await door.start()
            await _may_impersonate(cluster, "rival", "tenant")
            await bind(cluster, "paddock-viewer", READER)

            async def is_read() -> bool:
                arguments = ("get", "--raw", f"{ROOT}{METRICS}", "--as=tenant")
                return (await door.kubectl(*arguments, user="rival"))[0] == 0

            await eventually(is_read, "the right of the other counts", timeout=30)
            assert (await door.kubectl("get", "--raw", f"{ROOT}{METRICS}", user="rival"))[0] != 0
            # The API server may answer before it writes the line.
            await eventually_equal(partial(_readers_in, log), {("rival", "tenant")}, "the audit log")
            lines = [each for each in door.paddock.logs() if each["event"] == "caller has the right"]
            assert {(each["user"], each["verb"], each["target"]) for each in lines} == {
                ("tenant", "get", "ws/v1/metrics")
            }
        finally:
            await door.stop()


async def _readers_in(log: Path) -> set[tuple[str, str]]:
    """Users who have read metrics by the API server's audit log, and whom they impersonated.

    A last line that is incomplete does not count.
    """
    lines = (await asyncio.to_thread(log.read_text)).splitlines(keepends=True)
    entries = [json.loads(line) for line in lines if line.endswith("\n")]
    return {
        (each["user"]["username"], each.get("impersonatedUser", {}).get("username", ""))
        for each in entries
        if each["requestURI"] == f"{ROOT}{METRICS}" and each.get("responseStatus", {}).get("code") == 200
    }


async def _may_impersonate(cluster: Cluster, user: str, other: str) -> None:
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": [""], "resources": ["users"], "resourceNames": [other], "verbs": ["impersonate"]}
    role = {"metadata": {"name": f"as-{other}"}, "rules": [rule]}
    await cluster.apply({"apiVersion": f"{group}/v1", "kind": "ClusterRole", **role})
    await bind(cluster, f"as-{other}", {"kind": "User", "name": user, "apiGroup": group})
