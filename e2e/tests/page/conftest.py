"""A cluster to look at, and a page in a browser, for the tests of a module."""

from collections.abc import AsyncIterator

import pytest_asyncio

from e2e.programs.browser import Page, opened_page
from e2e.programs.control_plane import ControlPlane
from e2e.stands.page.town import Town, page_town
from e2e.tests.page.browsing import begin, scheme


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def town(control_plane: ControlPlane) -> AsyncIterator[Town]:
    async with page_town(control_plane) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def opened(town: Town) -> AsyncIterator[Page]:
    """A page that is closed before the town ends."""
    assert town.base
    async with opened_page() as page:
        await begin(page)
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def page(opened: Page, town: Town) -> AsyncIterator[Page]:
    """The page. At a test's end nothing was complained of, stopped, or asked of another origin."""
    opened.complaints.clear()
    opened.requests.clear()
    await opened.resize(1280, 900)
    await scheme(opened, dark=False)
    yield opened
    assert [each for each in opened.complaints if "404" not in each] == []
    assert await opened.ask("breaches") == []
    assert [url for url in opened.requests if not url.startswith(town.base)] == []
