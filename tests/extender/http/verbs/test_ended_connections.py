"""Ended connections: no reference keeps them, since the garbage collector may never look at them again.

kube-scheduler opens dozens of connections a second in a burst.
"""

import asyncio
import gc
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from extender.http.verbs.connection import Connection
from extender.kube.connection.api import MalformedAnswer
from extender.kube.connection.channel import Broken, Channel
from extender.kube.connection.channels import Target
from extender.kube.connection.stream import Stream, Streams
from tests.extender.http.verbs.test_connection import answer_of, call, repeat, talking, until
from tests.extender.rigs import Door, serving

SENT = {
    "nothing": b"",
    "a call": call(b"{}"),
    "three calls": call(b"1") + call(b"2") + call(b"3"),
    "half a head": b"POST /v1/filter HTTP/1.1\r\nHo",
    "half a body": call(b"{}" * 100)[:-50],
    "half a large body": call(b"1" * 2**18)[: -(2**16)],
    "a chunk": call(b"", "Transfer-Encoding: chunked", length=False) + b"2\r\n{}\r\n",
    "a call that waits": call(b"{}", verb="bind"),
    "no HTTP": b"\x16\x03\x01\x02\x00",
    "another path": call(b"{}", first="POST /v2/filter HTTP/1.1"),
}


Living = Callable[[type[object]], list[object]]


@pytest.fixture
def living() -> Iterator[Living]:
    """Objects of a kind that are alive, but for those of other tests. The collector frees none meanwhile."""

    def of_kind(kind: type[object]) -> list[object]:
        return [each for each in gc.get_objects() if type(each) is kind and id(each) not in others]

    others = set[int]()
    gc.collect()
    gc.disable()
    held = [*of_kind(Connection), *of_kind(Channel), *of_kind(Stream)]
    others |= {id(each) for each in held}
    yield of_kind
    gc.enable()


async def forever(_: bytes) -> bytes:
    await asyncio.Event().wait()
    return b""


async def _hang_up(door: Door, sent: bytes, living: Living, *, heard: bool) -> None:
    """Send something and close the connection. ``heard``: after an answer."""
    async with talking(door) as (reader, writer):
        await asyncio.wait_for(until(lambda: bool(living(Connection))), 5)
        writer.write(sent)
        await writer.drain()
        if heard:
            await answer_of(reader)


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT.keys())
async def test_a_client_that_hangs_up_leaves_nothing(sent: bytes, living: Living) -> None:
    async with serving({"filter": repeat, "bind": forever}) as door:
        await _hang_up(door, sent, living, heard=False)
        await asyncio.wait_for(until(lambda: not living(Connection)), 5)


@pytest.mark.parametrize("name", ["a call", "three calls", "no HTTP", "another path"])
async def test_a_client_that_has_its_answer_leaves_nothing(name: str, living: Living) -> None:
    async with serving({"filter": repeat}) as door:
        await _hang_up(door, SENT[name], living, heard=True)
        await asyncio.wait_for(until(lambda: not living(Connection)), 5)


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", b"HTTP/1.1 2", b"nonsense", b""]
)
async def test_a_connection_to_the_api_server_that_ends_leaves_nothing(answer: bytes, living: Living) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        await _ask_once(*server.sockets[0].getsockname())
        await asyncio.wait_for(until(lambda: not living(Channel)), 5)


async def _ask_once(host: str, port: int) -> None:
    _, channel = await asyncio.get_running_loop().create_connection(Channel, host, port)
    with suppress(Broken):
        async with asyncio.timeout(5):
            await channel.ask(b"GET / HTTP/1.1\r\n\r\n")
    channel.close()


WATCH = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDS = {
    "an end": WATCH + b"4\r\none\n\r\n0\r\n\r\n",
    "a broken line": WATCH + b"6\r\none\ntw\r\n",
    "a long line": WATCH + b"3e8\r\n" + b"x" * 1000,
    "a refusal": b"HTTP/1.1 410 Gone\r\nContent-Length: 2\r\n\r\n{}",
    "no HTTP": b"nonsense",
    "nothing": b"",
}


@pytest.mark.parametrize("answer", ENDS.values(), ids=ENDS.keys())
async def test_a_watch_that_ends_leaves_nothing(answer: bytes, living: Living) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        await _watch(Target(*server.sockets[0].getsockname(), None, None))
        await asyncio.wait_for(until(lambda: not living(Stream)), 5)


async def _watch(target: Target) -> None:
    streams = Streams(connect_within=5.0)
    with suppress(Broken, MalformedAnswer):
        stream = await streams.opened(target, b"GET / HTTP/1.1\r\n\r\n", idle_for=5.0, limit=100)
        try:
            while stream.head.is_good and await stream.read():
                pass
            await stream.rest()
        finally:
            stream.close()
