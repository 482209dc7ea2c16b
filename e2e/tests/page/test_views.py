"""Every view in a real browser: contents, live news, hostile names, what is amiss, no breach of policy.

Needs Chromium (Debian package ``chromium``) and fails without it.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.programs.browser import Page, opened_page
from e2e.stands.page_world import HOSTILE, PageWorld, document, page_world, tree_of
from e2e.tests.page.browsing import begin, breaches, is_too_wide, open_view, scheme, text

VIEWS = {
    "#/overview": (" checks succeeded", "Waiting longest", "default/waiting"),
    "#/queues": ("root.unit0.team1", "Guaranteed"),
    "#/queue/root.unit0.team0": ("Headroom of this queue", "default/waiting", "first"),
    "#/applications": ("app-00001", "root.unit1.team0"),
    "#/application/default/patient": ("Accepted", "default/waiting", "Not enough queue quota"),
    "#/why/default/waiting": ("Needed, free and short", "1 is short", "first"),
    "#/usage": ("nobody", "root.unit0"),
    "#/nodes": ("20 of 20 nodes", "n19"),
    "#/node/n1": ("Managed pods", "app-00001"),
    "#/preemptions": ("Preemptions",),
    "#/events": ("application", "accepted"),
    "#/configuration": ("Document in force", "name: team1"),
    "#/nothing": ("There is no view of this name",),
}

PHONE, ZOOMED = (390, 844), (640, 450)
"""Windows of a telephone, and of 1280 x 900 pixels at a zoom of 200 %."""


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PageWorld]:
    async with page_world(tmp_path_factory.mktemp("page")) as made:
        made.server.configure(document(tree_of(2, 3)))
        made.fill(30, units=2, teams=3)
        made.pod("first", queue="root.unit0.team0", app="first", node="n1")
        made.pod("waiting", queue="root.unit0.team0", app="patient", created="2026-01-01T00:00:00Z")
        made.pod("evil", queue="root.unit0.team0", app=HOSTILE, created="2026-01-01T00:00:01Z")
        await made.server.started()
        for name, app in (("waiting", "patient"), ("evil", HOSTILE)):
            await made.try_pod(name, queue="root.unit0.team0", app=app)
        yield made


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def started(world: PageWorld) -> AsyncIterator[Page]:
    async with opened_page() as page:
        await begin(page)
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def page(started: Page, world: PageWorld) -> AsyncIterator[Page]:
    """The page. At a test's end nothing was complained of, stopped, or asked of another origin."""
    started.complaints.clear()
    started.requests.clear()
    await started.resize(1280, 900)
    await scheme(started, dark=False)
    yield started
    assert [each for each in started.complaints if "404" not in each] == []
    assert await started.ask("breaches") == []
    assert [url for url in started.requests if not url.startswith(world.base)] == []


@pytest.mark.parametrize("fragment", VIEWS)
async def test_a_view_shows_what_it_is_for_to_everybody(page: Page, world: PageWorld, fragment: str) -> None:
    """Contents, no breach by axe in light and dark, and no scrolling across at 390 px and 200 %."""
    shown = await open_view(page, world.base, fragment)
    for wanted in VIEWS[fragment]:
        assert wanted in shown
    assert " old, " in shown
    for dark in (False, True):
        await scheme(page, dark=dark)
        assert await breaches(page) == [], f"dark: {dark}"
    for width, height in (PHONE, ZOOMED):
        await page.resize(width, height)
        await page.frame()
        assert not await is_too_wide(page), width
    assert await breaches(page) == [], "zoomed"


async def test_a_planted_breach_of_accessibility_is_found(page: Page, world: PageWorld) -> None:
    await open_view(page, world.base, "#/nodes")
    await page.ask("document.querySelector('main').append(document.createElement('input'))")
    assert [each.split(":")[0] for each in await breaches(page)] == ["label"]
    await page.ask("document.querySelector('main > input').remove()")


async def test_names_are_never_markup(page: Page, world: PageWorld) -> None:
    for fragment in (
        *("#/overview", "#/applications", "#/events", "#/queue/root.unit0.team0"),
        f"#/application/default/{HOSTILE.replace(' ', '%20').replace('<', '%3C').replace('>', '%3E')}",
    ):
        assert HOSTILE in await open_view(page, world.base, fragment), fragment
        assert await page.ask("document.querySelectorAll('img, script:not([src])').length") == 0
    assert "owned" not in str(await page.ask("document.title")).replace(HOSTILE, "")


