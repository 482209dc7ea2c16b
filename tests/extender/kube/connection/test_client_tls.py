"""Trust and identity over TLS. Certificates may be replaced at run time.

The files in ``tls`` are only for these tests: a CA whose key was discarded, and certificates for loopback.
"""

import json
import shutil
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from extender.kube.connection.api import NotFound, Unauthorized, Unreachable
from extender.kube.connection.client import connect
from tests.extender.fake_api import FakeApi, Request, refusal

PODS = "/api/v1/pods"
FILES = Path(__file__).parents[2] / "tls"
CA = FILES / "ca.crt"


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=CA)
    context.load_cert_chain(FILES / "server.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    server = await FakeApi().start(context)
    yield server
    await server.stop()


@pytest.fixture
def kubeconfig(api: FakeApi, tmp_path: Path) -> Callable[..., str]:
    def write(user: dict[str, str], **cluster: object) -> str:
        config = api.kubeconfig(user)
        config["clusters"][0]["cluster"] |= {name.replace("_", "-"): value for name, value in cluster.items()}
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(config))
        return str(path)

    return write


def caller(request: Request) -> str:
    """The common name in the client certificate."""
    assert request.raw.transport is not None
    certificate = request.raw.transport.get_extra_info("peercert")
    return str(dict(pair for (pair,) in certificate["subject"])["commonName"]) if certificate else ""


async def test_a_server_that_the_ca_vouches_for_is_trusted(
    api: FakeApi, kubeconfig: Callable[..., str]
) -> None:
    path = kubeconfig({"token": "fake-token"}, certificate_authority=str(CA))
    async with await connect(kubeconfig=path) as client:
        await client.get(PODS)
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    "cluster", [{}, {"certificate_authority": str(CA), "tls_server_name": "elsewhere"}], ids=["ca", "name"]
)
async def test_a_server_that_is_not_the_one_meant_receives_nothing(
    api: FakeApi, kubeconfig: Callable[..., str], cluster: dict[str, str]
) -> None:
    async with await connect(kubeconfig=kubeconfig({"token": "fake-token"}, **cluster)) as client:
        with pytest.raises(Unreachable, match="ertificate") as caught:
            await client.post(PODS, b"{}")
    assert caught.value.sent is False
    assert not api.requests


async def test_verification_can_be_switched_off(api: FakeApi, kubeconfig: Callable[..., str]) -> None:
    path = kubeconfig({"token": "fake-token"}, insecure_skip_tls_verify=True)
    async with await connect(kubeconfig=path) as client:
        await client.get(PODS)
    assert len(api.requests) == 1


async def test_inside_a_cluster_the_service_account_vouches(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", api.url.rpartition(":")[2])
    (tmp_path / "token").write_text("pod-token\n")
    shutil.copy(CA, tmp_path / "ca.crt")
    async with await connect(in_cluster=True, service_account=str(tmp_path)) as client:
        await client.get(PODS)
    assert api.requests[0].headers["Authorization"] == "Bearer pod-token"


async def test_a_replaced_client_certificate_is_shown_after_a_401(
    api: FakeApi, kubeconfig: Callable[..., str], tmp_path: Path
) -> None:
    callers: list[str] = []

    async def expired(request: Request) -> web.Response | None:
        callers.append(caller(request))
        return refusal(401, "Unauthorized") if callers[1:] and callers[-1] == "old" else None

    api.break_next(expired, times=100)
    pair = tmp_path / "client.pem"
    shutil.copy(FILES / "old.pem", pair)
    user = {"client-certificate": str(pair), "client-key": str(pair)}
    async with await connect(kubeconfig=kubeconfig(user, certificate_authority=str(CA))) as client:
        await client.get(PODS)
        shutil.copy(FILES / "new.pem", pair)
        await client.get(PODS)
        with pytest.raises(NotFound):
            await client.get(f"{PODS}/a")
    assert callers == ["old", "old", "new", "new"]


async def test_a_certificate_without_its_key_leaves_the_old_one_in_use(
    api: FakeApi, kubeconfig: Callable[..., str], tmp_path: Path
) -> None:
    pair = tmp_path / "client.pem"
    shutil.copy(FILES / "old.pem", pair)
    user = {"client-certificate": str(pair), "client-key": str(pair)}
    async with await connect(kubeconfig=kubeconfig(user, certificate_authority=str(CA))) as client:
        mixed = (FILES / "new.pem").read_text().split("-----BEGIN EC")[0] + (FILES / "old.pem").read_text()
        pair.write_text(mixed)
        api.fail_next(401)
        with pytest.raises(Unauthorized):
            await client.get(PODS)
        assert client.credentials_error
        await client.get(PODS)
    assert len(api.requests) == 2
