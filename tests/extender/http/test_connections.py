"""Connections that never send a complete request, and bodies that are too slow or too many (F-19)."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
import uvloop

from extender.http import intake
from extender.http.access.guarding import Neighbours, loopback_guard
from extender.http.connections import SLOW_HEAD, TOO_MANY, Connections
from extender.http.door import Door as Guards
from extender.http.endpoints import guarded_app
from extender.http.intake import SMALL, Intake
from extender.http.server import Address, listen
from extender.http.verbs.listening import MOST_NAMES
from extender.rest.routes.served import VALIDATE
from tests.extender.http.rest.test_answering import validating
from tests.extender.http.test_intake import MIB, PACKED, connection_to, head, node_list
from tests.extender.rigs import BODIES, VERBS, Door, Rig, answers_of, answers_still, changed, serving

HALF = b"POST /v1/filter HTTP/1.1\r\nHost: local"


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    """Return everything that the server sends before it closes the connection."""
    try:
        return await asyncio.wait_for(reader.read(), 5)
    except ConnectionError:
        return b""


async def until(condition: Any) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 what is waited for has no event
            await asyncio.sleep(0.005)


# -- heads -----------------------------------------------------------------------------------------------


async def test_a_head_that_does_not_end_is_cut() -> None:
    closed: list[str] = []
    guards = Guards(Connections(head_within=0.05, closed=closed.append))
    async with serving(answers_of(Rig()), guards=guards) as door:
        for _ in range(5):
            reader, writer = await connection_to(door)
            writer.write(HALF)
            assert await until_closed(reader) == b""
            writer.close()
        assert closed == [SLOW_HEAD] * 5
        assert len(guards.connections) == 0
        await answers_still(door)


def test_heads_are_cut_on_the_loop_of_production_too() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(test_a_head_that_does_not_end_is_cut(), 10))


async def test_a_head_in_drops_is_cut_all_the_same() -> None:
    closed: list[str] = []
    guards = Guards(Connections(head_within=0.05, closed=closed.append))
    async with serving(answers_of(Rig()), guards=guards) as door:
        reader, writer = await connection_to(door)
        writer.write(HALF)
        while not closed:
            writer.write(b"x")
            await asyncio.sleep(0.001)
        assert closed == [SLOW_HEAD]
        assert await until_closed(reader) == b""
        writer.close()


async def test_a_connection_stays_open_between_calls() -> None:
    """kube-scheduler keeps its connections for 90 s."""
    guards = Guards(Connections(head_within=0.02))
    async with serving(answers_of(Rig()), guards=guards) as door:
        reader, writer = await connection_to(door)
        call = head("filter", f"Content-Length: {len(BODIES['filter'])}") + BODIES["filter"]
        for _ in range(3):
            writer.write(call)
            assert (await asyncio.wait_for(reader.readuntil(b"}"), 5)).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.06)
        assert len(guards.connections) == 1
        writer.close()


async def test_half_a_head_behind_a_whole_call_is_cut_too() -> None:
    closed: list[str] = []
    guards = Guards(Connections(head_within=0.05, closed=closed.append))
    released = asyncio.Event()

    async def slowly(_: bytes) -> bytes:
        await released.wait()
        return b"{}"

    async with serving({"filter": slowly}, guards=guards) as door:
        reader, writer = await connection_to(door)
        writer.write(head("filter", "Content-Length: 2") + b"{}")
        await until(lambda: len(guards.connections._answered) == 1)
        writer.write(HALF)
        await asyncio.sleep(0.1)
        assert closed == []
        released.set()
        assert (await asyncio.wait_for(reader.readuntil(b"}"), 5)).startswith(b"HTTP/1.1 200")
        assert await until_closed(reader) == b""
        assert closed == [SLOW_HEAD]
        writer.close()


# -- how many ------------------------------------------------------------------------------------------------


async def test_of_too_many_connections_the_oldest_that_says_nothing_goes() -> None:
    closed: list[str] = []
    guards = Guards(Connections(most=3, closed=closed.append))
    waits = asyncio.Event()

    async def slowly(_: bytes) -> bytes:
        await waits.wait()
        return b"{}"

    async with serving({"bind": slowly}, guards=guards) as door:
        answered, call = await connection_to(door)
        call.write(head("bind", "Content-Length: 2") + b"{}")
        await until(lambda: len(guards.connections._answered) == 1)
        half, half_writer = await connection_to(door)
        half_writer.write(HALF)
        await until(lambda: len(guards.connections._in_head) == 1)
        _idle, idle_writer = await connection_to(door)
        _new, new_writer = await connection_to(door)
        assert await until_closed(half) == b""
        assert closed == [TOO_MANY]
        waits.set()
        assert (await asyncio.wait_for(answered.readuntil(b"}"), 5)).startswith(b"HTTP/1.1 200")
        for writer in (call, half_writer, idle_writer, new_writer):
            writer.close()


async def test_a_thousand_incomplete_calls_do_not_block_a_complete_one() -> None:
    guards = Guards(Connections(most=100))
    async with serving(answers_of(Rig()), guards=guards) as door:
        writers = []
        for _ in range(300):
            _, writer = await connection_to(door)
            writer.write(HALF)
            writers.append(writer)
        await until(lambda: len(guards.connections) == 100)
        await answers_still(door)
        for writer in writers:
            writer.close()


# -- bodies --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
async def test_a_body_that_does_not_arrive_is_refused(verb: str) -> None:
    guards = Guards(intake=Intake(within=0.05))
    async with serving(answers_of(Rig()), guards=guards) as door:
        reader, writer = await connection_to(door)
        writer.write(head(verb, "Content-Length: 1000") + b'{"Pod":')
        answer = await asyncio.wait_for(reader.readuntil(b"}"), 5)
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"did not arrive within 0.05 s" in answer
        assert door.faults == [(verb, "slow body")]
        writer.close()
        await answers_still(door)


async def test_a_long_list_of_names_is_refused_where_whole_nodes_are_taken() -> None:
    names = changed(lambda body: body.update(NodeNames=["n" * 250] * (MOST_NAMES // 250)))
    async with serving(answers_of(Rig())) as door:
        _, answer = await door.post("filter", io.BytesIO(names))
        assert answer == {"Error": f"body is above the limit of {MOST_NAMES} bytes"}
        _, answer = await door.post("filter", io.BytesIO(node_list(1_700, 10_000)))
        assert len(answer["Nodes"]["items"]) == 1_700
        assert door.faults == [("filter", "too large")]


@asynccontextmanager
async def large_one_under_way(door: Door, guards: Guards) -> AsyncIterator[asyncio.StreamWriter]:
    _, writer = await connection_to(door)
    writer.write(head("filter", f"Content-Length: {4 * MIB}") + b" " * 2 * SMALL)
    await until(guards.intake._large.locked)
    try:
        yield writer
    finally:
        writer.close()


async def test_large_bodies_are_read_one_at_a_time() -> None:
    guards = Guards()
    large = b" " * MIB + BODIES["filter"]
    async with serving(answers_of(Rig()), guards=guards) as door:
        async with large_one_under_way(door, guards):
            waits = asyncio.create_task(door.post("filter", io.BytesIO(large)))
            await until(lambda: guards.intake._waiting == 1)
            await answers_still(door)
            assert not waits.done()
        assert await waits == (200, {"NodeNames": ["n1", "n2"]})


async def test_of_many_large_bodies_some_are_refused_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MOST_WAITING", 1)
    guards = Guards(intake=Intake(within=0.3))
    large = b" " * MIB + BODIES["prioritize"]
    async with serving(answers_of(Rig()), guards=guards) as door, large_one_under_way(door, guards):
        waits = asyncio.create_task(door.post("prioritize", io.BytesIO(large)))
        await until(lambda: guards.intake._waiting == 1)
        status, answer = await door.post("prioritize", io.BytesIO(large))
        assert (status, answer) == (503, {"error": "too many large bodies are being read"})
        # The body that is being read stalls, and the next one follows.
        assert await waits == (200, [])
        await until(lambda: ("filter", "slow body") in door.faults)


async def test_small_bodies_take_no_more_memory_than_they_may() -> None:
    guards = Guards(intake=Intake(most_small=100_000))
    async with serving(answers_of(Rig()), guards=guards) as door:
        _, writer = await connection_to(door)
        writer.write(head("filter", "Content-Length: 90000") + b" " * 80_000)
        await until(lambda: guards.intake._held == 80_000)
        reader, other = await connection_to(door)
        other.write(head("filter", "Content-Length: 90000") + b" " * 50_000)
        answer = await asyncio.wait_for(reader.readuntil(b"}"), 5)
        assert answer.endswith(b'{"Error":"too many bodies are being read"}')
        other.close()
        writer.close()
        await until(lambda: guards.intake._held == 0)
        await answers_still(door)


# -- the admin port ------------------------------------------------------------------------------------------


async def test_the_admin_port_has_the_same_guards() -> None:
    closed: list[str] = []
    guards = Guards(Connections(head_within=0.05, closed=closed.append), Intake(within=0.2))
    app = guarded_app(validating(), guards, loopback_guard(Neighbours()))
    listener = await listen(app, Address("127.0.0.1", 0), shutdown=0.2)
    url = f"http://127.0.0.1:{listener.addresses[0][1]}"
    try:
        async with aiohttp.ClientSession(url) as client:
            for body, headers, status in (
                (b"partitions: []", {}, 200),
                (PACKED, {"Content-Encoding": "deflate"}, 415),
                (b" " * 18 * MIB, {}, 400),
            ):
                payload = io.BytesIO(body)
                async with client.post(VALIDATE, data=payload, headers=headers) as response:
                    assert response.status == status
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.addresses[0][1])
            line = f"POST {VALIDATE} HTTP/1.1".encode()
            writer.write(line + b"\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
            assert (await asyncio.wait_for(reader.readline(), 5)).split()[1] == b"408"
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.addresses[0][1])
            writer.write(b"GET /livez HTTP/1.1\r\n")
            assert await until_closed(reader) == b""
            writer.close()
            async with client.post(VALIDATE, data=b"partitions: []") as response:
                assert response.status == 200
    finally:
        await listener.cleanup()
    assert closed == [SLOW_HEAD]
