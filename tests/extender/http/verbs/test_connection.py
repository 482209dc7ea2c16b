"""Requests as bytes on a connection: order, framing, limits, and what is no HTTP."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from extender.http.intake import Intake
from extender.http.server import Address
from extender.http.verbs import connection as connection_module
from extender.http.verbs.connection import MOST_OVERHEAD
from extender.http.verbs.content import HIGH
from extender.http.verbs.listening import listen_to_verbs, verbs_server
from tests.extender.rigs import Door, serving

BODY = b'{"n":%d}'


def call(
    body: bytes = b"{}", *headers: str, verb: str = "filter", length: bool = True, first: str = ""
) -> bytes:
    lines = [first or f"POST /v1/{verb} HTTP/1.1", "Host: paddock", *headers]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def repeat(body: bytes) -> bytes:
    return body


@asynccontextmanager
async def talking(door: Door) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer_of(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Status, headers in lower case and body of the next answer."""
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await asyncio.wait_for(reader.readexactly(int(headers.get("content-length", "0"))), 5)
    return int(head[0].split()[1]), headers, body


async def is_closed(reader: asyncio.StreamReader) -> bool:
    return await asyncio.wait_for(reader.read(), 5) == b""


# -- order and framing ----------------------------------------------------------------------------------


async def test_requests_in_one_piece_are_answered_in_their_order() -> None:
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(b"".join(call(BODY % n) for n in range(500)))
        for n in range(500):
            assert (await answer_of(reader))[2] == BODY % n


async def test_a_request_behind_one_that_waits_is_answered_after_it() -> None:
    released = asyncio.Event()

    async def slowly(body: bytes) -> bytes:
        await released.wait()
        return body

    async with serving({"bind": slowly, "filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(b"1", verb="bind") + call(b"2") + call(b"3", verb="bind") + call(b"4"))
        await asyncio.wait_for(until(lambda: door.calls == 0), 5)
        released.set()
        assert [(await answer_of(reader))[2] for _ in range(4)] == [b"1", b"2", b"3", b"4"]


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - a handler has no event for its end
        await asyncio.sleep(0.005)


FRAMES = {
    "with its length": call(b'{"a":1}'),
    "in chunks": call(
        b'3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\nX-Trailer: 1\r\n\r\n', "Transfer-Encoding: chunked", length=False
    ),
    "with a query": call(b'{"a":1}', first="POST /v1/filter?timeout=5s HTTP/1.1"),
    "said to be identical": call(b'{"a":1}', "content-encoding: identity"),
}


@pytest.mark.parametrize("sent", FRAMES.values(), ids=FRAMES.keys())
async def test_bytes_may_come_one_by_one(sent: bytes) -> None:
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        for at in range(len(sent)):
            writer.write(sent[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0)
        assert await answer_of(reader) == (
            200,
            {"content-type": "application/json", "content-length": "7"},
            b'{"a":1}',
        )


async def test_a_client_that_asks_first_may_send() -> None:
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(b"", "Expect: 100-continue", "Content-Length: 2", length=False))
        assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5) == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"{}")
        assert (await answer_of(reader))[2] == b"{}"


@pytest.mark.parametrize("first", ["POST /v1/filter HTTP/1.0", ""])
async def test_a_connection_closes_if_the_client_wants_it(first: str) -> None:
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(b"{}", *(() if first else ("Connection: close",)), first=first) + call(b"x"))
        status, headers, body = await answer_of(reader)
        assert (status, headers["connection"], body) == (200, "close", b"{}")
        assert await is_closed(reader)
    assert door.calls == 1


@pytest.mark.parametrize(
    ("first", "status"),
    [
        ("GET /v1/filter HTTP/1.1", 405),
        ("PUT /v1/filter HTTP/1.1", 405),
        ("POST /v1/filter/ HTTP/1.1", 404),
        ("POST /v1/FILTER HTTP/1.1", 404),
        ("POST http://paddock/v1/filter HTTP/1.1", 404),
        ("GET / HTTP/1.1", 404),
    ],
)
async def test_other_requests_are_refused_and_the_connection_stays(first: str, status: int) -> None:
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(b"{}", first=first) + call(b"1"))
        found, headers, body = await answer_of(reader)
        assert (found, headers.get("allow")) == (status, "post" if status == 405 else None)
        assert list(json.loads(body)) == ["error"]
        assert (await answer_of(reader))[2] == b"1"
    assert door.calls == 1


