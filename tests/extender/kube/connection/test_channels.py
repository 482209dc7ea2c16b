"""Connections of the API client: when they are used again, what an error says, and what any bytes may do."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.kube.connection import channel as channel_module
from extender.kube.connection import channels as channels_module
from extender.kube.connection.api import Unreachable
from extender.kube.connection.channel import Answer
from extender.kube.connection.channels import Channels, Target, head_of, request_of, target_of
from extender.kube.connection.fencing import HeldBack

OK = b"HTTP/1.1 200 OK\r\nDate: today\r\nContent-Length: 2\r\n\r\n{}"
Plays = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """A server that plays ``plays`` for each connection. ``connections``: how many came."""

    def __init__(self, plays: Plays) -> None:
        self._plays = plays
        self.connections = 0
        self.requests: list[bytes] = []
        self.asked = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._plays(reader, writer)
        finally:
            writer.close()

    async def request(self, reader: asyncio.StreamReader) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(head)
        self.asked.set()
        return head


@asynccontextmanager
async def served(plays: Callable[["Server"], Plays]) -> AsyncIterator[tuple[Server, Target]]:
    made: list[Server] = []
    server = Server(lambda reader, writer: plays(made[0])(reader, writer))
    made.append(server)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield server, Target("127.0.0.1", port, None, None)
    finally:
        listening.close()


@asynccontextmanager
async def opened(*, most: int = 4, within: float = 1.0) -> AsyncIterator[Channels]:
    channels = Channels(connect_within=within, most=most)
    yield channels
    channels.close()
    await asyncio.sleep(0)


def answering(*answers: bytes) -> Callable[[Server], Plays]:
    """Answer each request of a connection with the next text, the last one again and again."""

    def plays(server: Server) -> Plays:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for at in range(100):
                try:
                    await server.request(reader)
                except asyncio.IncompleteReadError:
                    return
                writer.write(answers[min(at, len(answers) - 1)])
                await writer.drain()

        return play

    return plays


GET = request_of("GET", "/x", head_of({"Host": "h"}), None)


async def test_a_connection_serves_one_request_after_the_other() -> None:
    async with served(answering(OK)) as (server, target), opened() as channels:
        for _ in range(3):
            assert await channels.ask(target, GET, within=2) == Answer(200, b"{}", "today", "")
    assert (server.connections, len(server.requests)) == (1, 3)


async def test_requests_at_once_have_a_connection_each() -> None:
    async with served(answering(OK)) as (server, target), opened() as channels:
        await asyncio.gather(*(channels.ask(target, GET, within=2) for _ in range(3)))
    assert server.connections == 3


@pytest.mark.parametrize(
    "answer",
    [
        OK.replace(b"Date: today", b"Connection: close"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"more",
    ],
    ids=["as the server says", "of HTTP/1.0", "after bytes that nothing asked for"],
)
async def test_a_connection_that_ends_is_not_used_again(answer: bytes) -> None:
    async with served(answering(answer)) as (server, target), opened() as channels:
        for _ in range(2):
            assert (await channels.ask(target, GET, within=2)).body == b"{}"
            await asyncio.sleep(0.02)
    assert server.connections == 2


async def test_an_idle_connection_is_not_used_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels_module, "_IDLE", -1.0)
    async with served(answering(OK)) as (server, target), opened() as channels:
        for _ in range(2):
            await channels.ask(target, GET, within=2)
    assert server.connections == 2


async def test_another_target_has_connections_of_its_own() -> None:
    async with served(answering(OK)) as (server, target), opened() as channels:
        await channels.ask(target, GET, within=2)
        await channels.ask(target._replace(host="localhost"), GET, within=2)
    assert server.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nRetry-After: 3\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["chunked", "after an interim one"],
)
async def test_forms_of_an_answer(answer: bytes) -> None:
    async with served(answering(answer)) as (_, target), opened() as channels:
        found = [await channels.ask(target, GET, within=2) for _ in range(2)]
    assert found == [Answer(201, b"{}", "", "3")] * 2


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", b"nonsense\r\n\r\n", b"HTTP/1.1 200"],
    ids=["nothing", "half a body", "no HTTP", "half a line"],
)
async def test_an_answer_that_breaks_off_may_have_been_carried_out(answer: bytes) -> None:
    def plays(server: Server) -> Plays:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            writer.write(answer)

        return play

    async with served(plays) as (_, target), opened() as channels:
        with pytest.raises(Unreachable) as caught:
            await channels.ask(target, GET, within=2)
    assert caught.value.sent is True


async def test_large_headers_and_answers_end_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_module, "MOST_ANSWER", 1)
    monkeypatch.setattr(channel_module, "MOST_HEADERS", 60)
    for answer in (OK, OK.replace(b"today", b"x" * 80)):
        async with served(answering(answer)) as (_, target), opened() as channels:
            with pytest.raises(Unreachable, match="more than"):
                await channels.ask(target, GET, within=2)


async def test_a_request_that_waits_for_a_connection_in_vain_was_not_sent() -> None:
    """With all connections in use, and at an address that accepts none."""

    def plays(server: Server) -> Plays:
        async def play(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            await server.request(reader)
            await reader.read()

        return play

    async with served(plays) as (server, target), opened(most=1) as channels:
        first = asyncio.create_task(channels.ask(target, GET, within=5))
        await server.asked.wait()
        with pytest.raises(Unreachable) as caught:
            await channels.ask(target, GET, within=0.1)
        assert caught.value.sent is False
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
    assert len(server.requests) == 1


async def test_a_cancelled_request_gives_its_place_back_and_closes_its_connection() -> None:
    turns = 0

    def plays(server: Server) -> Plays:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal turns
            await server.request(reader)
            turns += 1
            if turns > 1:
                writer.write(OK)
                await writer.drain()
            await reader.read()

        return play

    async with served(plays) as (server, target), opened(most=1) as channels:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await channels.ask(target, GET, within=5)
        assert (await channels.ask(target, GET, within=2)).status == 200
    assert server.connections == 2


async def test_nothing_is_sent_without_the_right_to_send() -> None:
    async with served(answering(OK)) as (server, target), opened(most=1) as channels:
        await channels.ask(target, GET, within=2)
        with pytest.raises(HeldBack):
            await channels.ask(target, GET, within=2, may_send=lambda: False)
        await channels.ask(target, GET, within=2, may_send=lambda: True)
    assert len(server.requests) == 2


async def test_closing_ends_requests_under_way_and_later_ones() -> None:
    def plays(server: Server) -> Plays:
        async def play(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            await server.request(reader)
            await reader.read()

        return play

    async with served(plays) as (server, target), opened() as channels:
        under_way = asyncio.create_task(channels.ask(target, GET, within=5))
        await server.asked.wait()
        channels.close()
        with pytest.raises(Unreachable) as caught:
            await under_way
        assert caught.value.sent is True
        with pytest.raises(Unreachable) as refused:
            await channels.ask(target, GET, within=1)
        assert refused.value.sent is False


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/x\r\nX: y", {}), ("/x y", {}), ("/x", {"Authorization": "Bearer a\r\nX: y"}), ("/x", {"A\n": "b"})],
)
def test_no_value_can_add_a_line_to_a_request(path: str, headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="line end"):
        request_of("GET", path, head_of(headers), None)


def test_a_request_is_written_as_http() -> None:
    made = request_of("POST", "/x?a=b", head_of({"Host": "h", "A": "c"}), b"{}")
    assert made == b"POST /x?a=b HTTP/1.1\r\nHost: h\r\nA: c\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize(
    ("url", "host", "port", "prefix", "name"),
    [
        ("http://h", "h", 80, "", None),
        ("https://h:6443/k8s/c/", "h", 6443, "/k8s/c", "h"),
        ("https://[::1]", "::1", 443, "", "::1"),
    ],
)
def test_targets_are_read_from_urls(url: str, host: str, port: int, prefix: str, name: str | None) -> None:
    target, found = target_of(url, None, None)
    assert (target.host, target.port, found, target.server_name) == (host, port, prefix, name)
    assert (target.tls is None) == url.startswith("http:")


@settings(max_examples=60, deadline=None)
@given(
    cuts=st.lists(st.integers(1, 80), max_size=5),
    noise=st.one_of(st.just(b""), st.binary(max_size=12)),
    at=st.integers(0, 80),
)
def test_any_bytes_in_any_pieces_give_an_answer_or_an_error(cuts: list[int], noise: bytes, at: int) -> None:
    text = OK[:at] + noise + OK[at:] if noise else OK

    def plays(server: Server) -> Plays:
        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await server.request(reader)
            left = text
            for cut in cuts:
                writer.write(left[:cut])
                await writer.drain()
                await asyncio.sleep(0)
                left = left[cut:]
            writer.write(left)

        return play

    async def asked() -> Answer | Unreachable:
        async with served(plays) as (_, target), opened() as channels:
            try:
                return await channels.ask(target, GET, within=2)
            except Unreachable as error:
                return error

    found = asyncio.run(asked())
    assert isinstance(found, Answer) or found.sent
    assert noise or found == Answer(200, b"{}", "today", "")
