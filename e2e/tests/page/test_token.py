"""The page on the port that asks for a login: its files are open, and a typed token brings the data."""

from pathlib import Path

from e2e.programs.browser import Page, opened_page
from e2e.stands.page_world import page_world
from e2e.tests.page.browsing import begin, breaches, open_view, text
from tests.extender.process.test_front_door import Stage

STORED = "localStorage.length + sessionStorage.length + document.cookie.length"


class _EverythingOf(set[tuple[str, str, str]]):
    """Rights of one user to read each path."""

    def __init__(self, user: str) -> None:
        super().__init__()
        self._user = user

    def __contains__(self, right: object) -> bool:
        return isinstance(right, tuple) and right[:2] == (self._user, "get")


async def give(page: Page, token: str) -> None:
    await page.ask(
        f"(() => {{ document.querySelector('input[name=token]').value = {token!r};"
        " document.querySelector('form.login button').click(); })()"
    )


async def test_a_typed_token_brings_the_data_and_is_nowhere_stored(tmp_path: Path) -> None:
    async with page_world(tmp_path) as made, opened_page("--ignore-certificate-errors") as page:
        stage = Stage(made.server)
        stage.played.rights = _EverythingOf("prometheus")
        await stage.start()
        base = f"https://localhost:{stage.ports['rest_port']}/"
        await begin(page)
        shown = await open_view(page, base, "#/queues")
        assert "This port asks who you are" in shown
        assert "root.a" not in shown
        assert await breaches(page) == []
        await give(page, "bad")
        await page.until("document.body.innerText.includes('the token was not accepted')")
        await give(page, "idle")
        await page.until("document.body.innerText.includes('The token may not read this')")
        await give(page, "good")
        await page.until("document.body.innerText.includes('root.a')")
        await page.until("document.body.innerText.includes('old, live')")
        assert await page.ask(STORED) == 0
        assert "good" not in await page.ask("location.href + document.body.innerText")
        assert [url for url in page.requests if not url.startswith(base) or "good" in url] == []
        assert await page.ask("breaches") == []
        await page.ask("location.reload()")
        await page.until("document.body?.innerText.includes('This port asks who you are')")
        assert "root.a" not in await text(page)
