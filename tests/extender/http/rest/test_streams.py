"""Event streams over HTTP: their lines, readers that fall behind, and limits on their number (REST-13)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from extender.configuration.rest_settings import rest_settings_from
from extender.http.door import Door
from extender.http.endpoints import ANY_METHOD, Endpoint, guarded_app
from extender.http.rest import streams
from extender.http.rest.answering import Answering
from extender.http.rest.bodies import Bodies
from extender.http.rest.streams import BEHIND, Streams
from extender.rest.memory.ring import EventRing
from extender.rest.memory.samples import Samples
from extender.rest.model.events import EventRecord, EventResource, EventType
from extender.rest.routes.remembered import Memory, memory_routes
from extender.rest.routes.table import Router
from tests.extender.reflector_bench import until

PATH = "/ws/v1/events/stream"


class Stand:
    """A ring of event records and its streams. ``keys``: service keys."""

    def __init__(self, **keys: str) -> None:
        self.ring = EventRing("an-id")
        self.streams = Streams(self.ring, lambda: rest_settings_from(keys))
        routes = memory_routes(Memory(Samples(started=0.0), lambda: self.ring, lambda: None))
        answering = Answering(Router(routes), Bodies(int), self.streams, lambda *_: None)
        app = guarded_app((Endpoint(ANY_METHOD, "/ws/v1/{tail:.*}", answering.handle),), Door())
        self.client: TestClient = TestClient(TestServer(app))  # type: ignore[type-arg]
        self._added = 0

    def add(self, count: int, *, message: str = "") -> None:
        """Add records at once, before any stream is served."""
        for _ in range(count):
            record = EventRecord(
                type=EventType.REQUEST,
                object_id=f"o{self._added}",
                message=message,
                resource=EventResource(),
            )
            self.ring.add(record)
            self._added += 1

    @asynccontextmanager
    async def following(self, query: str = "", **headers: str) -> AsyncIterator[aiohttp.StreamReader]:
        """The lines of a stream after its first one, which names the process."""
        async with self.client.get(f"{PATH}{query}", headers=headers) as response:
            assert json.loads(await response.content.readline()) == {"InstanceUUID": "an-id"}
            yield response.content


@asynccontextmanager
async def opened(**keys: str) -> AsyncIterator[Stand]:
    stand = Stand(**keys)
    async with stand.client, asyncio.timeout(30):
        yield stand


async def lines(reader: aiohttp.StreamReader, count: int) -> list[Any]:
    return [json.loads(await reader.readline()) for _ in range(count)]


@pytest.mark.rule("REST-13")
async def test_nothing_is_lost_or_doubled_between_past_and_present() -> None:
    async with opened() as stand:
        stand.add(10)
        async with stand.following("?count=3") as reader:
            stand.add(2)
            await asyncio.sleep(0)
            stand.add(BEHIND)
            found = await lines(reader, 5 + BEHIND)
    assert [each["objectID"] for each in found] == [f"o{at}" for at in range(7, 12 + BEHIND)]


@pytest.mark.rule("REST-13")
async def test_a_reader_that_is_too_far_behind_is_cut_with_the_reason() -> None:
    async with opened() as stand, stand.following() as reader:
        stand.add(BEHIND + 1)
        last = json.loads((await reader.read()).splitlines()[-1])
        assert last == {
            "status_code": 200,
            "message": "Event consumer is too slow",
            "description": "Event consumer is too slow",
        }
        await until(lambda: not stand.streams.open_now())


@pytest.mark.rule("REST-13")
async def test_a_reader_that_takes_no_write_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "WRITE_WITHIN", 0.1)
    async with opened() as stand:
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.client.port, limit=2**10)
        writer.write(f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readuntil(b"an-id")
        assert [each.name for each in stand.streams.open_now()] == ["localhost"]
        async with asyncio.timeout(20):
            while stand.streams.open_now():
                stand.add(50, message="x" * 100_000)
                await asyncio.sleep(0)
        writer.close()


@pytest.mark.rule("REST-13")
@pytest.mark.parametrize(
    ("key", "host", "status"),
    [
        ("event.maxStreams", "other", 503),
        ("event.maxStreamsPerHost", "first", 503),
        ("event.maxStreamsPerHost", "other", 200),
    ],
)
async def test_streams_are_counted_in_all_and_by_host(key: str, host: str, status: int) -> None:
    async with (
        opened(**{key: "1"}) as stand,
        stand.following(Host="first"),
        stand.client.get(PATH, headers={"Host": host}) as response,
    ):
        assert response.status == status
        if status == 503:
            assert (await response.json())["message"] == "Too many streaming connections"
