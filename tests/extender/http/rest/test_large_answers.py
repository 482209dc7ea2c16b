"""Large answers over HTTP: two at once, and clients that read slowly or leave half-way (REST-45)."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
from aiohttp.test_utils import TestClient, TestServer

from extender.configuration.rest_settings import rest_settings_from
from extender.http.door import Door
from extender.http.endpoints import ANY_METHOD, Endpoint, guarded_app
from extender.http.rest import answering
from extender.http.rest.answering import Answering
from extender.http.rest.bodies import PACKED_AT_ONCE, SMALL, Bodies, packing
from extender.http.rest.streams import Streams
from extender.rest.memory.ring import EventRing
from extender.rest.routes.reply import Big, not_found
from extender.rest.routes.table import Route, Router
from tests.extender.reflector_bench import until

HUGE = 30 * 2**20
"""Bytes that no buffer of a connection takes."""


class Stand:
    """Routes with large answers. ``made``: how often each was begun; ``version``: of what they show."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.held = asyncio.Event()
        self.version = 0
        self.bugs: list[str] = []
        routes = (
            self._route("/ws/v1/held", self._held),
            self._route("/ws/v1/huge", lambda: iter([b"x" * 2**16] * (HUGE // 2**16))),
            self._route("/ws/v1/large", lambda: iter([b"y" * 2 * SMALL, b"z"])),
            self._route("/ws/v1/small", lambda: iter([b"y" * 2000, b"z"])),
            self._route("/ws/v1/deleted", self._deleted),
            self._route("/ws/v1/bug", self._bug),
            self._route("/ws/v1/dump", self._held, alone=True),
        )
        streams = Streams(EventRing("an-id"), lambda: rest_settings_from({}))
        bodies = Bodies(lambda: self.version, wait=0.05)
        self.answering = Answering(Router(routes), bodies, streams, lambda path, *_: self.bugs.append(path))
        self.client: TestClient = TestClient(  # type: ignore[type-arg]
            TestServer(
                guarded_app((Endpoint(ANY_METHOD, "/ws/v1/{tail:.*}", self.answering.handle),), Door())
            ),
            auto_decompress=False,
        )

    def _route(self, path: str, steps: Callable[[], Iterator[bytes]], *, alone: bool = False) -> Route:
        def made() -> Iterator[bytes]:
            self.made.append(path)
            return steps()

        return Route(path, lambda _ask, _names: Big(made, alone))

    def _held(self) -> Iterator[bytes]:
        while not self.held.is_set():
            yield b""
        yield b"{}\n"

    def _deleted(self) -> Iterator[bytes]:
        yield b""
        raise not_found("Queue")

    def _bug(self) -> Iterator[bytes]:
        yield b""
        raise ZeroDivisionError

    async def get(self, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.get(f"/ws/v1/{path}", headers=named) as response:
            return response.status, await response.read(), dict(response.headers)

    async def begin(self, path: str) -> asyncio.StreamWriter:
        """Send a request over a connection of its own, and read nothing yet."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.client.port, limit=2**10)
        writer.write(f"GET /ws/v1/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await writer.drain()
        await reader.readexactly(1)
        return writer


@asynccontextmanager
async def opened() -> AsyncIterator[Stand]:
    stand = Stand()
    async with stand.client:
        yield stand


@pytest.mark.rule("REST-2", "REST-45")
@pytest.mark.parametrize(("path", "at_once"), [("held", 2), ("dump", 1)])
async def test_beyond_what_is_made_at_once_a_request_waits_and_is_refused(path: str, at_once: int) -> None:
    """REST-14: one dump at a time."""
    async with opened() as stand:
        first = [asyncio.ensure_future(stand.get(path)) for _ in range(at_once)]
        await until(lambda: len(stand.made) == at_once)
        status, body, headers = await stand.get(path)
        assert (status, headers["Retry-After"]) == (429, "5")
        assert json.loads(body) == {
            "status_code": 429,
            "message": "Too many large answers are being made",
            "description": "Too many large answers are being made",
        }
        stand.held.set()
        assert [(await each)[:2] for each in first] == [(200, b"{}\n")] * at_once


async def test_a_request_whose_turn_comes_in_time_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as stand:
        monkeypatch.setattr(stand.answering._bodies, "_wait", 10.0)
        waiting = [asyncio.ensure_future(stand.get("held")) for _ in range(5)]
        await until(lambda: len(stand.made) == 2)
        stand.held.set()
        assert [(await each)[0] for each in waiting] == [200] * 5


@pytest.mark.rule("REST-45")
async def test_a_slow_reader_holds_its_place_until_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "SENT_AT_ONCE", 1)
    monkeypatch.setattr(answering, "WRITE_WITHIN", 0.2)
    async with opened() as stand:
        writer = await stand.begin("huge")
        assert (await stand.get("large"))[0] == 429
        assert (await stand.get("small"))[0] == 200
        await until_served(stand)
        writer.close()
        assert stand.bugs == []


@pytest.mark.rule("REST-45")
async def test_a_client_that_leaves_half_way_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "SENT_AT_ONCE", 1)
    async with opened() as stand:
        writer = await stand.begin("huge")
        assert (await stand.get("large"))[0] == 429
        writer.transport.abort()
        await until_served(stand)
        assert stand.bugs == []


async def until_served(stand: Stand) -> None:
    """A place is free again when the server has noticed."""
    async with asyncio.timeout(20):
        status = 0
        while status != 200:
            status, _, _ = await stand.get("large")


@pytest.mark.rule("REST-23", "REST-45")
async def test_a_large_body_is_used_again_and_a_small_one_made_anew() -> None:
    async with opened() as stand:
        for path, times in (("large", 1), ("small", 3)):
            stand.made.clear()
            bodies = [await stand.get(path, Accept_Encoding="identity") for _ in range(2)]
            packed = await stand.get(path, Accept_Encoding="gzip")
            assert packed[2]["Content-Encoding"] == "gzip"
            assert {gzip.decompress(packed[1]), *(body for _, body, _ in bodies)} == {bodies[0][1]}
            assert len(stand.made) == times
        stand.version += 1
        stand.made.clear()
        await stand.get("large")
        assert len(stand.made) == 1


@pytest.mark.rule("REST-2")
async def test_faults_while_an_answer_is_made() -> None:
    async with opened() as stand:
        for path, status, message in (("deleted", 404, "Queue not found"), ("bug", 500, "Internal error")):
            found, body, headers = await stand.get(path)
            assert found == status
            assert json.loads(body) == {"status_code": status, "message": message, "description": message}
            assert headers["Content-Type"] == "application/json; charset=UTF-8"
        assert stand.bugs == ["/ws/v1/bug"]


@pytest.mark.rule("REST-45")
async def test_a_stale_body_is_released_before_the_next_one_is_made() -> None:
    """So memory never has both. A reader that has begun has its own list."""
    version, stored = 0, []
    bodies = Bodies(lambda: version)

    def steps() -> Iterator[bytes]:
        stored.append(len(bodies._stored))
        yield b"y" * 2 * SMALL

    first = await bodies.body_of("path", Big(steps), packed=False)
    reading = first.pieces[:]
    version += 1
    second = await bodies.body_of("path", Big(steps), packed=False)
    await until(lambda: not first.pieces)
    assert (stored, reading, second.pieces) == ([0, 0], [b"y" * 2 * SMALL], reading)
    bodies.forget()
    await until(lambda: not second.pieces)


@pytest.mark.rule("REST-45")
async def test_a_reader_gets_its_body_to_the_end_though_it_is_stale() -> None:
    async with opened() as stand:
        url = stand.client.make_url("/ws/v1/huge")
        async with stand.client.session.get(url, headers={"Accept-Encoding": "identity"}) as response:
            stand.version += 1
            assert (await stand.get("huge", Accept_Encoding="identity"))[1] == b"x" * HUGE
            assert await response.read() == b"x" * HUGE
        assert stand.made == ["/ws/v1/huge"] * 2


@pytest.mark.rule("REST-23", "REST-45")
def test_a_step_compresses_few_bytes() -> None:
    parts = list(packing([b"x" * 2**20]))
    assert len(parts) == 2**20 // PACKED_AT_ONCE + 1
    assert gzip.decompress(b"".join(parts)) == b"x" * 2**20
