"""Headers that name a user are believed on the connections of the API server's proxy alone.

The certificates in ``tls/front-proxy`` are good for these tests alone; no key of an authority is left.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import uvloop
from aiohttp import web

from extender.http.access.proxied import ProxiedUsers
from extender.http.access.rotating_tls import RotatingTls, ServingFiles
from extender.http.connections import Connections, Guarded
from extender.http.door import Door
from extender.identity.request_header import FrontProxy

TLS = Path(__file__).parents[2] / "tls"
FILES = ServingFiles(str(TLS / "server.pem"), str(TLS / "server.pem"))
OLD, NEW = ((TLS / "front-proxy" / f"{name}-ca.crt").read_text() for name in ("old", "new"))
FORGED = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"}
NAMES = frozenset({"front-proxy-client"})


def proxy_of(authority: str, names: frozenset[str] = NAMES) -> FrontProxy:
    return FrontProxy(authority, names, ("x-remote-user",), ("x-remote-group",))


class Stage:
    """A listener that answers whom it takes a request to be from; ``users``: what it goes by."""

    def __init__(self) -> None:
        self.tls = RotatingTls(FILES)
        self.connections = Connections()
        self.users = ProxiedUsers(self.tls, self.connections)
        self.users.follow(proxy_of(OLD))
        self.server: asyncio.Server | None = None

    async def answer(self, request: web.BaseRequest) -> web.Response:
        user = self.users.user_of(request)
        return web.Response(text=user.name if user else "nobody")

    async def start(self) -> str:
        self.protocols = protocols = web.Server(
            Door(self.connections).watching(lambda request: self.answer(request))
        )
        self.server = await asyncio.get_running_loop().create_server(
            lambda: Guarded(protocols(), self.connections), "127.0.0.1", 0, ssl=self.tls.context
        )
        return f"https://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def staged() -> AsyncIterator[tuple[Stage, str]]:
    stage = Stage()
    url = await stage.start()
    try:
        yield stage, url
    finally:
        assert stage.server is not None
        stage.server.close()
        await stage.protocols.shutdown(0.2)
        stage.connections.end()


def presenting(certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=TLS / "ca.crt")
    context.check_hostname = False
    if certificate:
        context.load_cert_chain(TLS / "front-proxy" / f"{certificate}.pem")
    return context


async def asked(url: str, certificate: str, headers: dict[str, str] | None = None) -> str:
    """The user that a new connection is taken for; "refused" if there is none."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(url, headers=headers or FORGED, ssl=presenting(certificate)) as response,
        ):
            return await response.text() if response.status == 200 else str(response.status)
    except (aiohttp.ClientError, ssl.SSLError, OSError):
        return "refused"


async def test_the_proxy_names_its_user() -> None:
    async with staged() as (_, url):
        assert await asked(url, "proxy-old") == "admin"


@pytest.mark.parametrize(
    ("certificate", "taken_for"),
    [
        ("", "nobody"),
        ("stranger", "nobody"),
        ("two-names", "nobody"),
        ("server-only", "refused"),
        ("proxy-new", "refused"),
    ],
)
async def test_others_are_not_taken_for_the_user_they_name(certificate: str, taken_for: str) -> None:
    """No certificate, a name not allowed, two names, one for servers, one of another authority."""
    async with staged() as (_, url):
        assert await asked(url, certificate) == taken_for


async def test_before_the_config_map_is_read_no_caller_is_believed() -> None:
    async with staged() as (stage, url):
        stage.users.follow(None)
        assert await asked(url, "proxy-old") == "refused"
        assert await asked(url, "") == "nobody"


async def check_rotation() -> None:
    """The old authority, both, and only the new one."""
    async with staged() as (stage, url):
        assert [await asked(url, name) for name in ("proxy-old", "proxy-new")] == ["admin", "refused"]
        stage.users.follow(proxy_of(OLD + NEW))
        assert [await asked(url, name) for name in ("proxy-old", "proxy-new")] == ["admin", "admin"]
        stage.users.follow(proxy_of(NEW))
        assert [await asked(url, name) for name in ("proxy-old", "proxy-new")] == ["refused", "admin"]
        assert await asked(url, "") == "nobody"


