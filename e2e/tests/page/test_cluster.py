"""The page beside a real kube-scheduler: a pod waits for the quota of others, and goes when one has ended."""

from e2e.cluster.client import Cluster, node_of
from e2e.programs.browser import opened_page
from e2e.stands.stand import Stand
from e2e.tests.page.browsing import begin, breaches, open_view

TWO = {"a": {"max": {"vcore": "2"}}}


async def test_a_waiting_pod_and_its_reason_are_seen_live(cluster: Cluster) -> None:
    async with Stand(cluster, TWO) as stand, opened_page() as page:
        base = f"http://127.0.0.1:{stand.paddock.admin_port}/"
        await cluster.add_nodes(2)
        await begin(page)
        assert "There are no applications in this list" in await open_view(page, base, "#/applications")
        for name in ("p1", "p2"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two are bound")
        await page.until("document.body.innerText.includes('Running')")
        await cluster.create_pod("p3", queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.waiting()) == 1, "the third waits")
        await open_view(page, base, f"#/why/{cluster.namespace}/p3")
        await page.until("document.body.innerText.includes('1 is short')")
        assert await breaches(page) == []
        await cluster.delete_pod("p1")
        await stand.pods.until(lambda: bool(node_of(stand.pods.named("p3") or {"spec": {}})), "p3 is bound")
        await page.until("document.body.innerText.includes('The pod is on node')")
        assert page.complaints == []
        assert await page.ask("breaches") == []
        assert [url for url in page.requests if not url.startswith(base)] == []
        await stand.audited()
