"""A stream yields whole lines, and notices a server that is dead, silent or excessive."""

import asyncio
from contextlib import aclosing

import pytest
from aiohttp import web

from extender.kube.connection import client as client_module
from extender.kube.connection.api import Expired, MalformedAnswer, Unreachable
from extender.kube.connection.client import ApiClient
from tests.extender.fake_api import FakeApi, Request, hang_up
from tests.extender.reflector_bench import until

PODS = "/api/v1/pods"


async def heard(client: ApiClient, count: int, *, idle_timeout: float = 5.0) -> list[bytes]:
    """Watch until ``count`` lines have come or the stream ends."""
    got: list[bytes] = []
    params = {"watch": "true", "resourceVersion": "100"}
    async with aclosing(client.stream(PODS, params, idle_timeout=idle_timeout)) as lines:
        async for line in lines:
            got.append(line)
            if len(got) == count:
                break
    return got


async def test_a_stream_gives_whole_lines_however_they_are_cut(api: FakeApi, client: ApiClient) -> None:
    watch = asyncio.create_task(heard(client, 4))
    await until(lambda: api.watching == 1)
    big = b"x" * 3_000_000
    for piece in (b"on", b"e\ntwo\n\nth", b"ree\n", big, b"\n"):
        api.send(piece)
    assert await watch == [b"one", b"two", b"three", big]
    await until(lambda: api.watching == 0)


async def test_a_line_without_an_end_is_refused(
    api: FakeApi, client: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "MAX_LINE", 100_000)
    watch = asyncio.create_task(heard(client, 1))
    await until(lambda: api.watching == 1)
    api.send(b"x" * 1_000_000)
    with pytest.raises(MalformedAnswer):
        await watch


async def test_an_unfinished_line_is_dropped_at_the_end(api: FakeApi, client: ApiClient) -> None:
    watch = asyncio.create_task(heard(client, 9))
    await until(lambda: api.watching == 1)
    api.send(b"one\ntw")
    api.end_watches()
    assert await watch == [b"one"]


async def test_a_cut_stream_is_unreachable(api: FakeApi, client: ApiClient) -> None:
    watch = asyncio.create_task(heard(client, 9))
    await until(lambda: api.watching == 1)
    api.send(b"one\ntw")
    api.cut()
    with pytest.raises(Unreachable):
        await watch


async def test_a_stream_without_bytes_is_given_up(api: FakeApi, client: ApiClient) -> None:
    api.silent = True
    with pytest.raises(Unreachable, match="Timeout"):
        await heard(client, 1, idle_timeout=0.2)


async def test_a_refused_stream_raises_the_refusal(api: FakeApi, client: ApiClient) -> None:
    api.fail_next(410, watch=True)
    with pytest.raises(Expired):
        await heard(client, 1)

    async def cut(request: Request) -> web.Response:
        hang_up(request)
        return web.Response()

    api.break_next(cut, watch=True, times=5)
    with pytest.raises(Unreachable):
        await heard(client, 1)
