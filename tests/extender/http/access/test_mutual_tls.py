"""The verbs' port over mutual TLS, whose files are replaced while it listens."""

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extender.http.access.mutual_tls import MutualTls, RenewedTls
from extender.http.server import Address
from extender.http.verbs.listening import listen_to_verbs, verbs_server

TLS = Path(__file__).parents[2] / "tls"
NO_AUTHORITY = "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n"


@dataclass
class Port:
    """A port with its files."""

    folder: Path
    number: int = 0
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.write("server.pem")
        shutil.copy(TLS / "ca.crt", self.folder / "ca.crt")
        certificate = str(self.folder / "tls.crt")
        self.tls = RenewedTls(
            MutualTls(certificate, certificate, str(self.folder / "ca.crt")), self.failures.append
        )

    def write(self, name: str) -> None:
        shutil.copy(TLS / name, self.folder / "tls.crt")

    async def shown(self, client: str = "new.pem") -> str:
        """The common name that a new connection is shown. Raises OSError for a connection that is refused."""
        context = ssl.create_default_context(cafile=TLS / "ca.crt")
        context.check_hostname = False
        context.load_cert_chain(TLS / client)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.number, ssl=context)
        try:
            # A server refuses a client's certificate only after the handshake of TLS 1.3.
            writer.write(b"GET / HTTP/1.1\r\nHost: paddock\r\nConnection: close\r\n\r\n")
            if not await reader.read():
                raise ConnectionResetError("refused")
            subject = writer.get_extra_info("peercert")["subject"]
        finally:
            writer.close()
        return str(dict(part[0] for part in subject)["commonName"])


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Port]:
    port = Port(folder)
    server = verbs_server({}, measure=lambda *_: None, on_bug=lambda *_: None)
    listener = await listen_to_verbs(server, Address("127.0.0.1", 0), tls=port.tls.context)
    port.number = listener.addresses[0][1]
    try:
        yield port
    finally:
        await listener.cleanup()


async def test_a_renewed_certificate_is_served_without_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as port:
        assert await port.shown() == "server"
        port.write("old.pem")
        port.tls.check()
        assert await port.shown() == "old"
        assert port.failures == []


async def test_files_that_do_not_fit_are_reported_once_and_the_former_ones_stay(tmp_path: Path) -> None:
    async with opened(tmp_path) as port:
        (tmp_path / "tls.crt").write_text("half of a file")
        for _ in range(2):
            port.tls.check()
        assert len(port.failures) == 1
        assert await port.shown() == "server"
        port.write("old.pem")
        port.tls.check()
        assert await port.shown() == "old"


async def test_another_authority_of_clients_counts_for_new_connections(tmp_path: Path) -> None:
    async with opened(tmp_path) as port:
        shutil.copy(TLS / "front-proxy" / "new-ca.crt", tmp_path / "ca.crt")
        port.tls.check()
        with pytest.raises(OSError):
            await port.shown()
        (tmp_path / "ca.crt").write_text(NO_AUTHORITY)
        port.tls.check()
        assert len(port.failures) == 1
        shutil.copy(TLS / "ca.crt", tmp_path / "ca.crt")
        port.tls.check()
        assert await port.shown() == "server"


def test_files_that_cannot_be_used_at_the_start_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        RenewedTls(MutualTls("missing", "missing", str(tmp_path / "none")), lambda _: None)
