"""Calls and watches of the suite outlive dropped connections, and miss no event."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from e2e.cluster import reconnecting
from e2e.cluster.client import Cluster
from e2e.cluster.reconnecting import persistent
from e2e.cluster.watching import watch
from e2e.programs.control_plane import ControlPlane
from e2e.programs.processes import free_port

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
REFUSED = aiohttp.ConnectionTimeoutError("slow")
LOST = aiohttp.ServerDisconnectedError("lost")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "PAUSE", 0.0)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A server on loopback that answers every request by ``handler``."""
    runner = web.ServerRunner(web.Server(handler))
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def cluster_of(url: str) -> AsyncIterator[Cluster]:
    control_plane = ControlPlane()
    control_plane.url = url
    async with Cluster(control_plane) as cluster:
        yield cluster
    await control_plane.stop()


def failing(*errors: Exception) -> Callable[[], Awaitable[str]]:
    left = list(errors)

    async def call() -> str:
        if left:
            raise left.pop(0)
        return "answered"

    return call


async def test_a_request_that_was_not_sent_is_sent_again() -> None:
    assert await persistent(failing(REFUSED, REFUSED), repeatable=False) == "answered"


async def test_a_request_that_may_have_been_taken_is_only_repeated_if_that_changes_nothing() -> None:
    assert await persistent(failing(LOST, TimeoutError()), repeatable=True) == "answered"
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await persistent(failing(LOST), repeatable=False)


async def test_repetition_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "DEADLINE", 0.0)
    with pytest.raises(aiohttp.ConnectionTimeoutError):
        await persistent(failing(REFUSED, REFUSED), repeatable=True)


async def test_an_object_whose_answer_was_lost_is_not_created_twice() -> None:
    made: list[str] = []

    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST":
            made.append((await request.json())["metadata"]["name"])
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        return web.json_response({"kind": "Pod", "metadata": {"name": "p"}})

    async with serving(handler) as url, cluster_of(url) as cluster:
        found = await cluster.create({"kind": "Pod", "metadata": {"name": "p", "namespace": "x"}})
    assert (made, found["kind"]) == (["p"], "Pod")


async def test_a_watch_goes_on_after_the_last_event_that_it_saw() -> None:
    asked: list[str] = []

    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"items": [], "metadata": {"resourceVersion": "1"}})
        asked.append(version := request.query["resourceVersion"])
        answer = web.StreamResponse()
        await answer.prepare(request)
        if len(asked) != 2:
            event = {"type": "ADDED", "object": {"metadata": {"resourceVersion": f"{int(version) + 1}"}}}
            await answer.write(json.dumps(event).encode() + b'\n{"type": "ADD')
        assert request.transport is not None
        request.transport.close()
        return answer

    seen: list[str] = []
    done = asyncio.Event()

    def on_event(_kind: str, thing: dict[str, Any]) -> None:
        seen.append(thing["metadata"]["resourceVersion"])
        if len(seen) == 2:
            done.set()

    async with serving(handler) as url, aiohttp.ClientSession(url) as session:
        task = asyncio.create_task(watch(session, "/api/v1/pods", lambda _: None, on_event))
        await asyncio.wait_for(done.wait(), 30)
        task.cancel()
    assert (seen, asked[:3]) == (["2", "3"], ["1", "2", "2"])
