"""Reads that a standby passes on to the leader: what arrives there, what comes back, and what never does."""

import asyncio
import gzip
import json
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from extender.http import relay
from extender.http.access.delegated import USER
from extender.http.relay import ANSWERED, AT_ONCE, BUSY, FAILED, UNKNOWN
from extender.identity.caller import AuthenticatedUser
from tests.extender.http.peering import ALICE, LOOPBACK, Pair, paired, shared

BODY = b"who waits for what" * 100


async def answers(_request: web.Request) -> web.Response:
    return web.Response(body=BODY, content_type="application/json")


async def test_a_read_is_answered_by_the_leader_under_the_callers_name() -> None:
    async with paired(answers) as pair:
        status, body, headers = await pair.ask("/ws/v1/partitions")
        assert (status, body) == (200, BODY)
        assert headers["Content-Length"] == str(len(BODY))
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert [request[USER] for request in pair.leader.seen] == [ALICE]
        assert (pair.standby.seen, pair.standby.ended) == ([], [(ANSWERED, "")])


async def test_an_instance_that_leads_answers_itself() -> None:
    async with paired(answers) as pair:
        pair.standby.leads = True
        assert (await pair.ask("/ws/v1/partitions"))[0] == 200
        assert (len(pair.standby.seen), pair.leader.seen) == (1, [])


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/livez"), ("POST", "/ws/v1/validate-conf"), ("OPTIONS", "/ws/v1/partitions")],
)
async def test_what_is_no_read_of_the_leaders_stays_here(method: str, path: str) -> None:
    async with paired(answers) as pair:
        assert (await pair.ask(path, method=method))[0] == 200
        assert (len(pair.standby.seen), pair.leader.seen) == (1, [])


@pytest.mark.rule("REST-22")
@pytest.mark.parametrize(
    "path",
    [
        "/ws/v1/partition/default/queue/root.a%252Bb%2540c?subtree",
        "/ws/v1/queue/a%2Fb//?x=%26&x=+",
        "/ws/v1/../../livez",
        "/ws/v1/x%",
    ],
)
async def test_a_path_arrives_as_it_came(path: str) -> None:
    async with paired(answers) as pair:
        assert (await pair.ask(path))[0] == 200
        assert [request.raw_path for request in pair.leader.seen] == [path]


async def test_no_credentials_and_no_forged_name_are_passed_on() -> None:
    forged = {
        "Authorization": "Bearer secret",
        "Cookie": "token=secret",
        "X-Remote-User": "admin",
        "X-Paddock-User": "admin",
        "Impersonate-User": "admin",
        "Host": "ui.example",
        "Accept": "application/json",
    }
    async with paired(answers) as pair:
        assert (await pair.ask("/ws/v1/config", headers=forged))[0] == 200
        (request,) = pair.leader.seen
        assert request[USER] == ALICE
        assert set(request.headers) == {"Host", "Accept", "X-Paddock-User"}
        assert (request.headers["Host"], request.headers["Accept"]) == ("ui.example", "application/json")


async def test_a_caller_without_a_login_is_passed_on_without_a_name() -> None:
    """Where the REST port is open, there is no name."""
    async with paired(answers, user=None) as pair:
        assert (await pair.ask("/ws/v1/config", headers={"X-Paddock-User": "admin"}))[0] == 200
        assert USER not in pair.leader.seen[0]


@pytest.mark.parametrize(
    "user",
    [
        AuthenticatedUser("name\n, with: = \U0001f410 and \x00"),
        AuthenticatedUser("u", tuple(f"group-{number}-of-a-long-name" for number in range(1_000))),
    ],
    ids=["any text", "many user groups"],
)
async def test_every_user_arrives(user: AuthenticatedUser) -> None:
    async with paired(answers, user=user) as pair:
        assert (await pair.ask("/ws/v1/config"))[0] == 200
        assert pair.leader.seen[0][USER] == user


