"""The port at which the leader answers other instances: by their certificate alone."""

import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from extender.http.access.delegated import USER
from extender.http.access.peers import USER_HEADER, Peers, user_from, user_header
from extender.http.access.rotating_tls import ServingFiles, ServingPair, calling_context
from extender.http.connections import Connections
from extender.identity.caller import AuthenticatedUser
from tests.extender.http.peering import ALICE, LOOPBACK, NAME, Instance, shared

TLS = Path(__file__).parents[2] / "tls"
READ = "/ws/v1/partitions"


async def says_the_user(request: web.Request) -> web.Response:
    return web.Response(text=request[USER].name if USER in request else "no name")


@asynccontextmanager
async def leading(certificate: ServingPair) -> AsyncIterator[tuple[Instance, str]]:
    instance = Instance(says_the_user, leads=True)
    instance.peers.show(certificate)
    try:
        yield instance, f"https://{LOOPBACK}:{await instance.listen_to_peers()}"
    finally:
        await instance.stop()


async def asked(
    url: str, context: ssl.SSLContext, headers: dict[str, str] | None = None, path: str = READ
) -> tuple[int, str]:
    """Status and text over a new connection; 0 for a handshake that failed."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{url}{path}", headers=headers, ssl=context, server_hostname=NAME) as response,
        ):
            return response.status, await response.text()
    except (aiohttp.ClientError, ssl.SSLError, OSError):
        return 0, ""


def trusting(certificate: ServingPair, presented: Path | None = None) -> ssl.SSLContext:
    """A client that believes the leader and shows no certificate, or one of a file."""
    context = ssl.create_default_context(cadata=certificate.trusted)
    if presented is not None:
        context.load_cert_chain(presented)
    return context


async def test_the_certificate_of_an_instance_is_enough() -> None:
    certificate = shared()
    async with leading(certificate) as (_, url):
        calling = calling_context(certificate, certificate.trusted)
        assert await asked(url, calling) == (200, "no name")
        assert await asked(url, calling, {USER_HEADER: user_header(ALICE)}) == (200, "alice")


async def test_no_other_caller_is_answered() -> None:
    """No certificate, one of another authority, and one of the API server's proxy."""
    certificate, stranger = shared(), shared()
    forged = {USER_HEADER: user_header(ALICE), "X-Remote-User": "alice"}
    async with leading(certificate) as (instance, url):
        for context in (
            trusting(certificate),
            calling_context(stranger, certificate.trusted),
            trusting(certificate, TLS / "front-proxy" / "proxy-old.pem"),
            trusting(certificate, TLS / "new.pem"),
        ):
            for path in (READ, "/livez", "/nothing"):
                assert await asked(url, context, forged, path) == (0, "")
        assert instance.seen == []


async def test_a_certificate_of_the_authority_under_another_name_is_refused() -> None:
    """Files may be of an authority that signs for others, too."""
    certificate, other = shared(), shared("another.paddock-system.svc")
    both = ServingPair(certificate.pair, certificate.trusted + other.trusted)
    async with leading(both) as (instance, url):
        assert (await asked(url, calling_context(certificate, both.trusted)))[0] == 200
        instance.seen.clear()
        calling = calling_context(other, both.trusted)
        assert await asked(url, calling, {USER_HEADER: user_header(ALICE)}) == (403, "")
        assert await asked(url, calling, path="/nothing") == (403, "")
        assert instance.seen == []


async def test_without_the_check_of_the_name_it_would_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Peers, "is_peer", lambda *_: True)
    certificate, other = shared(), shared("another.paddock-system.svc")
    both = ServingPair(certificate.pair, certificate.trusted + other.trusted)
    async with leading(both) as (_, url):
        assert await asked(url, calling_context(other, both.trusted)) == (200, "no name")


async def test_an_instance_that_does_not_lead_answers_no_other() -> None:
    certificate = shared()
    async with leading(certificate) as (instance, url):
        instance.leads = False
        assert await asked(url, calling_context(certificate, certificate.trusted)) == (421, "")
        assert instance.seen == []


@pytest.mark.parametrize(
    "value", ["alice", base64.b64encode(b"no json").decode(), base64.b64encode(b'{"groups": []}').decode()]
)
async def test_a_user_that_cannot_be_read_is_refused(value: str) -> None:
    certificate = shared()
    async with leading(certificate) as (instance, url):
        calling = calling_context(certificate, certificate.trusted)
        assert await asked(url, calling, {USER_HEADER: value}) == (403, "")
        assert instance.seen == []


def test_a_second_header_is_no_user() -> None:
    with pytest.raises(ValueError):
        user_from([user_header(ALICE), user_header(AuthenticatedUser("bob"))])


async def test_a_new_certificate_counts_and_the_former_one_does_not() -> None:
    """As at a renewal: both, then the new one alone."""
    old, new = shared(), shared()
    both = old.trusted + new.trusted
    async with leading(old) as (instance, url):
        callers = [calling_context(each, both) for each in (old, new)]
        assert [(await asked(url, each))[0] for each in callers] == [200, 0]
        instance.peers.show(ServingPair(old.pair, both))
        assert [(await asked(url, each))[0] for each in callers] == [200, 200]
        instance.peers.show(new)
        assert [(await asked(url, each))[0] for each in callers] == [0, 200]


async def test_a_connection_is_not_believed_for_what_it_was() -> None:
    old, new = shared(), shared()
    async with leading(old) as (instance, url), aiohttp.ClientSession() as session:
        calling = calling_context(old, old.trusted + new.trusted)

        async def again() -> int:
            async with session.get(f"{url}{READ}", ssl=calling, server_hostname=NAME) as response:
                return response.status

        assert [await again(), await again()] == [200, 200]
        instance.peers.show(new)
        with pytest.raises(aiohttp.ClientError):
            await again()


@pytest.mark.parametrize(
    ("authority", "problem"),
    [
        ("", "no authority is known"),
        ("nothing.pem", "No such file"),
        ("front-proxy/proxy-old.pem", ""),
    ],
)
def test_an_authority_in_a_file(authority: str, problem: str) -> None:
    files = ServingFiles(str(TLS / "server.pem"), str(TLS / "server.pem"), authority and str(TLS / authority))
    peers = Peers(NAME, Connections())
    peers.show(files)
    assert problem in peers.problem
    assert (peers.calling is None) == bool(problem)


def test_before_there_is_a_certificate_nothing_listens() -> None:
    with pytest.raises(OSError):
        Peers(NAME, Connections()).listening()