# -- limits ---------------------------------------------------------------------------------------------

FLOODS = {
    "one long header": (b"POST /v1/filter HTTP/1.1\r\nX: ", b"y" * 1000),
    "many headers": (b"POST /v1/filter HTTP/1.1\r\n", b"X: y\r\n" * 100),
    "a long target": (b"POST /v1/filter?", b"y" * 1000),
    "a long extension of a chunk": (
        call(b"1;x=", "Transfer-Encoding: chunked", length=False),
        b"y" * 1000,
    ),
    "a long trailer": (call(b"0\r\nX: ", "Transfer-Encoding: chunked", length=False), b"y" * 1000),
    "many trailers": (call(b"0\r\n", "Transfer-Encoding: chunked", length=False), b"X: y\r\n" * 100),
}


@pytest.mark.parametrize(("begin", "more"), FLOODS.values(), ids=FLOODS.keys())
async def test_what_is_no_body_has_a_limit(begin: bytes, more: bytes) -> None:
    """F-19: nothing that is kept of a request grows without end."""
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(begin)
        sent = 0
        answered = asyncio.ensure_future(reader.readline())
        while not answered.done():
            assert sent < 50 * MOST_OVERHEAD
            writer.write(more)
            sent += len(more)
            await writer.drain()
            await asyncio.sleep(0)
        status = (await answered).split()[1]
        assert status == (b"200" if b"Transfer" in begin and b"filter?" not in begin else b"400")
    assert {fault for _, fault in door.faults} <= {"incomplete body"}
    assert door.bugs == []


async def test_many_small_chunks_are_taken() -> None:
    body = b"x" * 20_000
    chunks = b"".join(b"1\r\n" + body[at : at + 1] + b"\r\n" for at in range(len(body))) + b"0\r\n\r\n"
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(chunks, "Transfer-Encoding: chunked", length=False))
        assert (await answer_of(reader))[2] == body


async def test_answers_that_are_not_read_stop_the_next_ones() -> None:
    """A client that sends and never reads costs the memory of a few answers."""
    answer = b"x" * 100_000
    async with serving({"filter": lambda _: answer}) as door, talking(door) as (reader, writer):
        writer.write(b"".join(call(b"") for _ in range(2_000)))
        await asyncio.wait_for(until(lambda: door.calls > 10), 5)
        seen = -1
        while seen != door.calls:
            seen = door.calls
            await asyncio.sleep(0.1)
        assert seen < 500
        for _ in range(2_000):
            assert (await answer_of(reader))[2] == answer


async def test_what_is_behind_a_call_that_waits_is_not_read_without_end() -> None:
    waits = asyncio.Event()

    async def slowly(body: bytes) -> bytes:
        await waits.wait()
        return body

    async with serving({"bind": slowly, "filter": repeat}) as door, talking(door) as (reader, writer):
        large = b" " * 40 * HIGH
        writer.write(call(b"1", verb="bind") + call(large))
        await asyncio.sleep(0.2)
        (one,) = _open_connections()
        assert sum(each.content.held for each in one._waiting) <= 8 * HIGH
        waits.set()
        assert (await answer_of(reader))[2] == b"1"
        assert (await answer_of(reader))[2] == large