@pytest.mark.rule("REST-23")
async def test_a_body_is_packed_once_and_only_where_it_can_be_read() -> None:
    async def packs(request: web.Request) -> web.Response:
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=BODY)
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return web.Response(body=gzip.compress(BODY), headers=headers)

    async with paired(packs) as pair:
        _, body, headers = await pair.ask("/ws/v1/x", headers={"Accept-Encoding": "gzip"})
        assert (headers["Content-Encoding"], gzip.decompress(body)) == ("gzip", BODY)
        assert headers["Vary"] == "Accept-Encoding"
        _, body, headers = await pair.ask("/ws/v1/x")
        assert ("Content-Encoding" in headers, body) == (False, BODY)


@pytest.mark.parametrize("status", [301, 400, 404, 405, 429, 500, 503])
async def test_every_status_but_a_refusal_of_this_instance_comes_back(status: int) -> None:
    async def says(_request: web.Request) -> web.Response:
        headers = {"Location": "/ws/v1/right", "Allow": "GET", "Retry-After": "5", "Set-Cookie": "a=b"}
        return web.Response(status=status, text="as the leader says", headers=headers)

    async with paired(says) as pair:
        found, body, headers = await pair.ask("/ws/v1/x/")
        assert (found, body) == (status, b"as the leader says")
        assert (headers["Location"], headers["Allow"], headers["Retry-After"]) == ("/ws/v1/right", "GET", "5")
        assert "Set-Cookie" not in headers


@pytest.mark.parametrize("status", [401, 403, 421])
async def test_a_refusal_of_this_instance_is_none_of_the_caller(status: int) -> None:
    async def refuses(_request: web.Request) -> web.Response:
        return web.Response(status=status, text="secret")

    async with paired(refuses) as pair:
        await unavailable(pair, "and the leader refused it")


async def unavailable(pair: Pair, why: str) -> None:
    """The standby answers 503, in the words of REST-2 and of Kubernetes, and tells no address."""
    status, body, headers = await pair.ask("/ws/v1/partitions")
    found = json.loads(body)
    assert (status, found["status_code"], headers["Retry-After"]) == (503, 503, "5")
    assert found["message"] == found["description"] == f"this instance does not lead, {why}"
    assert headers["Content-Type"] == "application/json; charset=UTF-8"
    status, body, _ = await pair.ask("/namespaces/default")
    found = json.loads(body)
    assert (status, found["kind"], found["reason"]) == (503, "Status", "ServiceUnavailable")
    assert LOOPBACK not in found["message"]
    assert pair.standby.seen == []


@pytest.mark.rule("REST-43")
async def test_without_a_leader_the_answer_is_503() -> None:
    async with paired(answers) as pair:
        pair.standby.known = ""
        await unavailable(pair, "and does not know the leader's address")
        assert {outcome for outcome, _ in pair.standby.ended} == {UNKNOWN}


async def test_a_leader_that_is_not_there_gives_503() -> None:
    async with paired(answers) as pair:
        await pair.leader.stop()
        await unavailable(pair, "and the leader did not answer")
        assert {outcome for outcome, _ in pair.standby.ended} == {FAILED}
        # The log has the reason.
        assert "ConnectorError" in pair.standby.ended[0][1]


