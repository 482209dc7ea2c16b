"""The verbs' port over mutual TLS with certificates that Paddock makes, seen by a client with its Secret."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extender.certificates import authority
from extender.certificates.issuing import LIFETIME, self_signed
from extender.certificates.keeper import AUTHORITY_SECRET
from extender.http.access import own_tls
from extender.http.access.own_tls import OwnTls
from extender.http.server import Address
from extender.http.verbs.listening import listen_to_verbs, verbs_server
from extender.kube.connection.api import NotFound
from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi

SECRETS = "/api/v1/namespaces/paddock-system/secrets"
CLIENT, NAME = "paddock-client-tls", "paddock.paddock-system.svc"


@dataclass
class Port:
    """A port, and a client that reads its files from the Secret. ``renewed``: times of its certificates."""

    api: FakeApi
    client: ApiClient
    folder: Path
    number: int = 0
    renewed: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tls = OwnTls(
            self.client,
            namespace="paddock-system",
            client_secret=CLIENT,
            is_missing=lambda error: isinstance(error, NotFound),
            renewed=lambda made, ends: self.renewed.append((made, ends)),
        )

    def context(self) -> ssl.SSLContext:
        """As kube-scheduler makes it when it starts."""
        found = self.api.find(SECRETS, CLIENT)
        assert found is not None
        for name, value in found["data"].items():
            (self.folder / name).write_bytes(base64.b64decode(value))
        context = ssl.create_default_context(cafile=self.folder / "ca.crt")
        context.load_cert_chain(self.folder / "tls.crt", self.folder / "tls.key")
        return context

    async def shown(self, context: ssl.SSLContext) -> bytes:
        """The certificate that a new connection is shown. Raises OSError for one that is refused."""
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.number, ssl=context, server_hostname=NAME
        )
        try:
            # A server refuses a client's certificate only after the handshake of TLS 1.3.
            writer.write(b"GET / HTTP/1.1\r\nHost: paddock\r\nConnection: close\r\n\r\n")
            if not await reader.read():
                raise ConnectionResetError("refused")
            certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        finally:
            writer.close()
        return bytes(certificate)


@asynccontextmanager
async def opened(api: FakeApi, client: ApiClient, folder: Path) -> AsyncIterator[Port]:
    port = Port(api, client, folder)
    server = verbs_server({}, measure=lambda *_: None, on_bug=lambda *_: None)
    listener = await listen_to_verbs(server, Address("127.0.0.1", 0), tls=port.tls.context)
    port.number = listener.addresses[0][1]
    try:
        yield port
    finally:
        await listener.cleanup()


async def test_a_client_with_the_files_of_its_secret_is_answered_and_no_other(
    api: FakeApi, client: ApiClient, tmp_path: Path
) -> None:
    async with opened(api, client, tmp_path) as port:
        await port.tls.check()
        context = port.context()
        assert await port.shown(context)
        stranger = self_signed((NAME,), now=1_800_000_000.0)
        (tmp_path / "stranger.pem").write_text(stranger.key + stranger.certificate)
        context.load_cert_chain(tmp_path / "stranger.pem")
        with pytest.raises(OSError):
            await port.shown(context)
        with pytest.raises(OSError):
            await port.shown(ssl.create_default_context(cafile=tmp_path / "ca.crt"))


async def test_the_servers_own_certificate_opens_nothing(
    api: FakeApi, client: ApiClient, tmp_path: Path
) -> None:
    async with opened(api, client, tmp_path) as port:
        await port.tls.check()
        context = port.context()
        found = api.find(SECRETS, AUTHORITY_SECRET)
        assert found is not None
        pair = b"".join(base64.b64decode(found["data"][name]) for name in ("server.key", "server.crt"))
        (tmp_path / "server.pem").write_bytes(pair)
        context.load_cert_chain(tmp_path / "server.pem")
        with pytest.raises(OSError):
            await port.shown(context)


async def test_before_the_secret_is_known_no_client_is_answered_and_readiness_says_why(
    api: FakeApi, client: ApiClient, tmp_path: Path
) -> None:
    async with opened(api, client, tmp_path) as port:
        assert port.tls.checks() == {"certificates": "no certificate was made yet"}
        api.fail_next(403, path=SECRETS)
        await port.tls.check()
        assert "403" in port.tls.checks()["certificates"]
        assert port.tls.notes()["certificate of kube-scheduler"] == ""
        unchecked = ssl.create_default_context()
        unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
        with pytest.raises(OSError):
            await port.shown(unchecked)
        await port.tls.check()
        assert port.tls.checks() == {"certificates": ""}
        assert await port.shown(port.context())


async def test_a_client_that_never_restarts_is_answered_through_all_renewals_of_its_time(
    api: FakeApi, client: ApiClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renewals of the server's and the client's certificate, and of an authority that is staged."""
    async with opened(api, client, tmp_path) as port:
        await port.tls.check()
        context, shown = port.context(), set()
        for name in ("RENEWED_AT", "CLIENT_RENEWED_AT", "AUTHORITY_RENEWED_AT"):
            monkeypatch.setattr(authority, name, 0)
            await port.tls.check()
            shown.add(await port.shown(context))
        # Each check has renewed the server's certificate, by the authority that the client knows.
        assert len(shown) == 3
        assert len(port.renewed) == 3
        assert await port.shown(port.context())


async def test_a_client_that_read_the_list_with_the_successor_is_answered_after_the_change(
    api: FakeApi, client: ApiClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(api, client, tmp_path) as port:
        await port.tls.check()
        before = port.context()
        monkeypatch.setattr(authority, "AUTHORITY_RENEWED_AT", 0)
        await port.tls.check()
        staged = port.context()
        monkeypatch.setattr(authority, "AUTHORITY_PUBLISHED_FOR", 0)
        await port.tls.check()
        assert await port.shown(staged)
        assert await port.shown(port.context())
        # Its time to restart is over by then: it trusts the former authority alone.
        with pytest.raises(ssl.SSLCertVerificationError):
            await port.shown(before)


async def test_notes_say_when_the_clients_certificate_was_made_and_ends(
    api: FakeApi, client: ApiClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_tls.time, "time", lambda: 1_800_000_000.0)
    port = Port(api, client, tmp_path)
    await port.tls.check()
    assert port.tls.notes() == {
        "certificates of the verbs": "",
        "certificate of kube-scheduler": (
            "made 2027-01-15T08:00:00Z, ends 2028-01-15T08:00:00Z; "
            "restart kube-scheduler if it started before it was made"
        ),
    }
    assert port.renewed == [(1_800_000_000.0, 1_800_000_000.0 + authority.CLIENT_LIFETIME)]
    monkeypatch.setattr(own_tls.time, "time", lambda: 1_800_000_000.0 + LIFETIME)
    await port.tls.check()
    assert len(port.renewed) == 1