async def test_requests_behind_one_that_waits_do_not_pile_up() -> None:
    """F-19: whoever sends without end behind a call that waits is not listened to."""
    waits = asyncio.Event()

    async def slowly(body: bytes) -> bytes:
        await waits.wait()
        return body

    many, large = 10_000, call(b"2" * 2_000)
    async with serving({"bind": slowly, "filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(b"1", verb="bind"))
        sending = asyncio.create_task(_send(writer, large * 100, many // 100))
        await asyncio.wait({sending}, timeout=0.3)
        assert not sending.done()
        (one,) = _open_connections()
        assert len(one._waiting) < 1_000
        waits.set()
        for _ in range(many + 1):
            assert (await answer_of(reader))[0] == 200
        await sending


async def _send(writer: asyncio.StreamWriter, sent: bytes, times: int) -> None:
    for _ in range(times):
        writer.write(sent)
        await writer.drain()


async def test_a_bug_outside_of_the_verbs_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> bytes:
        raise KeyError("broken")

    monkeypatch.setattr(Intake, "body_of", broken)
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(b"{}", "Content-Encoding: identity"))
        status, headers, body = await answer_of(reader)
        assert (status, headers["connection"], body) == (500, "close", b'{"error":"internal"}')


def _open_connections() -> list[connection_module.Connection]:
    found = [each for each in gc.get_objects() if isinstance(each, connection_module.Connection)]
    return [each for each in found if each._transport is not None]


# -- the end --------------------------------------------------------------------------------------------

INVALID = {
    "a length and chunks": call(b"{}", "Transfer-Encoding: chunked"),
    "two lengths": call(b"{}", "Content-Length: 3"),
    "a length that is none": call(b"", "Content-Length: -1", length=False),
    "an endless length": call(b"", "Content-Length: " + "9" * 30, length=False),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a header without a name": call(b"", ": x"),
    "a folded header": call(b"", "X: y\r\n z"),
    "a bare line feed in a value": call(b"", "X: y\x00z"),
}


@pytest.mark.parametrize("sent", INVALID.values(), ids=INVALID.keys())
async def test_what_is_invalid_is_answered_and_closed(sent: bytes) -> None:
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(call(b"before") + sent + call(b"after"))
        assert (await answer_of(reader))[2] == b"before"
        status, headers, _ = await answer_of(reader)
        assert (status, headers["connection"]) == (400, "close")
        assert await is_closed(reader)
    assert door.calls == 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (call(b"{}", "Connection: Upgrade", "Upgrade: h2c"), 200),
        (call(b"", first="CONNECT paddock:443 HTTP/1.1", length=False), 404),
    ],
    ids=["another protocol", "a tunnel"],
)
async def test_no_other_protocol_is_spoken(sent: bytes, status: int) -> None:
    async with serving({"filter": repeat}) as door, talking(door) as (reader, writer):
        writer.write(sent + call(b"after"))
        found, headers, _ = await answer_of(reader)
        assert (found, headers["connection"]) == (status, "close")
        assert await is_closed(reader)


async def test_a_closed_port_lets_a_running_call_end_and_takes_no_other() -> None:
    began, released = asyncio.Event(), asyncio.Event()

    async def slowly(body: bytes) -> bytes:
        began.set()
        await released.wait()
        return body

    server = verbs_server({"bind": slowly}, measure=lambda *_: None, on_bug=lambda *_: None)
    listener = await listen_to_verbs(server, Address("127.0.0.1", 0))
    port = listener.addresses[0][1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    idle, other = await asyncio.open_connection("127.0.0.1", port)
    writer.write(call(b"{}", verb="bind"))
    await asyncio.wait_for(began.wait(), 5)
    closing = asyncio.create_task(listener.cleanup())
    assert await is_closed(idle)
    assert not closing.done()
    released.set()
    status, headers, _ = await answer_of(reader)
    assert (status, headers["connection"]) == (200, "close")
    await asyncio.wait_for(closing, 5)
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", port)
    for each in (writer, other):
        each.close()


async def test_a_call_that_outlasts_the_end_is_cancelled() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def forever(_: bytes) -> bytes:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return b""

    server = verbs_server({"bind": forever}, measure=lambda *_: None, on_bug=lambda *_: None)
    listener = await listen_to_verbs(server, Address("127.0.0.1", 0), shutdown=0.05)
    _, writer = await asyncio.open_connection("127.0.0.1", listener.addresses[0][1])
    writer.write(call(b"{}", verb="bind"))
    await asyncio.wait_for(began.wait(), 5)
    await asyncio.wait_for(listener.cleanup(), 5)
    await asyncio.wait_for(ended.wait(), 5)
    writer.close()


async def test_an_idle_connection_is_closed_in_the_end() -> None:
    server = verbs_server({"filter": repeat}, measure=lambda *_: None, on_bug=lambda *_: None)
    listener = await listen_to_verbs(server, Address("127.0.0.1", 0), idle_for=0.05)
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.addresses[0][1])
    writer.write(call(b"{}"))
    assert (await answer_of(reader))[0] == 200
    assert await is_closed(reader)
    writer.close()
    await listener.cleanup()
