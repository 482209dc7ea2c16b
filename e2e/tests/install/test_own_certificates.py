"""Certificates of the verbs that Paddock makes: renewed under load by two instances, without one failed call.

Both are the service account with the roles of the chart for `tls.source: selfSigned`. Only the times are
played: certificates and the authority are due within seconds, and Secrets are read each half second.
kube-scheduler with these files is in `test_processes`.
"""

import asyncio
import contextlib
import ssl
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.cluster.client import ApiFailure, Cluster, path_of
from e2e.programs.control_plane import ControlPlane
from e2e.programs.paddock import PaddockProcess
from e2e.stands.installation.roles import Roles, rendered_objects, rights_of
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually
from e2e.tests.install.test_missing_rights import names
from e2e.tests.install.test_rotation import FILTER, LEAST, Load, asked
from extender.kube.connection.rights import Right

pytestmark = pytest.mark.xdist_group("rotation")

VALUES = {"mode": "service", "scheduler": {"form": "scoped"}, "tls": {"source": "selfSigned"}}
AUTHORITY, CLIENT = "paddock-authority", "paddock-client-tls"
PLAYED_TIMES = (
    "import extender.certificates.authority as authority, extender.certificates.keeper as keeper; "
    "from extender.certificates.issuing import BACKDATED; "
    "keeper.CHECKED_EVERY = keeper.TRIED_EVERY = 0.5; "
    "authority.RENEWED_AT = authority.CLIENT_RENEWED_AT = 0; "
    # An authority is due 8 s after it was made, and its successor signs 4 s later.
    "authority.AUTHORITY_RENEWED_AT = (BACKDATED + 8) / (BACKDATED + authority.AUTHORITY_LIFETIME); "
    "authority.AUTHORITY_PUBLISHED_FOR = 4"
)
OFTEN = "import extender.certificates.keeper as keeper; keeper.CHECKED_EVERY = keeper.TRIED_EVERY = 0.5"
BUNDLES, SERVERS = 3, 6
"""Lists of authorities, and renewals of the server's certificate, that each client must have seen.

The third list is written after the second authority has signed for both sides.
"""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def control_plane() -> AsyncIterator[ControlPlane]:
    """In place of the one of all tests, since the roles of Paddock's account are replaced."""
    async with ControlPlane() as running:
        yield running


