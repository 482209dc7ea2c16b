"""Streams of the API client: what any bytes give, when they stop receiving, and what ends them."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.kube.connection import stream as stream_module
from extender.kube.connection.api import MalformedAnswer, Unreachable
from extender.kube.connection.channel import MOST_HEADERS, Broken
from extender.kube.connection.channels import Target
from extender.kube.connection.stream import HIGH, Head, Stream, Streams
from tests.extender.kube.connection.test_channels import answering, served

CHUNKED = b"HTTP/1.1 200 OK\r\nDate: today\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Wire(asyncio.Transport):
    """A transport that notes what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.written = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return "abort" in self.asked

    def pause_reading(self) -> None:
        self.asked.append("pause")

    def resume_reading(self) -> None:
        self.asked.append("resume")

    def abort(self) -> None:
        self.asked.append("abort")


def wired(*, idle_for: float = 60.0, limit: int = 10 * HIGH) -> tuple[Stream, Wire]:
    stream, wire = Stream(idle_for=idle_for, limit=limit), Wire()
    stream.connection_made(wire)
    return stream, wire


async def all_of(stream: Stream) -> list[bytes]:
    """All lines until the end, or until an error."""
    found: list[bytes] = []
    while lines := await stream.read():
        found += lines
    return found


def pieces_of(data: bytes, cuts: Sequence[int]) -> Iterator[bytes]:
    places = sorted({min(each, len(data)) for each in cuts} | {0, len(data)})
    return (data[begin:end] for begin, end in pairwise(places))


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(0, 400), max_size=12), st.booleans()
)
async def test_any_pieces_give_the_lines_of_the_whole(
    bodies: list[bytes], cuts: list[int], ends: bool
) -> None:
    stream, _ = wired()
    data = CHUNKED + b"".join(chunk(each) for each in bodies if each) + (END if ends else b"")
    for piece in pieces_of(data, cuts):
        stream.data_received(piece)
    stream.connection_lost(None)
    whole, _, _ = b"".join(bodies).rpartition(b"\n")
    expected = [line for line in whole.split(b"\n") if line]
    if ends:
        assert await all_of(stream) == expected
        return
    assert (await stream.read() if expected else []) == expected
    with pytest.raises(Broken, match="closed"):
        await stream.read()


@settings(deadline=None)
@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6), st.booleans())
async def test_any_bytes_give_lines_or_an_error(noise: bytes, cuts: list[int], begins_well: bool) -> None:
    stream, _ = wired()
    for piece in pieces_of((CHUNKED if begins_well else b"") + noise, cuts):
        stream.data_received(piece)
    stream.connection_lost(None)
    try:
        await stream.ask(b"")
        await (all_of(stream) if stream.head.is_good else stream.rest())
    except (Broken, MalformedAnswer):
        pass


async def test_it_stops_receiving_until_its_lines_are_read() -> None:
    stream, wire = wired()
    stream.data_received(CHUNKED + chunk(b"x" * HIGH))
    assert wire.asked == []
    stream.data_received(chunk(b"x\n"))
    assert wire.asked == ["pause"]
    assert await stream.read() == [b"x" * (HIGH + 1)]
    assert wire.asked == ["pause", "resume"]
    stream.data_received(chunk(b"y\n"))
    assert await stream.read() == [b"y"]
    assert wire.asked == ["pause", "resume"]


async def test_it_is_not_idle_while_it_does_not_receive() -> None:
    stream, wire = wired(idle_for=0.0)
    stream.data_received(CHUNKED + chunk(b"x" * HIGH + b"\n"))
    stream._give_up_if_idle()
    assert wire.asked == ["pause"]
    await stream.read()
    stream._give_up_if_idle()
    with pytest.raises(TimeoutError, match="no byte in 0 s"):
        await stream.read()
    assert wire.asked == ["pause", "resume", "abort"]


async def test_lines_that_came_before_an_error_can_be_read() -> None:
    stream, _ = wired()
    stream.data_received(CHUNKED + chunk(b"one\ntwo\n"))
    stream.eof_received()
    assert await stream.read() == [b"one", b"two"]
    for _ in range(2):
        with pytest.raises(Broken, match="the server closed the connection"):
            await stream.read()


async def test_a_long_line_and_long_headers_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, wire = wired(limit=100)
    stream.data_received(CHUNKED + chunk(b"one\n" + b"x" * 101))
    assert wire.asked == ["abort"]
    assert await stream.read() == [b"one"]
    with pytest.raises(MalformedAnswer, match="more than 100 bytes"):
        await stream.read()
    stream, _ = wired()
    stream.data_received(b"HTTP/1.1 200 OK\r\nA: " + b"x" * MOST_HEADERS + b"\r\n\r\n")
    with pytest.raises(Broken, match="headers of more than"):
        await stream.ask(b"")
    monkeypatch.setattr(stream_module, "MOST_REFUSAL", 10)
    stream, _ = wired()
    stream.data_received(b"HTTP/1.1 500 No\r\nContent-Length: 11\r\n\r\n" + b"x" * 11)
    with pytest.raises(Broken, match="an answer of more than 10 bytes"):
        await stream.rest()


async def test_heads_are_read_and_interim_ones_are_skipped() -> None:
    stream, wire = wired()
    asked = asyncio.create_task(stream.ask(b"GET / HTTP/1.1\r\n\r\n"))
    await asyncio.sleep(0)
    assert wire.written == b"GET / HTTP/1.1\r\n\r\n"
    stream.data_received(b"HTTP/1.1 103 Early Hints\r\n\r\n")
    await asyncio.sleep(0)
    assert not asked.done()
    stream.data_received(b"HTTP/1.1 429 No\r\nDate: now\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\nno")
    await asked
    assert stream.head == Head(429, "now", "3")
    assert await stream.rest() == b"no"


@asynccontextmanager
async def opened(server: Target, streams: Streams) -> AsyncIterator[Stream]:
    stream = await streams.opened(server, b"GET / HTTP/1.1\r\n\r\n", idle_for=5.0, limit=HIGH)
    yield stream
    stream.close()


async def test_closing_all_ends_those_under_way_and_later_ones() -> None:
    streams = Streams(connect_within=5.0)
    async with served(answering(CHUNKED)) as (_, target), opened(target, streams) as stream:
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        streams.close()
        with pytest.raises(Broken, match="the connection was closed"):
            await reading
        with pytest.raises(Unreachable, match="the client is closed") as caught:
            await streams.opened(target, b"", idle_for=5.0, limit=HIGH)
        assert not caught.value.sent


async def test_a_server_that_is_not_there_was_not_asked() -> None:
    async with served(answering(CHUNKED)) as (server, target):
        for within, text in ((0.0, "no connection in time"), (5.0, "Error")):
            streams = Streams(connect_within=within)
            port = target.port if not within else 1
            with pytest.raises(Unreachable, match=text) as caught:
                await streams.opened(target._replace(port=port), b"", idle_for=5.0, limit=HIGH)
            assert not caught.value.sent
        assert server.requests == []
