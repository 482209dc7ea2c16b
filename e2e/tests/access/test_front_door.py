"""Callers of the REST port and of the aggregated API, as a real API server authenticates and authorizes them.

The APIService leads to a process on loopback, by a Service of type ExternalName.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.stands.front_door import ROOT, FrontDoor, account, bind
from e2e.stands.stand import NAMESPACE, eventually

METRICS = "/ws/v1/metrics"
FORGED = {"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters"}


@pytest_asyncio.fixture(loop_scope="session")
async def door(cluster: Cluster, tmp_path: Path) -> AsyncIterator[FrontDoor]:
    made = FrontDoor(cluster, tmp_path)
    try:
        await made.start()
        yield made
    finally:
        await made.stop()


USER = "rbac.authorization.k8s.io"


async def test_the_api_server_leads_its_callers_here_under_their_own_names(door: FrontDoor) -> None:
    """A user with the right reads, ``--as`` counts for RBAC, and others are refused by the API server."""
    await door.cluster.create_pod("waiting", queue="root.a")
    path = f"{ROOT}/namespaces/{door.cluster.namespace}/explanations/waiting"
    assert "Forbidden" in (await door.kubectl("get", "--raw", path))[1]
    await bind(door.cluster, "paddock-viewer", {"kind": "User", "name": "tester", "apiGroup": USER})

    async def is_read() -> bool:
        code, printed = await door.kubectl("get", "--raw", path)
        return code == 0 and '"kind":"Explanation"' in printed

    await eventually(is_read, "the right counts", timeout=30)
    code, printed = await door.kubectl("get", "--raw", f"{ROOT}{METRICS}")
    assert (code, "yunikorn_queue_resource" in printed) == (0, True)
    # The admin may be anyone; the right is that of whom it names.
    for name, allowed in (("tester", True), ("rival", False)):
        code, printed = await door.kubectl("get", "--raw", f"{ROOT}{METRICS}", f"--as={name}", user="admin")
        assert (code == 0) == allowed, printed
    code, printed = await door.kubectl("create", "--raw", f"{ROOT}/actions", "-f", "/dev/null", user="admin")
    assert (code != 0, "switched off" in printed) == (True, True)


async def test_discovery_and_openapi_show_the_group(door: FrontDoor) -> None:
    async def is_listed() -> bool:
        # Until the API server has asked the group again, it calls it stale, and kubectl fails.
        code, printed = await door.kubectl("api-resources", "--api-group=paddock.dev")
        listed = {line.split()[0] for line in printed.splitlines() if line}
        return code == 0 and {"explanations", "actions", "queues", "ws"} <= listed

    await eventually(is_listed, "the API server lists the group", timeout=30)

    async def is_merged() -> bool:
        return "paddock.dev" in (await door.kubectl("get", "--raw", "/openapi/v3"))[1]

    await eventually(is_merged, "the API server has read OpenAPI", timeout=60)


@pytest.mark.rule("REST-21")
async def test_a_path_that_is_nearly_right_is_not_found_and_says_so(door: FrontDoor) -> None:
    """The API server answers 502 for a redirect of an aggregated API. Elsewhere such a path is one.

    As a user with `paddock-viewer`; as an administrator for a resource that no role names.
    """
    await bind(door.cluster, "paddock-viewer", {"kind": "User", "name": "tester", "apiGroup": USER})
    right = f"{ROOT}/ws/v1/partitions"

    async def is_read() -> bool:
        return (await _seen(door, right, "tester"))[0] == 200

    await eventually(is_read, "the right counts", timeout=30)
    for user, path in (("tester", f"{right}/"), ("admin", f"{ROOT}/WS/v1/Partitions")):
        assert await _seen(door, path, user) == (404, f"404 page not found; see {right}\n")
    # Such a path is answered on the admin port and on the REST port only.
    assert await _seen(door, f"{ROOT}/ws/v1/stack", "admin") == (404, "404 page not found\n")


async def _seen(door: FrontDoor, path: str, user: str) -> tuple[int, str]:
    """Status and body of the API server's answer."""
    headers = {"Authorization": f"Bearer {door.cluster.control_plane.token(user)}"}
    async with door.cluster.session.get(path, headers=headers, allow_redirects=False) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize(
    ("certificate", "status"),
    [("", 401), ("front-proxy/stranger", 401), ("another-proxy/front-proxy-client", 0)],
)
async def test_forged_headers_open_no_port(door: FrontDoor, certificate: str, status: int) -> None:
    """Without the proxy's certificate, with a name that is not allowed, and with one of another authority."""
    for path in (ROOT, f"{ROOT}{METRICS}", "/openapi/v3"):
        seen, text = await door.ask("aggregated", path, FORGED, certificate=certificate)
        assert (seen, "paddock_" in text) == (status, False)
    # The REST port asks for no certificate, so it looks at none.
    assert (await door.ask("rest", METRICS, FORGED, certificate=certificate))[0] == 401
    status, _ = await door.ask("aggregated", ROOT, FORGED, certificate="front-proxy/front-proxy-client")
    assert status == 200


async def test_tokens_at_the_rest_port(door: FrontDoor) -> None:
    """A token is judged by its audience and its right. No log shows it."""
    scraper = await account(door.cluster, "scraper", role="paddock-metrics")
    idle = await account(door.cluster, "idle")
    elsewhere = await account(door.cluster, "elsewhere", role="paddock-metrics", audience="")

    async def status(token: str, path: str = METRICS) -> int:
        return (await door.ask("rest", path, {"Authorization": f"Bearer {token}"}))[0]

    async def is_scraped() -> bool:
        return await status(scraper) == 200

    await eventually(is_scraped, "the right counts", timeout=30)
    assert await status(scraper, "/debug/audit") == 403
    assert await status(idle) == 403
    assert await status(elsewhere) == 401
    assert await status("unknown") == 401
    assert (await door.ask("rest", METRICS))[0] == 401
    logged = await asyncio.to_thread(door.paddock.logs)
    assert not [line for line in logged for token in (scraper, idle, elsewhere) if token in str(line)]


async def test_the_role_of_paddock_is_enough_and_reads_no_other_secret(door: FrontDoor) -> None:
    _, text = await door.paddock.get("/readyz?verbose")
    assert "serving certificate: \n" in text
    other = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other", "namespace": NAMESPACE}}
    await door.cluster.apply(other)
    with pytest.raises(ApiFailure, match="403"):
        await door.cluster.request("GET", path_of("Secret", NAMESPACE, "other"), user="paddock")
    await door.cluster.request("DELETE", path_of("Secret", NAMESPACE, "other"))
