"""Pages of other sites read nothing from loopback, and every answer forbids browsers what it can."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from extender.http.access.guarding import SECURITY_HEADERS, Neighbours, add_headers, loopback_guard
from extender.http.door import DOOR, Door, guard
from extender.http.server import Address, Listener, listen

SECRET = "who waits for what"


class Loopback:
    """A guarded listener. ``hosts``, ``origins``: its neighbours; ``read``: bodies that it took."""

    def __init__(self) -> None:
        self.hosts: set[str] = set()
        self.origins: set[str] = set()
        self.read: list[str] = []
        self.listener: Listener | None = None

    async def start(self) -> None:
        door = Door()
        neighbours = Neighbours(lambda: self.hosts, lambda: self.origins)
        app = web.Application(middlewares=[guard(door), loopback_guard(neighbours)])
        app.on_response_prepare.append(add_headers)
        app[DOOR] = door

        async def show(_: web.Request) -> web.Response:
            return web.Response(text=SECRET)

        async def take(request: web.Request) -> web.Response:
            self.read.append(await request.text())
            return web.Response(text=SECRET)

        app.router.add_get("/shown", show)
        app.router.add_post("/taken", take)
        self.listener = await listen(app, Address("127.0.0.1", 0), shutdown=0.2)

    async def ask(self, first: str, *headers: str, body: str = "") -> tuple[int, dict[str, str], str]:
        """Status, headers in small letters and body of the answer to a request written by hand."""
        assert self.listener is not None
        reader, writer = await asyncio.open_connection(*self.listener.addresses[0])
        lines = [f"{first} HTTP/1.1", *headers, f"Content-Length: {len(body)}", "Connection: close", "", body]
        writer.write("\r\n".join(lines).encode("utf-8", "surrogateescape"))
        answer = (await asyncio.wait_for(reader.read(), 5)).decode()
        writer.close()
        head, _, text = answer.partition("\r\n\r\n")
        status, *fields = head.split("\r\n")
        pairs = (field.partition(": ") for field in fields)
        return int(status.split()[1]), {name.lower(): value for name, _, value in pairs}, text

    async def status(self, first: str, *headers: str, body: str = "") -> int:
        """The status; what is refused says nothing."""
        status, _, text = await self.ask(first, *headers, body=body)
        assert (SECRET in text) == (status == 200)
        return status


@pytest.fixture
async def loopback() -> AsyncIterator[Loopback]:
    made = Loopback()
    await made.start()
    yield made
    assert made.listener is not None
    await made.listener.cleanup()


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:10291", "LOCALHOST.", "127.0.0.1:1", "127.0.0.2", "[::1]:10291"]
)
async def test_loopback_is_answered_by_any_of_its_names(loopback: Loopback, host: str) -> None:
    assert await loopback.status("GET /shown", f"Host: {host}") == 200


@pytest.mark.parametrize(
    "hosts",
    [
        ["Host: evil.example"],
        ["Host: evil.example:10291"],
        ["Host: localhost.evil.example"],
        ["Host: evil.localhost"],
        ["Host: 0.0.0.0"],
        ["Host: 10.0.0.1:10291"],
        ["Host: localhost@evil.example"],
        ["Host: localhost, evil.example"],
        ["Host: "],
        ["Host: \udcff"],
        ["Host: localhost", "Host: evil.example"],
        ["X-Forwarded-Host: localhost", "Host: evil.example"],
        ['Forwarded: host="localhost"', "Host: evil.example"],
    ],
)
async def test_another_name_of_this_host_is_not_answered(loopback: Loopback, hosts: list[str]) -> None:
    """DNS rebinding: a page's own name leads here, and the browser says that name."""
    assert await loopback.status("GET /shown", *hosts) in (400, 403)
    assert await loopback.status("POST /taken", *hosts, body="x") in (400, 403)
    assert loopback.read == []


async def test_a_request_without_a_host_is_not_answered(loopback: Loopback) -> None:
    assert await loopback.status("GET /shown") == 400


async def test_a_host_in_the_target_does_not_replace_the_header(loopback: Loopback) -> None:
    assert await loopback.status("GET http://evil.example/shown", "Host: localhost") == 403
    assert await loopback.status("GET http://localhost/shown", "Host: evil.example") == 403


async def test_a_listed_name_is_answered_as_soon_as_it_is_listed(loopback: Loopback) -> None:
    asked = "GET /shown", "Host: Paddock.example:8080"
    assert await loopback.status(*asked) == 403
    loopback.hosts.add("paddock.example")
    assert await loopback.status(*asked) == 200
    loopback.hosts.clear()
    assert await loopback.status(*asked) == 403


# -- other sites ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        ["Origin: https://evil.example"],
        ["Origin: null"],
        ["Origin: "],
        ["Origin: http://localhost:8080"],
        ["Origin: http://localhost"],
        ["Origin: http://localhost:10291.evil.example"],
        ["Origin: http://user@localhost:10291"],
        ["Origin: ftp://localhost:10291"],
        ["Origin: http://localhost:10291", "Origin: https://evil.example"],
        ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-site"],
        ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"],
        ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"],
    ],
)
async def test_a_page_of_another_site_reads_and_sends_nothing(loopback: Loopback, headers: list[str]) -> None:
    host = "Host: localhost:10291"
    assert await loopback.status("GET /shown", host, *headers) == 403
    assert await loopback.status("POST /taken", host, *headers, body="x") == 403
    assert loopback.read == []


async def test_a_form_of_another_site_is_refused_although_it_navigates(loopback: Loopback) -> None:
    """Browsers send such a form without asking first; its answer is shown as a page."""
    headers = "Host: localhost:10291", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"
    assert await loopback.status("POST /taken", *headers, body="a=b") == 403
    assert await loopback.status("GET /shown", *headers) == 200
    assert loopback.read == []


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["Origin: http://localhost:10291"],
        ["Origin: http://localhost:10291", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"],
        ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"],
    ],
)
async def test_our_own_pages_and_scripts_are_answered(loopback: Loopback, headers: list[str]) -> None:
    assert await loopback.status("GET /shown", "Host: localhost:10291", *headers) == 200
    assert await loopback.status("POST /taken", "Host: localhost:10291", *headers, body="x") == 200


async def test_a_listed_origin_may_ask(loopback: Loopback) -> None:
    asked = "GET /shown", "Host: localhost", "Origin: https://ui.example"
    assert await loopback.status(*asked) == 403
    loopback.origins.add("https://ui.example")
    assert await loopback.status(*asked) == 200
    assert await loopback.status(*asked, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors") == 200
    assert await loopback.status(*asked, "Origin: https://evil.example") == 403


# -- what answers say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "host", "status"),
    [
        ("GET /shown", "localhost", 200),
        ("GET /nothing", "localhost", 404),
        ("DELETE /shown", "localhost", 405),
        ("GET /shown", "evil.example", 403),
    ],
)
async def test_every_answer_has_the_headers_and_no_cookie(
    loopback: Loopback, first: str, host: str, status: int
) -> None:
    found, headers, _ = await loopback.ask(first, f"Host: {host}")
    assert found == status
    assert {name: headers[name.lower()] for name in SECURITY_HEADERS} == SECURITY_HEADERS
    assert not {"set-cookie", "access-control-allow-origin"} & set(headers)


async def test_a_refusal_repeats_nothing(loopback: Loopback) -> None:
    _, headers, text = await loopback.ask(
        "GET /<script>", "Host: evil.example", "Origin: https://evil.example"
    )
    assert "evil" not in f"{headers}{text}"
    assert "script" not in text
