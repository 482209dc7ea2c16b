"""The page on a listener: who gets it, with which headers, and what others still get from ``/``."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.typedefs import Handler

from extender.http.door import Door
from extender.http.endpoints import Endpoint, guarded_app
from extender.http.page import POLICY, page_shown
from extender.page.files import page_files

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@web.middleware
async def _closed(request: web.Request, handler: Handler) -> web.StreamResponse:
    return web.Response(status=401, text="who are you?")


async def _ready(_request: web.Request) -> web.Response:
    return web.Response(text="ok\n")


def client(*guards: object) -> TestClient[web.Request, web.Application]:
    app = guarded_app([Endpoint("GET", "/readyz", _ready)], Door(), page_shown(), *guards)  # type: ignore[arg-type]
    return TestClient(TestServer(app))


async def test_a_browser_gets_the_page_and_its_files() -> None:
    async with client() as asked:
        for path, each in page_files().items():
            answer = await asked.get(path, headers=HTML)
            assert (answer.status, await answer.read()) == (200, each.body)
            assert answer.headers["Content-Type"] == each.content_type
            assert answer.headers["Content-Security-Policy"] == POLICY
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/plain", ""])
async def test_e7_a_program_still_gets_the_index(accept: str) -> None:
    async with client() as asked:
        answer = await asked.get("/", headers={"Accept": accept})
        assert await answer.text() == "Paddock answers here:\n\nGET  /readyz\n"
        assert answer.headers["Vary"] == "Accept"
        assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'none'"


async def test_files_need_no_login_but_everything_else_does() -> None:
    async with client(_closed) as asked:
        assert (await asked.get("/", headers=HTML)).status == 200
        assert (await asked.get("/page/app.js")).status == 200
        for path in ("/", "/readyz", "/page/", "/page/none.js", "/page/views", "/page/../readyz"):
            assert (await asked.get(path)).status == 401, path
        assert (await asked.get("/readyz", headers=HTML)).status == 401
        assert (await asked.post("/", headers=HTML)).status == 401


@pytest.mark.parametrize(
    "path",
    [
        "/page/%2e%2e/files.py",
        "/page/..%2ffiles.py",
        "/page//app.js",
        "/page/app.js/",
        "/page/libraries.json",
    ],
)
async def test_no_other_file_is_served(path: str) -> None:
    async with client() as asked:
        assert (await asked.get(path, headers=HTML)).status == 404


async def test_a_file_that_is_known_is_not_sent_again() -> None:
    async with client() as asked:
        first = await asked.get("/page/app.js")
        again = await asked.get("/page/app.js", headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status, await again.read()) == (304, b"")
        other = await asked.get("/page/app.js", headers={"If-None-Match": '"another"'})
        assert other.status == 200


def test_the_policy_allows_this_origin_alone() -> None:
    for word in ("unsafe", "http:", "https:", "data:", "*", "blob:"):
        assert word not in POLICY
    for rule in ("default-src 'none'", "script-src 'self'", "connect-src 'self'", "trusted-types 'none'"):
        assert rule in POLICY.split("; ")
