"""Pages of other sites in a browser beside a port-forward: they read nothing of the admin port."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest_asyncio
from aiohttp import web

from e2e.cluster.client import Cluster
from e2e.programs.browser import Page, opened_page
from e2e.programs.paddock import PaddockProcess
from e2e.programs.processes import free_port
from e2e.stands.stand import NAMESPACE, eventually, install

SITE = "elsewhere.example"
METRIC = "paddock_queues"


@dataclass(frozen=True)
class Scene:
    """A browser in which `SITE` leads to loopback, a page of that site, and a Paddock's admin port."""

    page: Page
    site: str
    admin: int

    async def read(self, url: str, options: str = "{}") -> str:
        """The text that a script of the present page gets, or that it gets none."""
        return str(
            await self.page.ask(
                f"fetch({json.dumps(url)}, {options}).then((got) => got.text(), () => 'nothing')"
            )
        )


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
        async with opened_page(f"--host-resolver-rules=MAP {SITE} 127.0.0.1") as page:
            yield Scene(page, f"http://{SITE}:{port}/", paddock.admin_port)
    finally:
        await paddock.stop()
        await runner.cleanup()


async def test_a_page_of_loopback_itself_reads(scene: Scene) -> None:
    """The other tests could not fail without it."""
    own = f"http://127.0.0.1:{scene.admin}"
    assert await scene.page.visit(f"{own}/livez") == "ok\n"
    assert METRIC in await scene.read("/metrics")


async def test_a_name_that_is_rebound_to_loopback_reads_nothing(scene: Scene) -> None:
    """The page is of the same origin as what it asks for, so only the Host header shows the difference."""
    shown = await scene.page.visit(f"http://{SITE}:{scene.admin}/livez")
    assert "Host is no name of loopback" in shown
    assert await scene.page.ask("location.hostname") == SITE
    for path in ("/metrics", "/debug/audit", "/ws/v1/metrics"):
        answer = await scene.read(path)
        assert "Host is no name of loopback" in answer
        assert METRIC not in answer
    sent = "{method: 'POST', body: 'partitions: []'}"
    assert "Host is no name of loopback" in await scene.read("/ws/v1/validate-conf", sent)


async def test_a_script_of_another_site_reads_nothing(scene: Scene) -> None:
    assert await scene.page.visit(scene.site) == "a page"
    for host in ("127.0.0.1", "localhost"):
        url = f"http://{host}:{scene.admin}/metrics"
        assert await scene.read(url) == "nothing"
        # What such a request gets is hidden from the script, and here it is empty of contents as well.
        assert METRIC not in await scene.read(url, "{mode: 'no-cors'}")


async def test_a_form_of_another_site_sends_and_shows_nothing(scene: Scene) -> None:
    assert await scene.page.visit(scene.site) == "a page"
    target = f"http://127.0.0.1:{scene.admin}/ws/v1/validate-conf"
    await scene.page.ask(
        "(() => { const form = document.createElement('form');"
        f" form.method = 'post'; form.enctype = 'text/plain'; form.action = {json.dumps(target)};"
        " document.body.append(form); form.submit(); })()"
    )

    async def is_refused() -> bool:
        return "is not answered" in await _shown(scene.page)

    await eventually(is_refused, "the browser shows the refusal", timeout=20)
    assert "allowed" not in await _shown(scene.page)


async def _shown(page: Page) -> str:
    return str(await page.ask("document.body ? document.body.innerText : ''"))