async def test_a_leader_that_does_not_say_anything_gives_503(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "HEAD_WITHIN", 0.05)

    async def says_nothing(_request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with paired(says_nothing) as pair:
        await unavailable(pair, "and the leader did not answer")


async def test_a_request_is_passed_on_once() -> None:
    """The Lease names an instance that believes another one to lead: it passes on nothing that came to it."""
    async with paired(answers) as pair:
        pair.leader.leads = False
        pair.leader.peer_port = pair.standby.peer_port
        await unavailable(pair, "and the leader refused it")
        assert (pair.leader.seen, pair.leader.ended) == ([], [])


@pytest.mark.parametrize("name", ["", "another.paddock-system.svc"])
async def test_a_leader_of_another_certificate_is_not_asked(name: str) -> None:
    """A certificate that the standby does not believe, and one that it believes under another name."""
    async with paired(answers) as pair:
        made = shared(*([name] if name else []))
        if name:
            pair.leader.peers.show(made)
            pair.standby.peers.show(made)
        else:
            pair.leader.peers.show(made)
        await unavailable(pair, "and the leader did not answer")
        assert pair.leader.seen == []


async def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one() -> None:
    async def breaks_off(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_length = len(BODY)
        await response.prepare(request)
        await response.write(BODY[:10])
        assert request.transport is not None
        request.transport.abort()
        return response

    async with paired(breaks_off) as pair:
        with pytest.raises(aiohttp.ClientError):
            await pair.ask("/ws/v1/x")


async def test_a_leader_that_stops_in_the_middle_of_a_body_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "PIECE_WITHIN", 0.05)

    async def stops(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_length = len(BODY)
        await response.prepare(request)
        await response.write(BODY[:10])
        await asyncio.Event().wait()
        return response

    async with paired(stops) as pair:
        with pytest.raises(aiohttp.ClientError):
            await pair.ask("/ws/v1/x")


class Streaming:
    """A handler that streams lines, and waits before each for `proceed`."""

    def __init__(self) -> None:
        self.proceed = asyncio.Semaphore(0)
        self.ended = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            for number in range(100):
                await self.proceed.acquire()
                await response.write(b"%d\n" % number)
        finally:
            self.ended.set()
        return response


async def streamed(pair: Pair, session: aiohttp.ClientSession) -> Any:
    return await session.get(f"{pair.url}/ws/v1/events/stream")


@pytest.mark.rule("REST-13")
async def test_a_stream_goes_on_line_by_line_and_ends_with_its_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "CHECKED_EVERY", 0.01)
    streaming = Streaming()
    async with paired(streaming) as pair, aiohttp.ClientSession() as session:
        response = await streamed(pair, session)
        for number in range(3):
            streaming.proceed.release()
            line = await asyncio.wait_for(response.content.readline(), 5)
            assert line == b"%d\n" % number
        response.close()
        await asyncio.wait_for(streaming.ended.wait(), 5)


async def test_a_stream_ends_when_another_instance_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that is gone without a word would leave its readers waiting for ever."""
    monkeypatch.setattr(relay, "CHECKED_EVERY", 0.01)
    streaming = Streaming()
    async with paired(streaming) as pair, aiohttp.ClientSession() as session:
        response = await streamed(pair, session)
        streaming.proceed.release()
        assert await asyncio.wait_for(response.content.readline(), 5) == b"0\n"
        pair.standby.known = "127.0.0.9"
        assert await asyncio.wait_for(response.content.read(), 5) == b""
        await asyncio.wait_for(streaming.ended.wait(), 5)


async def test_requests_beyond_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "AT_ONCE", 1)
    assert AT_ONCE > 1
    streaming = Streaming()
    async with paired(streaming) as pair, aiohttp.ClientSession() as session:
        response = await streamed(pair, session)
        status, body, _ = await pair.ask("/ws/v1/x")
        assert (status, b"too many requests" in body) == (503, True)
        assert [outcome for outcome, _ in pair.standby.ended] == [BUSY]
        response.close()


async def test_a_target_that_is_no_path_leads_nowhere() -> None:
    """Where the REST port is open, no guard has judged the path."""
    async with paired(answers, user=None) as pair:
        reader, writer = await asyncio.open_connection(LOOPBACK, int(pair.url.rpartition(":")[2]))
        writer.write(b"GET http://elsewhere.example/ws/v1/x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 5)
        writer.close()
        assert answer.split()[1] == b"503"
        assert pair.leader.seen == []


async def test_a_relay_that_passed_credentials_on_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "_ASKED", ("Authorization",))
    async with paired(answers) as pair:
        await pair.ask("/ws/v1/config", headers={"Authorization": "Bearer secret"})
        assert pair.leader.seen[0].headers["Authorization"] == "Bearer secret"


async def test_a_path_that_was_tidied_up_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "_url", lambda host, port, path: URL(f"https://{host}:{port}{path}"))
    async with paired(answers) as pair:
        await pair.ask("/ws/v1/../../livez")
        assert [request.raw_path for request in pair.leader.seen] == ["/livez"]