async def test_a_new_application_is_shown_without_a_reload(page: Page, world: PageWorld) -> None:
    await open_view(page, world.base, "#/applications?search=brand-new")
    world.pod("newcomer", queue="root.unit1.team1", app="brand-new")
    await page.until("document.body.innerText.includes('1 of ')")
    assert "brand-new" in await text(page)
    await open_view(page, world.base, "#/events?search=brand-new")
    await page.until("document.body.innerText.includes('accepted')")


async def test_the_address_holds_the_state_of_a_view(page: Page, world: PageWorld) -> None:
    shown = await open_view(page, world.base, "#/queues?search=unit1.team2&resource=pods")
    assert "root.unit1.team2" in shown
    assert "root.unit0" not in shown
    assert await page.ask("document.querySelector('select').value") == "pods"
    await page.ask(
        "(() => { const field = document.querySelector('input[type=search]'); field.value = 'unit0.team1';"
        " field.dispatchEvent(new InputEvent('input', {bubbles: true})); })()"
    )
    await page.until("document.body.innerText.includes('root.unit0.team1')")
    assert await page.ask("location.hash") == "#/queues?search=unit0.team1&resource=pods"


async def test_another_document_is_checked_and_compared(page: Page, world: PageWorld) -> None:
    await open_view(page, world.base, "#/configuration")
    changed = document(tree_of(2, 3)).replace('"max": {"vcore": 1}', '"max": {"vcore": 5}', 1)
    for given, wanted in ((changed, "Would be accepted"), ("partitions: 7", "Refused")):
        await page.ask(
            f"(() => {{ document.querySelector('textarea').value = {given!r};"
            " document.querySelector('main form button').click(); })()"
        )
        await page.until(f"document.body.innerText.includes({wanted!r})")
    await page.ask(
        f"(() => {{ document.querySelector('textarea').value = {changed!r};"
        " document.querySelector('main form button').click(); })()"
    )
    await page.until("document.body.innerText.includes('team0.resources.max.vcore')")


async def test_the_whole_way_to_the_reason_by_keyboard_alone(page: Page, world: PageWorld) -> None:
    await open_view(page, world.base, "#/overview")
    await page.ask("document.activeElement.blur()")
    for wanted, view in (
        ("Queues", "#/queues"),
        ("root.unit0.team0", "#/queue/"),
        ("default/waiting", "#/why/"),
    ):
        for _ in range(120):
            await page.press("Tab")
            if await page.ask("document.activeElement.textContent") == wanted:
                break
        else:
            pytest.fail(f"Tab does not reach {wanted}")
        assert await page.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        await page.press("Enter")
        await page.until(f"location.hash.startsWith({view!r}) && document.documentElement.dataset.ready")
        await page.until("document.activeElement.tagName === 'H1'")
    await page.until("document.body.innerText.includes('1 is short')")


async def test_what_is_not_there_is_said(page: Page, world: PageWorld) -> None:
    for fragment, wanted in (
        ("#/queue/root.none", "Queue not found"),
        ("#/why/default/none", "no such pod is known"),
        ("#/application/default/none", "Application not found"),
        ("#/node/none", "Node not found"),
    ):
        assert wanted in await open_view(page, world.base, fragment)


async def test_a_server_that_is_not_ready_says_why_and_a_lost_one_is_reported(tmp_path: Path) -> None:
    async with page_world(tmp_path) as made, opened_page() as page:
        await begin(page)
        made.server.configure(document(tree_of(1, 1)))
        made.server.api.fail_next(500, path="/api/v1/pods", watch=False, times=10**6)
        made.server.start()
        await made.server.until_shown("/readyz", "waiting for pods")
        shown = await open_view(page, made.base, "#/queues")
        assert "Paddock is not ready" in shown
        assert "waiting for pods" in shown
        await made.server.stop()
        await page.ask("document.querySelector('.note button').click()")
        await page.until("document.body.innerText.includes('Paddock does not answer')")
