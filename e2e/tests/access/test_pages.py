"""Pages of other sites in a browser beside a port-forward: they read nothing of the admin port.

The port-forward is played, by a listener on loopback that passes bytes on. A second one hides from the guard
what it looks at, as if there were no guard. Each attack then gets through, so each test can fail.
"""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest_asyncio
from aiohttp import web

from e2e.cluster.client import Cluster
from e2e.programs.browser import Page, opened_page
from e2e.programs.paddock import PaddockProcess
from e2e.programs.port_forward import PortForward, forwarded
from e2e.programs.processes import free_port
from e2e.stands.stand import NAMESPACE, eventually, install

SITE = "elsewhere.example"
METRIC = "paddock_queues"
REBOUND = "Host is no name of loopback"


@dataclass(frozen=True)
class Scene:
    """A browser in which `SITE` leads to loopback, a page of that site, and port-forwards to a Paddock.

    ``unguarded``: as without a guard. ``shared``: the same, and pages of all sites may read.
    """

    page: Page
    site: str
    guarded: PortForward
    unguarded: PortForward
    shared: PortForward

    async def read(self, url: str, options: str = "{}") -> str:
        """The text that a script of the present page gets, or that it gets none."""
        return str(
            await self.page.ask(
                f"fetch({json.dumps(url)}, {options}).then((got) => got.text(), () => 'nothing')"
            )
        )

    async def post(self, url: str) -> None:
        """Send a form from the present page, and wait until the browser shows an answer."""
        await self.page.ask(
            "(() => { const form = document.createElement('form');"
            f" form.method = 'post'; form.enctype = 'text/plain'; form.action = {json.dumps(url)};"
            " document.body.append(form); form.submit(); })()"
        )

        async def is_answered() -> bool:
            return await self.shown() not in ("", "a page")

        await eventually(is_answered, "the browser shows the answer", timeout=20)

    async def shown(self) -> str:
        return str(await self.page.ask("document.body ? document.body.innerText : ''"))


async def _blank(_request: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><title>a page</title><p>a page", content_type="text/html")


@pytest_asyncio.fixture(loop_scope="session")
async def scene(cluster: Cluster) -> AsyncIterator[Scene]:
    await install(cluster, "sidecar")
    assert NAMESPACE == "paddock-system"
    plane = cluster.control_plane
    paddock = PaddockProcess(plane.kubeconfig("paddock"), plane.folder)
    app, port = web.Application(), free_port()
    app.router.add_get("/", _blank)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        await paddock.start(wait=False)

        async def lives() -> bool:
            return (await paddock.get("/livez"))[0] == 200

        await eventually(lives, "the admin port answers", timeout=30)
        async with AsyncExitStack() as stack:
            guarded = await stack.enter_async_context(forwarded(paddock.admin_port))
            unguarded = await stack.enter_async_context(forwarded(paddock.admin_port, hides=True))
            shared = await stack.enter_async_context(forwarded(paddock.admin_port, hides=True, allows=True))
            page = await stack.enter_async_context(opened_page(f"--host-resolver-rules=MAP {SITE} 127.0.0.1"))
            yield Scene(page, f"http://{SITE}:{port}/", guarded, unguarded, shared)
    finally:
        await paddock.stop()
        await runner.cleanup()


async def test_a_page_of_loopback_itself_reads(scene: Scene) -> None:
    """The port-forward works for the user whose it is."""
    own = f"http://127.0.0.1:{scene.guarded.port}"
    assert await scene.page.visit(f"{own}/livez") == "ok\n"
    assert METRIC in await scene.read("/metrics")


async def test_a_name_that_is_rebound_to_loopback_reads_nothing(scene: Scene) -> None:
    """The page is of the same origin as what it asks for, so only the Host header shows the difference."""
    shown = await scene.page.visit(f"http://{SITE}:{scene.guarded.port}/livez")
    assert REBOUND in shown
    assert await scene.page.ask("location.hostname") == SITE
    for path in ("/metrics", "/debug/audit", "/ws/v1/metrics"):
        answer = await scene.read(path)
        assert REBOUND in answer
        assert METRIC not in answer
    sent = "{method: 'POST', body: 'partitions: []'}"
    assert REBOUND in await scene.read("/ws/v1/validate-conf", sent)
    assert {*scene.guarded.statuses} == {403}


async def test_a_name_that_is_rebound_reads_where_there_is_no_guard(scene: Scene) -> None:
    assert await scene.page.visit(f"http://{SITE}:{scene.unguarded.port}/livez") == "ok\n"
    assert await scene.page.ask("location.hostname") == SITE
    assert METRIC in await scene.read("/metrics")
    sent = "{method: 'POST', body: 'partitions: []'}"
    assert "allowed" in await scene.read("/ws/v1/validate-conf", sent)


async def test_a_script_of_another_site_reads_nothing(scene: Scene) -> None:
    """The browser hides answers of another site. Here they are empty of contents as well."""
    assert await scene.page.visit(scene.site) == "a page"
    for host in ("127.0.0.1", "localhost"):
        url = f"http://{host}:{scene.guarded.port}/metrics"
        assert await scene.read(url) == "nothing"
        assert METRIC not in await scene.read(url, "{mode: 'no-cors'}")
    assert {*scene.guarded.statuses} == {403}


async def test_a_script_of_another_site_reads_where_there_is_no_guard(scene: Scene) -> None:
    """Without the guard the contents leave Paddock, and with REST-1's header for all the script has them."""
    assert await scene.page.visit(scene.site) == "a page"
    assert await scene.read(f"http://127.0.0.1:{scene.unguarded.port}/metrics") == "nothing"
    assert {*scene.unguarded.statuses} == {200}
    assert METRIC in await scene.read(f"http://127.0.0.1:{scene.shared.port}/metrics")


async def test_a_form_of_another_site_sends_and_shows_nothing(scene: Scene) -> None:
    assert await scene.page.visit(scene.site) == "a page"
    await scene.post(f"http://127.0.0.1:{scene.guarded.port}/ws/v1/validate-conf")
    assert "is not answered" in await scene.shown()
    assert "allowed" not in await scene.shown()
    assert {*scene.guarded.statuses} == {403}


async def test_a_form_of_another_site_is_answered_where_there_is_no_guard(scene: Scene) -> None:
    assert await scene.page.visit(scene.site) == "a page"
    await scene.post(f"http://127.0.0.1:{scene.unguarded.port}/ws/v1/validate-conf")
    assert '"allowed"' in await scene.shown()
