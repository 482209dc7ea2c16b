"""Certificates that are replaced under load, without one failed call.

The REST port, the aggregated API behind the API server and the webhook show the certificate that Paddock
makes and renews itself. It writes what to trust into the APIService and the webhook's configuration. The port
of the verbs shows files that the test replaces, as a kubelet does with those of cert-manager.

Paddock is a service account with the roles of the chart. Only its times are played. A certificate is due at
once, and published for seconds in place of an hour. Files are read each half second in place of each minute.
"""

import asyncio
import contextlib
import json
import os
import shutil
import ssl
from base64 import b64decode
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.cluster.client import Cluster, path_of
from e2e.programs.control_plane import ControlPlane
from e2e.programs.paddock import PaddockProcess
from e2e.programs.processes import free_port
from e2e.stands.front_door import LOOPBACK, NAME, ROOT, account, serving
from e2e.stands.installation.roles import Roles, rendered_objects
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, certificates, document, eventually, manifest
from e2e.tests.install.test_missing_rights import ALL_ON, API_SERVICE, WEBHOOKS

pytestmark = pytest.mark.xdist_group("rotation")

PLAYED_TIMES = (
    "import extender.front_door, extender.certificates.rotation as rotation, "
    "extender.http.access.mutual_tls as files; "
    "extender.front_door.FILES_READ_EVERY = files.CHECKED_EVERY = 0.5; "
    "rotation.PUBLISHED_FOR = 5; rotation.RENEWED_AT = 0"
)
ROTATIONS = 3
LEAST = 50
"""Calls of each kind, at least, that must have succeeded."""

PAUSE = 0.02
"""Seconds between two calls of a client."""

REST = "/ws/v1/clusters"
FILTER = json.dumps({"Pod": {"metadata": {"name": "p", "namespace": "d", "uid": "u"}}, "NodeNames": []})


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, since the webhook changes the pods of every namespace."""
    async with ControlPlane() as running:
        yield running


@dataclass
class Load:
    """Calls that have succeeded by kind, why others failed, and the certificates that were shown."""

    done: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    shown: dict[str, list[bytes]] = field(default_factory=dict)

    async def run(self, kind: str, call: Callable[[], Awaitable[bytes]]) -> None:
        """Call again and again. ``call``: returns the certificate that it was shown, empty for none."""
        while True:
            try:
                certificate = await call()
            except (OSError, AssertionError, RuntimeError) as error:
                self.failed.append(f"{kind}: {error!r}")
            else:
                self.done[kind] += 1
                seen = self.shown.setdefault(kind, [])
                if certificate and certificate not in seen:
                    seen.append(certificate)
            await asyncio.sleep(PAUSE)

    def rotations(self, kind: str) -> int:
        return len(self.shown.get(kind, ())) - 1


class Scene:
    """A Paddock with all ports, and its clients."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.ports = {name: free_port() for name in ("rest", "aggregated", "webhook")}
        self.files = certificates(folder / "tls", NAME)
        self.paddock = PaddockProcess(
            cluster.control_plane.kubeconfig("paddock"),
            folder,
            arguments=[*serving(LOOPBACK, self.ports), *self.files.arguments],
            before=PLAYED_TIMES,
        )
        self.bundle = ""

    async def start(self) -> None:
        cluster = self.cluster
        await Roles(cluster, rendered_objects(ALL_ON)).apply()
        await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document({"a": {}})})
        (service,) = manifest("sidecar/service.yaml")
        ports = [{"port": self.ports["aggregated"]}]
        service["spec"] = {"type": "ExternalName", "externalName": "localhost", "ports": ports}
        await cluster.apply(service)
        (api_service,) = manifest("sidecar/api-service.yaml")
        api_service["spec"]["service"]["port"] = self.ports["aggregated"]
        await cluster.apply(api_service)
        values = {"mode": "kubeadm", "scheduler": {"form": "scoped"}, "mutation": {"by": "webhook"}}
        made = rendered_objects({**values, "ports": {"webhook": self.ports["webhook"]}})
        (webhook,) = (each for each in made if each["kind"] == "MutatingWebhookConfiguration")
        await cluster.request("POST", WEBHOOKS, webhook)
        await self.paddock.start()
        self.token = await account(cluster, "reader", role="paddock-viewer")
        self.api_token = await account(cluster, "reader", role="paddock-viewer", audience="")
        await self.read_bundle()
        for call in (self.asks_rest, self.asks_through_the_api_server, self.creates_a_pod):
            await eventually(lambda call=call: _succeeds(call), f"{call.__name__} succeeds", timeout=60)

    async def read_bundle(self) -> None:
        secret = await self.cluster.request("GET", path_of("Secret", NAMESPACE, "paddock-serving"))
        self.bundle = b64decode(secret["data"]["ca.crt"]).decode()

    async def keep_reading_the_bundle(self) -> None:
        """As a client does that mounts the Secret."""
        while True:
            await asyncio.sleep(0.5)
            await self.read_bundle()

    async def keep_replacing_files(self) -> None:
        """Issue another certificate by the same authority, and put both files in place at once."""
        folder, number = self.files.folder, 0
        while True:
            await asyncio.sleep(2.0)
            number += 1
            await _issue(folder, f"next-{number}")
            for end in ("crt", "key"):
                shutil.copy(folder / f"next-{number}.{end}", folder / f"staged.{end}")
                os.replace(folder / f"staged.{end}", folder / f"server.{end}")

    # -- calls -----------------------------------------------------------------------------------------------

    async def asks_rest(self) -> bytes:
        context = ssl.create_default_context(cadata=self.bundle)
        return await asked(context, self.ports["rest"], "GET", REST, token=self.token)

    async def asks_through_the_api_server(self) -> bytes:
        headers = {"Authorization": f"Bearer {self.api_token}"}
        async with self.cluster.session.get(ROOT + REST, headers=headers) as answer:
            assert answer.status == 200, f"{answer.status} {await answer.text()}"
        return b""

    async def creates_a_pod(self) -> bytes:
        """A pod that the webhook should have changed. The API server ignores a failed call."""
        pod = self.cluster.pod("probe", queue="root.a")
        made = await self.cluster.request(
            "POST", path_of("Pod", self.cluster.namespace), pod, params={"dryRun": "All"}
        )
        assert "paddock.dev/filter" in str(made["spec"]["containers"][0]["resources"]), "it was not changed"
        return b""

    async def calls_a_verb(self) -> bytes:
        folder = self.files.folder
        context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        context.load_cert_chain(folder / "client.crt", folder / "client.key")
        return await asked(context, self.paddock.verbs_port, "POST", "/v1/filter", body=FILTER)


