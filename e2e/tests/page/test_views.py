"""Every view in Chromium beside a real control plane: contents, hostile names, access for all, live news.

Played: the kubelet. Needs Chromium (Debian package ``chromium``) and fails without it.
"""

import pytest
import yaml

from e2e.programs.browser import Page
from e2e.stands.course import document_of
from e2e.stands.page.town import FULL, GANG, HOSTILE, ODD, QUEUES, SETTINGS, USER, Town
from e2e.tests.page.browsing import (
    breaches,
    is_too_wide,
    open_view,
    scheme,
    tab_to,
    text,
    type_into,
    until_shown,
)

pytestmark = pytest.mark.xdist_group("page views")

VIEWS = {
    "overview": (
        "#/overview",
        " checks succeeded",
        "Not enough queue quota",
        "Evicted for",
        "No watch is stale",
    ),
    "queues": ("#/queues", FULL, "below its guarantee", "at its max"),
    "queue": (f"#/queue/{FULL}", "Headroom of this queue", "waiting", ODD, HOSTILE),
    "past": (f"#/queue/{FULL}?span=24h", "a day", "used"),
    "applications": ("#/applications", "patient", "2 of 3", USER, HOSTILE),
    "application": ("#/application/NAMESPACE/patient", "Accepted", "Not enough queue quota", USER),
    "gang": (f"#/application/NAMESPACE/{GANG.name}", "Task group", "workers"),
    "pod": (
        f"#/why/NAMESPACE/{ODD}",
        "Needed, free and short",
        "1 is short",
        "Goes first",
        "What would help",
    ),
    "why of an application": (f"#/why/NAMESPACE/{GANG.name}?of=application", "2 of 3 placed"),
    "users": ("#/usage", USER, "root.unit"),
    "nodes": ("#/nodes", "3 of 3 nodes", "reserved for a pod"),
    "node": ("#/node/n1", "Managed pods", "hold-0"),
    "preemptions": ("#/preemptions", "Evicted for", "below its guarantee"),
    "events": ("#/events", "application", "accepted"),
    "configuration": ("#/configuration", "Document in force", "name: full", *SETTINGS),
    "no view": ("#/nothing", "There is no view of this name"),
}
"""Address of each view, and texts that it has to show."""

PHONE, ZOOMED = (390, 844), (640, 450)
"""Windows of a telephone, and of 1280 x 900 pixels at a zoom of 200 %."""


@pytest.mark.parametrize("view", VIEWS)
async def test_a_view_shows_what_it_is_for_to_everybody(page: Page, town: Town, view: str) -> None:
    """Contents, no breach by axe in light and dark, and no scrolling across at 390 px and 200 %."""
    fragment, *wanted = VIEWS[view]
    await open_view(page, town.base, fragment.replace("NAMESPACE", town.namespace))
    for each in wanted:
        await until_shown(page, each)
    assert " old, " in await text(page)
    for dark in (False, True):
        await scheme(page, dark=dark)
        assert await breaches(page) == [], f"dark: {dark}"
    for width, height in (PHONE, ZOOMED):
        await page.resize(width, height)
        await page.frame()
        assert not await is_too_wide(page), width
    assert await breaches(page) == [], "zoomed"


async def test_a_planted_breach_of_accessibility_is_found(page: Page, town: Town) -> None:
    await open_view(page, town.base, "#/nodes")
    await page.ask("document.querySelector('main').append(document.createElement('input'))")
    assert [each.split(":")[0] for each in await breaches(page)] == ["label"]
    await page.ask("document.querySelector('main > input').remove()")


async def test_names_are_never_markup(page: Page, town: Town) -> None:
    for fragment in (
        *("#/applications", "#/applications?list=rejected", "#/events?search=owned", f"#/queue/{FULL}"),
        *(town.app_view(HOSTILE), town.app_view("evil"), town.pod_view(ODD), town.pod_view("evil")),
    ):
        await open_view(page, town.base, fragment)
        await until_shown(page, HOSTILE)
        assert await page.ask("document.querySelectorAll('img, script:not([src])').length") == 0
        assert "owned" not in str(await page.ask("document.title")).replace(HOSTILE, "")


async def test_names_that_objects_have_members_of_are_plain_names(page: Page, town: Town) -> None:
    """A pod, a label, a queue and a view are named as a member of every object of JavaScript."""
    assert f"{town.namespace}/{ODD}" in await open_view(page, town.base, town.pod_view(ODD))
    for fragment, wanted in (
        (f"#/{ODD}", "There is no view of this name"),
        ("#/toString", "There is no view of this name"),
        (f"#/queue/{ODD}", "Queue not found"),
        (f"#/applications?list={ODD}&state={ODD}&sort={ODD}", "No application matches"),
        (f"#/queues?resource={ODD}", FULL),
        (f"#/why/{town.namespace}/{ODD}?of={ODD}", "1 is short"),
    ):
        await open_view(page, town.base, fragment)
        await until_shown(page, wanted)


async def test_what_happens_is_shown_without_a_reload(page: Page, town: Town) -> None:
    await open_view(page, town.base, "#/applications?search=brand-new")
    await until_shown(page, "old, live")
    await town.cluster.create_pod("newcomer", queue="root.hold", app="brand-new", cpu="100m")
    await until_shown(page, "1 of ")
    await until_shown(page, "Running")
    await open_view(page, town.base, "#/events?search=brand-new")
    await until_shown(page, "accepted")
    await open_view(page, town.base, "#/applications?search=brand-new")
    await town.cluster.delete_pod("newcomer")
    await until_shown(page, "Completing")


async def test_the_address_holds_the_state_of_a_view(page: Page, town: Town) -> None:
    shown = await open_view(page, town.base, "#/queues?search=contest&resource=pods")
    assert "root.contest.rich" in shown
    assert FULL not in shown
    assert await page.ask("document.querySelector('select').value") == "pods"
    await type_into(page, "input[type=search]", "full")
    await until_shown(page, FULL)
    assert await page.ask("location.hash") == "#/queues?search=full&resource=pods"


async def test_another_document_is_checked_and_compared(page: Page, town: Town) -> None:
    await open_view(page, town.base, "#/configuration")
    changed = yaml.safe_dump(document_of({**QUEUES, FULL: {"resources": {"max": {"vcore": "5"}}}}))
    for given, wanted in (("partitions: 7", "Refused"), (changed, "Would be accepted")):
        await type_into(page, "textarea", given)
        await page.click("main form button")
        await until_shown(page, wanted)
    await until_shown(page, "full.resources.max.vcore")


async def test_the_whole_way_to_the_reason_by_keyboard_alone(page: Page, town: Town) -> None:
    await open_view(page, town.base, "#/overview")
    await page.ask("document.activeElement.blur()")
    for wanted, view in (
        ("Queues", "#/queues"),
        (FULL, "#/queue/"),
        (f"{town.namespace}/{ODD}", "#/why/"),
    ):
        await tab_to(page, wanted)
        assert await page.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        await page.press("Enter")
        await page.until(f"location.hash.startsWith({view!r}) && document.documentElement.dataset.ready")
        await page.until("document.activeElement.tagName === 'H1'")
    await until_shown(page, "1 is short")
    await until_shown(page, "Goes first")


async def test_what_is_not_there_is_said(page: Page, town: Town) -> None:
    for fragment, wanted in (
        ("#/queue/root.none", "Queue not found"),
        ("#/why/default/none", "no such pod is known"),
        ("#/application/default/none", "Application not found"),
        ("#/node/none", "Node not found"),
    ):
        await open_view(page, town.base, fragment)
        await until_shown(page, wanted)