async def check_open_connections() -> None:
    """A client that keeps its connection, and its TLS session, is not believed for the sake of either."""
    async with staged() as (stage, url):
        context = presenting("proxy-old")
        async with aiohttp.ClientSession() as session:

            async def again() -> str:
                async with session.get(url, headers=FORGED, ssl=context) as response:
                    return await response.text()

            assert [await again(), await again()] == ["admin", "admin"]
            assert len(stage.connections) == 1
            stage.users.follow(proxy_of(NEW))
            assert len(stage.connections) == 0
            with pytest.raises(aiohttp.ClientError):
                await again()


ROTATIONS = pytest.mark.parametrize("check", [check_rotation, check_open_connections])


@ROTATIONS
async def test_a_rotated_authority(check: Callable[[], object]) -> None:
    await check()  # type: ignore[misc]


@ROTATIONS
def test_a_rotated_authority_on_the_loop_of_production(check: Callable[[], object]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(check(), 20))  # type: ignore[arg-type]


async def test_a_request_under_way_during_a_rotation_is_not_believed() -> None:
    """The connection began with an authority that does not count any more."""
    async with staged() as (stage, url):
        begun = asyncio.Event()
        rotated = asyncio.Event()
        answer = stage.answer

        async def slow(request: web.BaseRequest) -> web.Response:
            begun.set()
            await rotated.wait()
            return await answer(request)

        stage.answer = slow  # type: ignore[method-assign]
        asking = asyncio.create_task(asked(url, "proxy-old"))
        await asyncio.wait_for(begun.wait(), 5)
        stage.users.follow(proxy_of(NEW))
        rotated.set()
        assert await asking == "nobody"


async def test_a_name_that_is_taken_off_the_list_is_not_believed_on_open_connections() -> None:
    async with staged() as (stage, url):
        context = presenting("proxy-old")
        async with aiohttp.ClientSession() as session:
            for names, taken_for in ((NAMES, "admin"), (frozenset({"other"}), "nobody"), (NAMES, "admin")):
                stage.users.follow(proxy_of(OLD, names))
                async with session.get(url, headers=FORGED, ssl=context) as response:
                    assert await response.text() == taken_for
        assert len(stage.connections) <= 1


async def test_an_authority_that_cannot_be_read_is_none() -> None:
    async with staged() as (stage, url):
        broken = "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n"
        stage.users.follow(proxy_of(broken))
        assert await asked(url, "proxy-old") == "refused"
        stage.users.follow(proxy_of(OLD))
        assert await asked(url, "proxy-old") == "admin"


async def test_files_that_are_renewed_serve_new_connections(tmp_path: Path) -> None:
    async with staged() as (stage, url):
        before = stage.tls._current
        stage.tls.renew()
        assert stage.tls._current is before
        renewed = tmp_path / "server.pem"
        renewed.write_bytes((TLS / "server.pem").read_bytes() + b"\n")
        stage.tls.renew(ServingFiles(str(renewed), str(renewed)))
        assert stage.tls._current is not before
        assert await asked(url, "proxy-old") == "admin"


async def test_files_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    certificate = tmp_path / "server.pem"
    certificate.write_bytes((TLS / "server.pem").read_bytes())
    tls = RotatingTls(ServingFiles(str(certificate), str(certificate)))
    before = tls._current
    certificate.write_text("half of a file")
    with pytest.raises(OSError):
        tls.renew()
    assert tls._current is before


async def test_sessions_are_not_resumed() -> None:
    async with staged() as (_, url):
        host, port = url.removeprefix("https://").split(":")
        context = presenting("proxy-old")

        def sessions() -> list[bool]:
            reused = []
            session = None
            for _ in range(2):
                raw = socket.create_connection((host, int(port)), timeout=5)
                with raw, context.wrap_socket(raw, session=session) as wrapped:
                    wrapped.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    while wrapped.recv(4096):
                        pass
                    reused.append(bool(wrapped.session_reused))
                    session = wrapped.session
            return reused

        assert await asyncio.to_thread(sessions) == [False, False]