class Scene:
    """Two instances, and a client that mounts the Secret of kube-scheduler."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        kubeconfig = cluster.control_plane.kubeconfig("paddock")
        self.paddocks = [
            PaddockProcess(
                kubeconfig, folder, arguments=[f"--tls-client-secret={CLIENT}"], before=PLAYED_TIMES
            )
            for _ in range(2)
        ]
        self.bundles: list[str] = []
        self._files: dict[str, bytes] = {}

    async def start(self) -> None:
        await Roles(self.cluster, rendered_objects(VALUES)).apply()
        await self.cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document({"a": {}})})
        await asyncio.gather(*(each.start() for each in self.paddocks))
        await eventually(self.read_files, "the Secret of kube-scheduler is there")

    async def read_files(self) -> bool:
        try:
            secret = await self.cluster.request("GET", path_of("Secret", NAMESPACE, CLIENT))
        except ApiFailure:
            return False
        self._files = {name: b64decode(text) for name, text in secret["data"].items()}
        trusted = self._files["ca.crt"].decode()
        if trusted not in self.bundles:
            self.bundles.append(trusted)
        return True

    async def keep_reading_files(self) -> None:
        while True:
            await asyncio.sleep(0.2)
            await self.read_files()

    def context(self) -> ssl.SSLContext:
        for name, content in self._files.items():
            (self.folder / name).write_bytes(content)
        context = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        context.load_cert_chain(self.folder / "tls.crt", self.folder / "tls.key")
        return context

    async def calls(self, number: int) -> bytes:
        port = self.paddocks[number].verbs_port
        return await asked(self.context(), port, "POST", "/v1/filter", body=FILTER)

    async def stop(self) -> None:
        for each in self.paddocks:
            await each.kill()
        for kind, name in (("Secret", AUTHORITY), ("Secret", CLIENT), ("ConfigMap", CONFIG_MAP)):
            with contextlib.suppress(ApiFailure):
                await self.cluster.request("DELETE", path_of(kind, NAMESPACE, name))


@pytest.mark.matrix
async def test_no_call_fails_while_authorities_and_certificates_are_renewed(
    cluster: Cluster, tmp_path: Path
) -> None:
    scene, load = Scene(cluster, tmp_path), Load()
    try:
        await scene.start()
        async with asyncio.TaskGroup() as group:
            clients = {"first": lambda: scene.calls(0), "second": lambda: scene.calls(1)}
            tasks = [group.create_task(load.run(kind, call)) for kind, call in clients.items()]
            tasks.append(group.create_task(scene.keep_reading_files()))

            async def is_over() -> bool:
                renewed = all(load.rotations(kind) >= SERVERS for kind in clients)
                changed = len(scene.bundles) >= BUNDLES
                return renewed and changed and min(load.done[kind] for kind in clients) >= LEAST

            with contextlib.suppress(AssertionError):
                await eventually(is_over, "certificates were renewed", timeout=90)
            for each in tasks:
                each.cancel()
        print(dict(load.done), {kind: load.rotations(kind) for kind in clients}, len(scene.bundles))
        assert load.failed == [], f"{len(load.failed)} of {sum(load.done.values())}: {load.failed[:5]}"
        assert await is_over(), (load.done, load.shown.keys(), len(scene.bundles))
        for each in scene.paddocks:
            await _says_when_it_was_renewed(each)
    finally:
        await scene.stop()


async def _says_when_it_was_renewed(paddock: PaddockProcess) -> None:
    status, shown = await paddock.get("/readyz?verbose")
    assert (status, "certificate of kube-scheduler: made 20" in shown) == (200, True), shown
    assert "rights missing: \n" in shown
    made, end = [
        await paddock.metric(f"paddock_client_certificate_{name}_timestamp_seconds")
        for name in ("made", "end")
    ]
    # It may be renewed between the two questions.
    assert end - made == pytest.approx(365 * 86_400, abs=60)
    assert "PRIVATE" not in paddock.tail(100_000)


async def test_an_instance_that_starts_without_the_right_waits_and_names_it(
    cluster: Cluster, tmp_path: Path
) -> None:
    """No end of the process, and readiness as soon as the right is there. Other Secrets stay closed to it."""
    roles = Roles(cluster, rendered_objects(VALUES))
    await roles.apply()
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document({"a": {}})})
    scene = Scene(cluster, tmp_path)
    paddock = scene.paddocks[0]
    try:
        async with roles.without(Right("create", "secrets", "")):
            await paddock.start(wait=False)

            async def names_it() -> bool:
                status, shown = await paddock.get("/readyz")
                return status == 503 and "[-] certificates" in shown and "create" in shown

            await eventually(names_it, "the missing right is named", timeout=60)
        await paddock.until_ready()
        for path in (path_of("Secret", NAMESPACE), path_of("Secret", NAMESPACE, "of-another")):
            with pytest.raises(ApiFailure) as refused:
                await cluster.request("GET", path, user="paddock")
            assert refused.value.status == 403
    finally:
        await scene.stop()


# -- each right ----------------------------------------------------------------------------------------------


async def _is_unchanged(_cluster: Cluster, _path: str) -> None:
    return


async def _is_deleted(cluster: Cluster, path: str) -> None:
    await cluster.request("DELETE", path)


async def _is_spoilt(cluster: Cluster, path: str) -> None:
    await cluster.patch(path, {"data": {"tls.crt": b64encode(b"none").decode()}})


async def _is_whole(cluster: Cluster, path: str) -> bool:
    try:
        data = (await cluster.request("GET", path))["data"]
    except ApiFailure:
        return False
    return b64decode(data["tls.crt"]).startswith(b"-----BEGIN CERTIFICATE-----")


USED: Mapping[Right, Callable[[Cluster, str], Awaitable[None]]] = {
    Right("get", "secrets", ""): _is_unchanged,
    Right("create", "secrets", ""): _is_deleted,
    Right("update", "secrets", ""): _is_spoilt,
}
"""Rights to the two Secrets, and what happens to one of them before an instance needs the right."""


def test_each_right_of_the_role_is_taken_away_once() -> None:
    """So a right that is added to the chart needs a case here."""
    things = [
        each
        for each in rendered_objects(VALUES)
        if each["metadata"]["name"] == "paddock-verbs-certificates" and each["kind"] == "Role"
    ]
    assert {*rights_of(things)} == {*USED}


@pytest.mark.parametrize("name", [AUTHORITY, CLIENT])
async def test_each_right_to_each_secret_is_named_while_it_is_missing(
    cluster: Cluster, tmp_path: Path, name: str
) -> None:
    """F-20. Once the right is back, a Secret that was deleted or spoilt is whole again."""
    scene, path = Scene(cluster, tmp_path), path_of("Secret", NAMESPACE, name)
    try:
        await scene.start()
        for each in scene.paddocks:
            await each.kill()
        roles = Roles(cluster, rendered_objects(VALUES))
        for right, happens in USED.items():
            paddock = PaddockProcess(
                cluster.control_plane.kubeconfig("paddock"),
                tmp_path,
                arguments=[f"--tls-client-secret={CLIENT}"],
                before=OFTEN,
            )
            scene.paddocks.append(paddock)
            async with roles.without(right, name=name):
                await happens(cluster, path)
                await paddock.start(wait=False)
                await eventually(partial(names, paddock, right), f"{right} is named", timeout=30)
                assert await _is_whole(cluster, path) == (happens is _is_unchanged)
            await paddock.until_ready()
            await eventually(partial(_is_whole, cluster, path), f"{name} is whole")
            await paddock.kill()
    finally:
        await scene.stop()
