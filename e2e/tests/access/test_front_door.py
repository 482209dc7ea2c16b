"""Callers of the REST port and of the aggregated API, as a real API server authenticates and authorizes them.

The APIService leads to a process on loopback, by a Service of type ExternalName.
"""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.programs.binaries import binary
from e2e.programs.paddock import PaddockProcess
from e2e.programs.processes import free_port
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually, install, manifest

ROOT = "/apis/paddock.dev/v1alpha1"
METRICS = "/ws/v1/metrics"
NAME = "paddock.paddock-system.svc"
FORGED = {"X-Remote-User": "system:admin", "X-Remote-Group": "system:masters"}


class FrontDoor:
    """A Paddock with both ports, and an APIService that leads to it."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.ports = {"rest": free_port(), "aggregated": free_port()}
        plane = cluster.control_plane
        self.paddock = PaddockProcess(
            plane.kubeconfig("paddock"),
            plane.folder,
            arguments=[
                "--serving-address=127.0.0.1",
                f"--rest-port={self.ports['rest']}",
                f"--aggregated-port={self.ports['aggregated']}",
            ],
        )

    async def start(self) -> None:
        cluster = self.cluster
        await install(cluster, "sidecar")
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document({"a": {}})})
        (service,) = manifest("sidecar/service.yaml")
        service["spec"] = {
            "type": "ExternalName",
            "externalName": "localhost",
            "ports": [{"port": self.ports["aggregated"]}],
        }
        await cluster.apply(service)
        (api_service,) = manifest("sidecar/api-service.yaml")
        api_service["spec"]["service"]["port"] = self.ports["aggregated"]
        await cluster.apply(api_service)
        await self.paddock.start()
        await eventually(self._is_available, "the APIService is available", timeout=90)

    async def stop(self) -> None:
        await self.paddock.stop()
        for kind, namespace, name in (
            ("APIService", "", "v1alpha1.paddock.dev"),
            ("Service", NAMESPACE, "paddock"),
            ("Secret", NAMESPACE, "paddock-serving"),
        ):
            await self.cluster.request("DELETE", path_of(kind, namespace, name))

    async def _is_available(self) -> bool:
        found = await self.cluster.request("GET", path_of("APIService", "", "v1alpha1.paddock.dev"))
        conditions = found.get("status", {}).get("conditions", [])
        return any(each["type"] == "Available" and each["status"] == "True" for each in conditions)

    async def kubectl(self, *arguments: str, user: str = "tester") -> tuple[int, str]:
        """Exit code and what was printed, of a command of this user's."""
        kubeconfig = self.cluster.control_plane.kubeconfig(user)
        process = await asyncio.create_subprocess_exec(
            binary("kubectl"),
            *arguments,
            env={"KUBECONFIG": str(kubeconfig), "HOME": str(self.folder)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        return process.returncode or 0, printed.decode()

    async def ask(
        self, port: str, path: str, headers: dict[str, str] | None = None, *, certificate: str = ""
    ) -> tuple[int, str]:
        """Status and body without the API server between; 0 for a handshake that failed.

        ``certificate``: folder and name of a client's.
        """
        secret = await self.cluster.request("GET", path_of("Secret", NAMESPACE, "paddock-serving"))
        trusted = base64.b64decode(secret["data"]["ca.crt"]).decode()
        context = ssl.create_default_context(cadata=trusted)
        if certificate:
            files = self.cluster.control_plane.folder / certificate
            context.load_cert_chain(f"{files}.crt", f"{files}.key")
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(
                    f"https://127.0.0.1:{self.ports[port]}{path}",
                    headers=headers,
                    ssl=context,
                    server_hostname=NAME,
                ) as answer,
            ):
                return answer.status, await answer.text()
        except (aiohttp.ClientError, ssl.SSLError):
            return 0, ""

    async def account(self, name: str, *, role: str = "", audience: str = "paddock") -> str:
        """A token of an account of the test's namespace, bound to a ClusterRole."""
        cluster = self.cluster
        meta = {"name": name, "namespace": cluster.namespace}
        await cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": dict(meta)})
        if role:
            await self.bind(role, {"kind": "ServiceAccount", **meta})
        asked: dict[str, Any] = {"spec": {"audiences": [audience]} if audience else {}}
        path = f"{path_of('ServiceAccount', cluster.namespace, name)}/token"
        found = await cluster.request("POST", path, asked)
        return str(found["status"]["token"])

    async def bind(self, role: str, subject: dict[str, str]) -> None:
        """Bind a shipped ClusterRole to a subject."""
        await self.cluster.apply(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{role}-{subject['name']}"},
                "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "ClusterRole",
                    "name": role,
                },
                "subjects": [subject],
            }
        )


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
    await door.bind("paddock-viewer", {"kind": "User", "name": "tester", "apiGroup": USER})

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
    assert (code != 0, "no actions" in printed) == (True, True)


async def test_discovery_and_openapi_show_the_group(door: FrontDoor) -> None:
    code, printed = await door.kubectl("api-resources", "--api-group=paddock.dev")
    assert code == 0, printed
    assert {"explanations", "actions", "queues", "ws"} <= {line.split()[0] for line in printed.splitlines()}

    async def is_merged() -> bool:
        return "paddock.dev" in (await door.kubectl("get", "--raw", "/openapi/v3"))[1]

    await eventually(is_merged, "the API server has read OpenAPI", timeout=60)


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
    scraper = await door.account("scraper", role="paddock-metrics")
    idle = await door.account("idle")
    elsewhere = await door.account("elsewhere", role="paddock-metrics", audience="")

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
