"""Cross-origin headers: for every origin where access is open, else for listed ones alone (REST-1)."""

from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from extender.http.access.cors import cors_guard
from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from tests.extender.http.test_endpoints import guard_for

UI, ELSEWHERE = "https://ui.example:8443", "https://elsewhere.example"


async def _answer(_request: web.Request) -> web.Response:
    return web.json_response({})


async def _answer_in_pieces(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Vary": "Accept-Encoding"})
    await response.prepare(request)
    await response.write(b"{}")
    return response


TABLE = (
    Endpoint("GET", "/ws/v1/partitions", _answer),
    Endpoint("GET", "/ws/v1/events/stream", _answer_in_pieces),
    Endpoint("POST", "/ws/v1/validate-conf", _answer),
    Endpoint("GET", "/ws/v1/metrics", _answer),
)


async def asked(
    path: str, *, everyone: bool, method: str = "GET", guards: Any = (), **headers: str
) -> tuple[int, dict[str, str]]:
    app = guarded_app(TABLE, Door(), cors_guard(lambda: {UI}, everyone=everyone), *guards)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        TestClient(TestServer(app)) as client,
        client.request(method, path, headers=names) as response,
    ):
        found = {
            name.lower(): value
            for name, value in response.headers.items()
            if name.lower().startswith("access-control") or name == "Vary"
        }
        return response.status, found


async def test_with_open_access_every_answer_has_the_headers_of_yunikorn() -> None:
    common = {
        "access-control-allow-origin": "*",
        "access-control-allow-headers": "X-Requested-With,Content-Type,Accept,Origin",
    }
    reading = common | {"access-control-allow-methods": "GET, OPTIONS"}
    assert await asked("/ws/v1/partitions", everyone=True) == (200, reading)
    posting = common | {"access-control-allow-methods": "OPTIONS, POST"}
    assert await asked("/ws/v1/validate-conf", everyone=True, method="POST") == (200, posting)


async def test_metrics_carry_none_of_them() -> None:
    assert await asked("/ws/v1/metrics", everyone=True) == (200, {})


@pytest.mark.parametrize("headers", [{}, {"Origin": ELSEWHERE}, {"Origin": "null"}])
async def test_an_origin_that_is_not_listed_gets_none(headers: dict[str, str]) -> None:
    assert await asked("/ws/v1/partitions", everyone=False, **headers) == (200, {})


async def test_a_listed_origin_may_read_and_send_a_token() -> None:
    status, found = await asked("/ws/v1/partitions", everyone=False, Origin=UI)
    assert (status, found["access-control-allow-origin"], found["Vary".lower()]) == (200, UI, "Origin")
    assert "Authorization" in found["access-control-allow-headers"]


async def test_the_question_before_a_request_needs_no_token() -> None:
    """A browser sends none with it; an origin that is not listed gets no answer to it."""
    question = {"Origin": UI, "Access_Control_Request_Method": "GET"}
    path, login = "/ws/v1/partitions", (guard_for("token"),)
    status, found = await asked(path, everyone=False, method="OPTIONS", guards=login, **question)
    assert (status, found["access-control-allow-origin"]) == (204, UI)
    question["Origin"] = ELSEWHERE
    assert await asked(path, everyone=False, method="OPTIONS", guards=login, **question) == (403, {})


@pytest.mark.parametrize("path", ["/ws/v1/partitions", "/ws/v1/events/stream"])
async def test_an_answer_that_is_sent_in_pieces_has_them_too(path: str) -> None:
    assert (await asked(path, everyone=True))[1]["access-control-allow-origin"] == "*"
    assert (await asked(path, everyone=False, Origin=UI))[1]["access-control-allow-origin"] == UI
    assert (await asked(path, everyone=False, Origin=ELSEWHERE))[1].keys() <= {"vary"}
