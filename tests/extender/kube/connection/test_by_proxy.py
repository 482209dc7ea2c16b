"""Requests and watches through a proxy, which a kubeconfig names."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from extender.kube.connection import client as client_module
from extender.kube.connection.api import Expired, MalformedAnswer, Unreachable
from extender.kube.connection.client import ApiClient, connect
from extender.kube.connection.fencing import HeldBack
from tests.extender.kube.connection.test_channels import OK, Server, answering, served
from tests.extender.kube.connection.test_stream import CHUNKED, END, chunk

PODS = "/api/v1/pods"


@asynccontextmanager
async def behind(folder: Path, *answers: bytes) -> AsyncIterator[tuple[Server, ApiClient]]:
    """A client of an API server that only the proxy can find, and the proxy, which gives the answers."""
    async with served(answering(*answers)) as (proxy, target):
        cluster = {"server": "http://api.invalid", "proxy-url": f"http://{target.host}:{target.port}"}
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(
            json.dumps(
                {
                    "current-context": "c",
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "users": [{"name": "u", "user": {"token": "secret"}}],
                }
            )
        )
        async with await connect(kubeconfig=str(kubeconfig)) as client:
            yield proxy, client


async def lines_of(client: ApiClient) -> list[bytes]:
    async with aclosing(client.stream(PODS, {"watch": "true"})) as lines:
        return [line async for line in lines]


async def test_requests_and_watches_go_through_it(tmp_path: Path) -> None:
    answer = CHUNKED + chunk(b"one\ntw") + chunk(b"o\nthree") + END
    async with behind(tmp_path, OK, answer) as (proxy, client):
        assert await client.get(PODS) == b"{}"
        assert await lines_of(client) == [b"one", b"two"]
    asked = [each.decode().partition("\r\n")[0] for each in proxy.requests]
    whole = "GET http://api.invalid/api/v1/pods"
    assert asked == [f"{whole} HTTP/1.1", f"{whole}?watch=true HTTP/1.1"]
    assert all(b"Authorization: Bearer secret\r\n" in each for each in proxy.requests)


async def test_a_refused_watch_raises_the_refusal(tmp_path: Path) -> None:
    refusal = b'{"kind":"Status","code":410,"reason":"Expired"}'
    answer = b"HTTP/1.1 410 Gone\r\nContent-Length: %d\r\n\r\n%b" % (len(refusal), refusal)
    async with behind(tmp_path, answer) as (_, client):
        with pytest.raises(Expired):
            await lines_of(client)


async def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_LINE", 100)
    async with behind(tmp_path, CHUNKED + chunk(b"x" * 101)) as (_, client):
        with pytest.raises(MalformedAnswer, match="more than 100 bytes"):
            await lines_of(client)


async def test_nothing_is_sent_without_the_right_to_send(tmp_path: Path) -> None:
    async with behind(tmp_path, OK) as (_, client):
        with pytest.raises(HeldBack):
            await client.post(PODS, b"{}", may_send=lambda: False)
        assert await client.post(PODS, b"{}", may_send=lambda: True) == b"{}"
        await client.close()
        with pytest.raises(Unreachable, match="the client is closed"):
            await client.get(PODS)
