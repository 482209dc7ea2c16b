"""The page of a server with nothing to show, that is not ready, stands by, is gone, or has led twice.

Played: the kubelet, and the Lease of kube-scheduler, which the tests write.
"""

import json
import time

import pytest

from e2e.cluster.client import Cluster, node_of
from e2e.programs.browser import Page, opened_page
from e2e.programs.paddock import PaddockProcess
from e2e.stands.stand import FIRST, LEASE, SECOND, Stand, eventually
from e2e.tests.page.browsing import begin, breaches, open_view, until_shown

pytestmark = pytest.mark.xdist_group("page states")

TWO = {"a": {"max": {"vcore": "2"}}}
EMPTY = {
    "#/overview": ("No application is known", "No pod waits", "No preemption was planned"),
    "#/queues": ("root.a", "idle"),
    "#/queue/root.a": ("No pod waits in this queue",),
    "#/applications": ("There are no applications in this list",),
    "#/applications?list=rejected": ("There are no applications in this list",),
    "#/usage": ("No user has usage",),
    "#/nodes": ("The cluster has no nodes",),
    "#/preemptions": ("No preemption was planned",),
    "#/events": ("of the latest ",),
}
"""Views of a cluster without nodes and pods."""
USED = "[...document.querySelectorAll('figure.past > svg polyline.used')].length"


def base_of(paddock: PaddockProcess) -> str:
    return f"http://127.0.0.1:{paddock.admin_port}/"


async def until_recorded(paddock: PaddockProcess) -> None:
    """Wait for a sample of its own that begins after now. There is one every 15 s while it leads."""
    since = time.time() * 10**9

    async def is_there() -> bool:
        status, text = await paddock.get("/ws/v1/history/queue/root.a?span=1h")
        past = json.loads(text) if status == 200 else {"resources": {}}
        used = past["resources"].get("vcore", {"used": ()})["used"]
        times = (past["start"] + at * past["step"] for at, each in enumerate(used) if each is not None)
        return any(each > since for each in times)

    await eventually(is_there, "a sample is taken", timeout=60)


async def assert_private(page: Page, *origins: str) -> None:
    """Nothing was stopped by the policy, and no other origin was asked."""
    assert await page.ask("breaches") == []
    assert [url for url in page.requests if not url.startswith(origins)] == []


async def test_an_empty_cluster_and_then_a_pod_that_waits_and_goes(cluster: Cluster) -> None:
    async with Stand(cluster, TWO) as stand, opened_page() as page:
        base = base_of(stand.paddock)
        await begin(page)
        for fragment, wanted in EMPTY.items():
            await open_view(page, base, fragment)
            for each in wanted:
                await until_shown(page, each)
            assert await breaches(page) == [], fragment
        await cluster.add_nodes(2)
        await open_view(page, base, "#/applications")
        for name in ("p1", "p2"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two are bound")
        await until_shown(page, "Running")
        await cluster.create_pod("p3", queue="root.a")
        await stand.pods.until(lambda: stand.pods.refused("QuotaExceeded"), "the third is known, and waits")
        await open_view(page, base, f"#/why/{cluster.namespace}/p3")
        await until_shown(page, "1 is short")
        await cluster.delete_pod("p1")
        await stand.pods.until(lambda: bool(node_of(stand.pods.named("p3") or {"spec": {}})), "p3 is bound")
        await until_shown(page, "The pod is on node")
        assert page.complaints == []
        await assert_private(page, base)
        await stand.audited()


async def test_a_server_that_is_not_ready_says_why_and_a_lost_one_is_reported(cluster: Cluster) -> None:
    async with Stand(cluster, TWO, proxied=True) as stand, opened_page() as page:
        await begin(page)
        stand.proxy.answer_next("GET", "/api/v1/pods$", 500, n=10**6)
        plane = cluster.control_plane
        unready = PaddockProcess(plane.kubeconfig("paddock-certificate", stand.proxy.url), plane.folder)
        await unready.start(wait=False)
        try:

            async def waits() -> bool:
                return "waiting for pods" in (await unready.get("/readyz?verbose"))[1]

            await eventually(waits, "it waits for pods", timeout=60)
            shown = await open_view(page, base_of(unready), "#/queues")
            assert "Paddock is not ready" in shown
            assert "waiting for pods" in shown
            assert await breaches(page) == []
            await unready.stop()
            await page.click(".note button")
            await until_shown(page, "Paddock does not answer")
            await assert_private(page, base_of(unready))
        finally:
            await unready.stop()
            stand.proxy.clear()


async def test_the_time_in_which_another_one_led_is_a_gap(cluster: Cluster) -> None:
    """The first one leads, then stands by, then leads again. Its chart has two parts."""
    async with Stand(cluster, TWO, lease=LEASE) as stand, opened_page() as page:
        await begin(page)
        await cluster.add_nodes(1)
        second = await stand.stand_by()
        await cluster.create_pod("p1", queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "one is bound")
        base = base_of(stand.paddock)
        await open_view(page, base_of(second), "#/queue/root.a")
        await until_shown(page, "Paddock is not ready")
        await until_recorded(stand.paddock)

        await stand.lead(SECOND)
        await until_recorded(second)
        await open_view(page, base, "#/queue/root.a")
        await until_shown(page, "Paddock is not ready")

        await stand.lead(FIRST)
        await until_recorded(stand.paddock)
        await open_view(page, base, "#/queue/root.a")
        await page.until(f"{USED} === 2")
        said = await page.ask("document.querySelector('figure.past > svg').getAttribute('aria-label')")
        assert "samples are missing" in said
        await assert_private(page, base, base_of(second))
