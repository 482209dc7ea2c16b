"""The page on the port that asks for a login, with tokens of a real API server typed into its field."""

from pathlib import Path

import pytest

from e2e.cluster.client import Cluster
from e2e.programs.browser import opened_page
from e2e.stands.front_door import account
from e2e.stands.scraping import Scraping
from e2e.tests.page.browsing import begin, breaches, open_view, tab_to, text, until_shown

pytestmark = pytest.mark.xdist_group("page states")

STORED = "localStorage.length + sessionStorage.length + document.cookie.length"


async def test_a_typed_token_brings_the_data_and_is_nowhere_stored(cluster: Cluster, tmp_path: Path) -> None:
    """By keyboard alone. One token is none, one has no right, and one has the shipped role of a viewer."""
    scraping = Scraping(cluster, tmp_path)
    async with (
        scraping.stand({"a": {"max": {"vcore": "2"}}}) as stand,
        opened_page("--ignore-certificate-errors") as page,
    ):
        idle, viewer = await account(cluster, "idle"), await account(cluster, "viewer", role="paddock-viewer")
        base = f"https://{scraping.address_of(stand.paddock, 0)}/"
        await begin(page)
        shown = await open_view(page, base, "#/queues")
        assert "This port asks who you are" in shown
        assert "root.a" not in shown
        assert await breaches(page) == []
        for token, wanted in (
            ("none", "the token was not accepted"),
            (idle, "The token may not read this"),
            (viewer, "root.a"),
        ):
            await tab_to(page, "token")
            await page.call("Input.insertText", text=token)
            await page.press("Enter")
            await until_shown(page, wanted)
        await until_shown(page, "old, live")
        await cluster.create_pod("p1", queue="root.a", app="seen-live")
        await open_view(page, base, "#/applications")
        await until_shown(page, "seen-live")
        assert await page.ask(STORED) == 0
        assert viewer not in await page.ask("location.href + document.documentElement.outerHTML")
        assert [url for url in page.requests if not url.startswith(base) or viewer in url] == []
        assert await page.ask("breaches") == []
        await page.ask("location.reload()")
        await until_shown(page, "This port asks who you are")
        assert "seen-live" not in await text(page)
