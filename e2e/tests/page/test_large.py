"""The page with 10,000 applications and 2,000 queues: only rows in sight exist, and all can be reached.

Played: the server, whose answers are made once. The times between frames are printed.
"""

from collections.abc import AsyncIterator

import pytest_asyncio

from e2e.programs.browser import Page, opened_page
from e2e.stands.page.crowd import TEAMS, UNITS, page_crowd
from e2e.tests.page.browsing import begin, open_view, text

APPLICATIONS = 10_000
MOST_ROWS = 120
ROWS = "document.querySelectorAll('tbody tr[aria-rowindex]').length"


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def base() -> AsyncIterator[str]:
    async with page_crowd(APPLICATIONS) as address:
        yield address


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def page(base: str) -> AsyncIterator[Page]:
    async with opened_page() as opened:
        await begin(opened)
        yield opened


FRAMES = 120
SCROLL = f"""
new Promise((done) => {{
  const box = document.querySelector('.scroll');
  const times = [];
  let last = null;
  const step = (now) => {{
    if (last !== null) times.push(now - last);
    last = now;
    box.scrollTop += 340;
    if (times.length < {FRAMES}) requestAnimationFrame(step);
    else done(times);
  }};
  requestAnimationFrame(step);
}})
"""
"""Milliseconds between frames, of which each scrolls by ten rows."""


async def scrolled(page: Page, share: float) -> None:
    await page.ask(
        "(() => { const box = document.querySelector('.scroll');"
        f" box.scrollTop = {share} * box.scrollHeight; }})()"
    )
    await page.frame()


async def test_ten_thousand_applications(page: Page, base: str) -> None:
    assert f"{APPLICATIONS} of {APPLICATIONS} applications" in await open_view(page, base, "#/applications")
    assert await page.ask("document.querySelector('table').getAttribute('aria-rowcount')") == "10001"
    for share in (0, 0.3, 0.7, 1):
        await scrolled(page, share)
        assert 10 < await page.ask(ROWS) < MOST_ROWS
    assert "app-09999" in await text(page)
    await scrolled(page, 0)
    times = sorted(await page.ask(SCROLL))
    middle, high, longest = times[FRAMES // 2], times[-2], times[-1]
    print(f"frames while scrolling: median {middle:.1f} ms, p99 {high:.1f}, max {longest:.1f}")
    assert await page.ask("document.querySelector('.scroll').scrollTop") > FRAMES * 300


async def test_they_are_sorted_and_searched_at_once(page: Page, base: str) -> None:
    await open_view(page, base, "#/applications?sort=-id")
    await scrolled(page, 0)
    await page.until("document.querySelector('tbody th').innerText === 'app-09999'")
    await open_view(page, base, "#/applications?search=app-0777&state=Accepted&sort=id")
    await page.until("document.body.innerText.includes('4 of 10000 applications')")
    assert await page.ask("[...document.querySelectorAll('tbody th')].map((each) => each.innerText)") == [
        "app-07770",
        "app-07773",
        "app-07776",
        "app-07779",
    ]


async def test_two_thousand_queues(page: Page, base: str) -> None:
    await open_view(page, base, "#/queues")
    await page.until(f"{ROWS} === 1 + {UNITS}")
    await open_view(page, base, "#/queues?closed=none")
    await page.until(
        f"document.querySelector('table').getAttribute('aria-rowcount') === '{2 + UNITS + UNITS * TEAMS}'"
    )
    for share in (0, 0.5, 1):
        await scrolled(page, share)
        assert 10 < await page.ask(ROWS) < MOST_ROWS
