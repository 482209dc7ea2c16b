"""Bodies that are too large, in pieces, cut off or not what their headers say: answered, and never a bug."""

import asyncio
import io
import zlib
from typing import Any

import pytest

from extender.http.verbs.listening import MOST_BIND, MOST_BYTES
from tests.builders import make_queue
from tests.extender.rigs import BODIES, VERBS, Door, Rig, answers_of, answers_still, changed, serving

MIB = 2**20
PACKED = zlib.compress(b"[" * (120 * MIB))

# -- sizes ---------------------------------------------------------------------------------------------


def node_list(nodes: int, bytes_each: int) -> bytes:
    """A filter body with whole Nodes."""
    filling = b"x" * bytes_each
    items = b",".join(
        b'{"metadata":{"name":"n%d","annotations":{"filling":"%s"}}}' % (n, filling) for n in range(nodes)
    )
    head = changed(lambda body: body.update(NodeNames=None, Nodes=5))
    return head.replace(b'"Nodes": 5', b'"Nodes":{"metadata":{},"items":[' + items + b"]}")


async def test_a_filter_body_of_60_mb_is_answered() -> None:
    body = node_list(5_000, 12_000)
    assert len(body) > 60_000_000
    rig = Rig(make_queue("root.a", max={"vcore": 1000}), nodes=1)
    async with serving(answers_of(rig)) as door:
        _, answer = await door.post("filter", io.BytesIO(body))
        assert len(answer["Nodes"]["items"]) == 5_000
        other = body.replace(b"uid-p", b"uid-q").replace(b'"name": "p"', b'"name": "q"')
        _, refused = await door.post("filter", io.BytesIO(other))
        assert len(refused["FailedAndUnresolvableNodes"]) == 5_000
        assert refused["Nodes"]["items"] == []
    assert door.faults == []


async def connection_to(door: Door) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", door.port)


def head(verb: str, *headers: str) -> bytes:
    lines = [f"POST /v1/{verb} HTTP/1.1", "Host: localhost", *headers, "", ""]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize(("verb", "status"), [("filter", b"200"), ("prioritize", b"400"), ("bind", b"200")])
async def test_300_mb_are_refused_before_the_first_byte(verb: str, status: bytes) -> None:
    rig = Rig()
    async with serving(answers_of(rig)) as door:
        reader, writer = await connection_to(door)
        writer.write(head(verb, f"Content-Length: {300 * MIB}"))
        answer = await asyncio.wait_for(reader.readuntil(b"}"), 5)
        assert answer.split()[1] == status
        assert b"Connection: close" in answer
        most = MOST_BIND if verb == "bind" else MOST_BYTES
        assert f"above the limit of {most}".encode() in answer
        writer.close()
        assert door.faults == [(verb, "too large")]
        await answers_still(door)


async def test_an_endless_stream_is_cut_at_the_limit() -> None:
    rig = Rig()
    async with serving(answers_of(rig), most_bytes=MIB) as door:
        reader, writer = await connection_to(door)
        writer.write(head("filter", "Transfer-Encoding: chunked"))
        answer = asyncio.create_task(reader.readuntil(b"}"))
        sent, chunk = 0, b"10000\r\n" + b"[" * 0x10000 + b"\r\n"
        while not answer.done():
            assert sent < 300 * MIB
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(0)
            sent += 0x10000
        assert b"above the limit of 1048576 bytes" in await answer
        # The limit, and what both sockets hold.
        assert sent < 20 * MIB
        writer.close()
        assert door.faults == [("filter", "too large")]
        await answers_still(door)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "GZIP", "identity, gzip"])
async def test_an_encoded_body_is_refused_and_never_unpacked(verb: str, encoding: str) -> None:
    """F-19: 122 KB that unpack to 120 MiB."""
    async with serving(answers_of(Rig())) as door:
        status, answer = await door.post(verb, PACKED, **{"Content-Encoding": encoding})
        assert (status, answer) == (415, {"error": "a body with a Content-Encoding is not taken"})
        assert door.faults == [(verb, "encoded body")]
        await answers_still(door)


async def test_a_body_in_pieces_is_put_together() -> None:
    async with serving(answers_of(Rig())) as door:

        async def pieces() -> Any:
            for at in range(0, len(BODIES["filter"]), 50):
                yield BODIES["filter"][at : at + 50]

        assert await door.post("filter", pieces()) == (200, {"NodeNames": ["n1", "n2"]})


# -- connections that break ----------------------------------------------------------------------------


async def until_called(door: Door, calls: int) -> None:
    async with asyncio.timeout(5):
        while door.calls < calls:  # noqa: ASYNC110 a handler has no event for its end
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("verb", VERBS)
async def test_a_caller_that_hangs_up_within_its_body_is_no_bug(verb: str) -> None:
    rig = Rig()
    async with serving(answers_of(rig)) as door:
        _, writer = await connection_to(door)
        writer.write(head(verb, "Content-Length: 1000") + b'{"Pod":')
        await writer.drain()
        writer.close()
        await until_called(door, 1)
        assert door.faults == [(verb, "incomplete body")]
        await answers_still(door)
    assert door.bugs == []


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        (["Transfer-Encoding: chunked"], b"5\r\n{}\r\nnot a chunk\r\n"),
        (["Content-Encoding: deflate", "Content-Length: 5"], b"hello"),
        (["Content-Encoding: gzip", "Content-Length: 5"], b"hello"),
    ],
    ids=["wrong chunks", "not deflate", "not gzip"],
)
async def test_a_body_that_its_headers_belie_is_no_bug(headers: list[str], sent: bytes) -> None:
    async with serving(answers_of(Rig())) as door:
        reader, writer = await connection_to(door)
        writer.write(head("filter", *headers) + sent)
        answer = await asyncio.wait_for(reader.readline(), 5)
        assert answer.split()[1] in (b"200", b"400", b"415")
        writer.close()
        await answers_still(door)
    assert door.bugs == []
    assert {fault for _, fault in door.faults} <= {"incomplete body", "encoded body"}


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"POST /v1/filter HTTP/1.1\r\nX: " + b"y" * 70_000],
)
async def test_what_is_no_http_is_answered_by_the_protocol(garbage: bytes) -> None:
    async with serving(answers_of(Rig())) as door:
        reader, writer = await connection_to(door)
        writer.write(garbage + b"\r\n\r\n")
        assert (await asyncio.wait_for(reader.readline(), 5)).split()[1] == b"400"
        writer.close()
        await answers_still(door)
    assert door.faults == []


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
async def test_a_list_of_names_that_is_no_utf_8_is_refused(verb: str) -> None:
    """F-21: what is accepted goes back as it came."""
    async with serving(answers_of(Rig())) as door:
        body = BODIES[verb].replace(b'"n1"', b'"n\xff1"')
        assert body != BODIES[verb]
        async with door.client.post(f"/v1/{verb}", data=body) as answer:
            text = await answer.read()
        assert b"\xff" not in text
        assert door.faults == [(verb, "bad body")]
        await answers_still(door)
    assert door.bugs == []
