"""Endpoints of a listener: all of the table, below its own path and behind its own guards."""

from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.typedefs import Handler
from yarl import URL

from extender.http.access.guarding import SECURITY_HEADERS
from extender.http.door import Door
from extender.http.endpoints import ANY_METHOD, Endpoint, guarded_app, inner_path


async def _says_its_path(request: web.Request) -> web.Response:
    return web.Response(text=f"{request.method} {inner_path(request)}")


TABLE = (Endpoint("GET", "/one", _says_its_path), Endpoint(ANY_METHOD, "/ws/{tail:.*}", _says_its_path))


def guard_for(name: str) -> Any:
    """A guard that lets only requests through whose header names it, and says so otherwise."""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        if name not in request.headers.get("Has", ""):
            return web.Response(status=403, text=name)
        return await handler(request)

    return guarded


async def asked(app: web.Application, method: str, path: str, **headers: str) -> tuple[int, str, Any]:
    async with (
        TestClient(TestServer(app)) as client,
        client.request(method, URL(path, encoded=True), headers=headers) as response,
    ):
        return response.status, await response.text(), response.headers


@pytest.mark.parametrize("prefix", ["", "/apis/paddock.dev/v1alpha1"])
@pytest.mark.parametrize(
    "path", ["/one", "/ws/v1/partition/default/queue/root.a%252Bb", "/ws/v1/a%2Fb//", "/ws/v1/x%"]
)
async def test_a_handler_reads_the_same_path_on_every_listener(prefix: str, path: str) -> None:
    """Still escaped, since a handler of YuniKorn's paths decodes a name twice (REST-22)."""
    app = guarded_app(TABLE, Door(), prefix=prefix)
    assert (await asked(app, "GET", f"{prefix}{path}?subtree"))[:2] == (200, f"GET {path}")


async def test_a_listener_serves_nothing_beside_its_own_path() -> None:
    app = guarded_app(TABLE, Door(), prefix="/apis/paddock.dev/v1alpha1")
    assert (await asked(app, "GET", "/one"))[0] == 404


async def test_every_guard_must_let_a_request_through_and_the_first_speaks_first() -> None:
    app = guarded_app(TABLE, Door(), guard_for("outer"), guard_for("inner"))
    for has, answer in (("", "outer"), ("inner", "outer"), ("outer", "inner"), ("outer inner", "GET /one")):
        assert (await asked(app, "GET", "/one", Has=has))[1] == answer
    # A path that there is not is no secret to whom no guard lets through.
    assert (await asked(app, "GET", "/none", Has="outer"))[:2] == (403, "inner")


async def test_any_method_reaches_a_handler_that_judges_methods_itself() -> None:
    app = guarded_app(TABLE, Door())
    assert (await asked(app, "POST", "/ws/v1/metrics"))[1] == "POST /ws/v1/metrics"
    assert (await asked(app, "POST", "/one"))[0] == 405


async def test_only_what_the_leader_alone_answers_is_passed_on() -> None:
    def passing(_own: Handler) -> Handler:
        async def passed(_request: web.Request) -> web.Response:
            return web.Response(text="passed on")

        return passed

    table = (*TABLE, Endpoint("GET", "/two", _says_its_path, by_leader=True))
    app = guarded_app(table, Door(), guard_for("login"), passing=passing)
    for path, answer in (("/two", "passed on"), ("/one", "GET /one")):
        assert (await asked(app, "GET", path, Has="login"))[1] == answer
        assert (await asked(app, "GET", path))[:2] == (403, "login")


async def test_every_answer_has_the_headers() -> None:
    for app, path in (
        (guarded_app(TABLE, Door()), "/none"),
        (guarded_app(TABLE, Door(), guard_for("x")), "/"),
    ):
        headers = (await asked(app, "GET", path))[2]
        assert {name: headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
