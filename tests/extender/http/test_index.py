"""The index of a listener (E7)."""

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from extender.http.door import Door
from extender.http.endpoints import ANY_METHOD, Endpoint, guarded_app

INDEX = """\
Paddock answers here:

GET  /debug/pods/NAMESPACE/NAME  why a pod waits
GET  /readyz
GET  /ws/v1/...
"""


async def answer(request: web.Request) -> web.Response:
    return web.Response(text=request.path)


async def index_of(*endpoints: Endpoint) -> tuple[int, str]:
    async with TestClient(TestServer(guarded_app(endpoints, Door()))) as client, client.get("/") as found:
        return found.status, await found.text()


async def test_e7_the_root_is_an_index_of_what_the_port_answers() -> None:
    assert await index_of(
        Endpoint("GET", "/readyz", answer),
        Endpoint(ANY_METHOD, "/ws/v1/{tail:.*}", answer),
        Endpoint("GET", "/debug/pods/{namespace}/{name}", answer, "why a pod waits"),
    ) == (200, INDEX)


async def test_an_endpoint_may_take_the_place_of_the_index() -> None:
    assert await index_of(Endpoint("GET", "/", answer)) == (200, "/")