async def _issue(folder: Path, name: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-CA", "ca.crt"),
        *("-CAkey", "ca.key", "-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN={name}"),
        *("-addext", f"subjectAltName=DNS:{NAME}", "-addext", "basicConstraints=critical,CA:FALSE"),
        cwd=folder,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0


async def asked(
    context: ssl.SSLContext, port: int, method: str, path: str, *, token: str = "", body: str = ""
) -> bytes:
    """Send a request on a connection of its own. Returns the certificate. Raises if the status is not 200."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=context, server_hostname=NAME)
    try:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {NAME}", "Connection: close"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", body]
        writer.write("\r\n".join(lines).encode())
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200 "), answer[:300]
        certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return bytes(certificate)
    finally:
        writer.close()


async def _succeeds(call: Callable[[], Awaitable[bytes]]) -> bool:
    try:
        await call()
    except (OSError, AssertionError, RuntimeError):
        return False
    return True


@pytest.mark.matrix
async def test_no_call_fails_while_certificates_are_replaced(cluster: Cluster, tmp_path: Path) -> None:
    scene, load = Scene(cluster, tmp_path), Load()
    try:
        await scene.start()
        async with asyncio.TaskGroup() as group:
            clients = {
                "REST": scene.asks_rest,
                "aggregated": scene.asks_through_the_api_server,
                "webhook": scene.creates_a_pod,
                "verbs": scene.calls_a_verb,
            }
            tasks = [group.create_task(load.run(kind, call)) for kind, call in clients.items()]
            tasks.append(group.create_task(scene.keep_reading_the_bundle()))
            tasks.append(group.create_task(scene.keep_replacing_files()))

            async def is_over() -> bool:
                rotated = all(load.rotations(kind) >= ROTATIONS for kind in ("REST", "verbs"))
                return rotated and min(load.done[kind] for kind in clients) >= LEAST

            with contextlib.suppress(AssertionError):
                await eventually(is_over, "certificates were replaced", timeout=60)
            for each in tasks:
                each.cancel()
        print(dict(load.done), {kind: load.rotations(kind) for kind in ("REST", "verbs")})
        assert load.failed == [], f"{len(load.failed)} of {sum(load.done.values())}: {load.failed[:5]}"
        assert await is_over(), (load.done, {kind: load.rotations(kind) for kind in load.shown})
    finally:
        await scene.paddock.kill()
        for path in (f"{WEBHOOKS}/change-pods.paddock.dev", path_of("APIService", name=API_SERVICE)):
            await cluster.request("DELETE", path)
