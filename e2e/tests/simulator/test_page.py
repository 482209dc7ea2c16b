"""The page of a run in a real browser: lanes, marks and reasons are shown, without errors.

Needs Chromium (Debian package ``chromium``) and fails without it.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from e2e.programs import browser
from e2e.programs.browser import NoBrowserError, Page, opened_page
from e2e.stands.stand import eventually
from extender.simulator.report.page import page_of
from extender.simulator.report.recording import Happening, Recording
from tests.extender.simulator.report.recordings import (
    five_pods,
    large,
    make_history,
    make_pod,
    make_recording,
    make_sample,
)

SIZES = [(1280, 800), (600, 900)]
HOSTILE = "</script><img src=x onerror=document.title='owned'><b>bold</b>"


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def started() -> AsyncIterator[Page]:
    async with opened_page() as page:
        yield page


@pytest_asyncio.fixture(loop_scope="session")
async def page(started: Page) -> AsyncIterator[Page]:
    """The page. At a test's end it has neither complained nor fetched anything."""
    started.complaints.clear()
    started.requests.clear()
    yield started
    assert started.complaints == []
    assert await started.ask("document.documentElement.dataset.errors") == ""
    assert [url for url in started.requests if not url.startswith(("file:", "data:"))] == []


async def show(
    page: Page, recording: Recording, folder: Path, *, width: int = 1280, height: int = 800
) -> None:
    file = folder / "page.html"
    file.write_text(page_of(recording), encoding="ascii")
    await page.show(file, width=width, height=height)


async def texts(page: Page, selector: str) -> list[str]:
    found: list[str] = await page.ask(
        f"[...document.querySelectorAll({selector!r})].map((each) => each.textContent)"
    )
    return found


async def has_sideways_scroll(page: Page) -> bool:
    wide: bool = await page.ask("document.documentElement.scrollWidth > window.innerWidth")
    return wide


async def inked_share(page: Page, selector: str) -> float:
    """The share of a canvas that is painted."""
    share: float = await page.ask(
        f"(() => {{ const canvas = document.querySelector({selector!r});"
        " const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;"
        " let inked = 0; for (let at = 3; at < pixels.length; at += 4) inked += pixels[at] > 0;"
        " return inked / (pixels.length / 4); })()"
    )
    return share


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_five_pods(page: Page, tmp_path: Path, width: int, height: int) -> None:
    await show(page, five_pods(), tmp_path, width=width, height=height)
    assert await page.ask(
        "[...document.querySelectorAll('[data-queue]')].map((each) => each.dataset.queue)"
    ) == [
        "root",
        "root.web",
        "root.batch",
    ]
    assert len(await texts(page, "[data-node]")) == 2
    (refusal,) = await texts(page, "[data-queue='root.web'] [data-marker][data-kind=refused]")
    assert "web-2, 0s" in refusal
    assert "QuotaExceeded: root.web {vcore: 2}" in refusal
    (eviction,) = await texts(page, "[data-queue='root.web'] [data-marker][data-kind=evicted]")
    assert "web-1, 12.5s: preempted on n1: for batch-1 (LAW-4)" in eviction
    for row in ("[data-queue='root.web']", "[data-node=n1]"):
        assert await inked_share(page, f"{row} canvas") > 0.2
    assert not await has_sideways_scroll(page)


@pytest.mark.parametrize(("width", "height"), SIZES)
async def test_five_thousand_pods(page: Page, tmp_path: Path, width: int, height: int) -> None:
    await show(page, large(), tmp_path, width=width, height=height)
    assert len(await texts(page, "[data-queue]")) == 200
    assert len(await texts(page, "[data-node]")) == 500
    assert 0 < len(await texts(page, "[data-marker]")) < 2000
    assert await inked_share(page, "[data-queue='root'] canvas") > 0.2
    assert not await has_sideways_scroll(page)


# Count forced layouts: an element measured after another was changed. The browser's own count of layouts
# includes its frames, whose number depends on the machine.
COUNT_FORCED_LAYOUTS = """(() => {
  const known = {changed: false, forced: 0};
  const changes = Element.prototype.replaceChildren;
  Element.prototype.replaceChildren = function (...given) {
    known.changed = true;
    return changes.apply(this, given);
  };
  for (const name of ['clientWidth', 'clientHeight']) {
    const measures = Object.getOwnPropertyDescriptor(Element.prototype, name);
    Object.defineProperty(Element.prototype, name, {...measures, get() {
      known.forced += known.changed;
      known.changed = false;
      return measures.get.call(this);
    }});
  }
  window.layouts = known;
})()"""


async def test_a_redraw_measures_the_page_once_and_not_per_row(page: Page, tmp_path: Path) -> None:
    await show(page, large(), tmp_path)
    await page.ask("document.querySelector('#nodes').scrollIntoView()")
    await page.until("document.querySelector('[data-node=node-010] .readout').textContent")
    await page.ask(COUNT_FORCED_LAYOUTS)
    before = await page.ask("document.querySelector('#range').textContent")
    await page.ask("document.querySelector('#in').click()")
    await page.until(f"document.querySelector('#range').textContent !== {before!r}")
    await page.frame()
    assert await page.ask("layouts.changed")
    assert await page.ask("layouts.forced") <= 2


async def test_a_row_far_below_is_drawn_when_it_comes_into_view(page: Page, tmp_path: Path) -> None:
    await show(page, large(), tmp_path)
    assert await page.ask("document.querySelector('[data-node=node-499] .readout').textContent") == ""
    await page.ask("document.querySelector('[data-node=node-499]').scrollIntoView()")
    text = await page.until("document.querySelector('[data-node=node-499] .readout').textContent")
    assert "of 16" in text
    assert await inked_share(page, "[data-node=node-499] canvas") > 0


async def test_a_mark_tells_its_reason_under_the_pointer_and_when_it_is_chosen(
    page: Page, tmp_path: Path
) -> None:
    await show(page, five_pods(), tmp_path)
    mark = "[data-queue='root.web'] [data-kind=refused]"
    tip = "document.querySelector('#tip:not([hidden])')?.textContent"
    assert "QuotaExceeded: root.web {vcore: 2}" in await page.point_at(mark, tip)
    await page.click(mark)
    panel = await page.until("document.querySelector('#panel .item')?.textContent")
    assert "QuotaExceeded: root.web {vcore: 2}" in panel
    assert "web-2" in panel


async def test_the_keyboard_reaches_every_mark_and_reads_its_reason(page: Page, tmp_path: Path) -> None:
    await show(page, five_pods(), tmp_path)
    await page.ask("document.querySelector('#overview').focus()")
    for _ in range(20):
        await page.press("Tab")
        if await page.ask("document.activeElement.matches('.mark')"):
            break
    seen = []
    for _ in range(6):
        seen.append(await page.ask("document.querySelector('#panel').textContent"))
        await page.press("ArrowRight")
    text = "\n".join(seen)
    for reason in (
        "QuotaExceeded: root.web",
        "for batch-1 (LAW-4)",
        "2 Insufficient memory",
        "new configuration",
    ):
        assert reason in text
    assert len(set(seen)) == 6
    await page.press("Escape")
    assert "Overview" in await page.ask("document.querySelector('#panel').textContent")


async def test_a_cluster_of_symbols_lists_its_pods(page: Page, tmp_path: Path) -> None:
    refused = tuple(
        Happening(
            number,
            "refused",
            "Code",
            pod=f"web-{number}",
            queue="root",
            why=f"Code: {number % 2}",
            code="Code",
        )
        for number in range(30)
    )
    await show(page, make_recording(timeline=refused, end=60_000, queues=(make_history("root"),)), tmp_path)
    (bunch,) = await texts(page, "[data-marker]")
    assert "30 refusals" in bunch
    await page.click("[data-marker]")
    for each in ("web-0 … web-28 (15 pods)", "web-1 … web-29 (15 pods)"):
        await page.until(f"document.querySelector('#panel').textContent.includes({each!r})")


async def test_a_click_on_a_nodes_row_shows_the_pod_there(page: Page, tmp_path: Path) -> None:
    await show(page, five_pods(), tmp_path)
    tip = "document.querySelector('#tip:not([hidden])')?.textContent"
    assert "batch-0" in await page.point_at("[data-node=n1] .plot", tip, above=15)
    x, y = await page.middle_of("[data-node=n1] .plot")
    await page.mouse("mousePressed", x, y - 15, buttons=1)
    await page.mouse("mouseReleased", x, y - 15)
    assert "placed on n1" in await page.until("document.querySelector('#panel .story')?.textContent")


async def test_the_filter_keeps_queues_that_match_and_those_above(page: Page, tmp_path: Path) -> None:
    await show(page, large(), tmp_path)
    await page.ask(
        "(() => { const box = document.querySelector('#filter'); box.value = 'TEAM-019';"
        " box.dispatchEvent(new Event('input')); })()"
    )
    shown = "[...document.querySelectorAll('[data-queue]:not([hidden])')].map((each) => each.dataset.queue)"
    assert await page.ask(shown) == ["root", "root.tenant-01", "root.tenant-01.team-019"]


async def test_a_drag_over_the_rows_shows_that_range(page: Page, tmp_path: Path) -> None:
    await show(page, five_pods(), tmp_path)
    assert await page.ask("document.querySelector('#range').textContent") == "0s – 30s"
    shown = "document.querySelector('#range').textContent.startsWith('15')"
    await page.drag("[data-queue='root.batch'] .plot", 150, shown)
    await page.click("#fit")
    await page.until("document.querySelector('#range').textContent === '0s – 30s'")


async def test_another_resource_changes_the_amounts(page: Page, tmp_path: Path) -> None:
    await show(page, five_pods(), tmp_path)
    readout = "document.querySelector('[data-queue=\"root.batch\"] .readout').textContent"
    assert await page.ask(readout) == "3 of 4"
    await page.click("[data-resource=memory]")
    await page.until(f"{readout} === '4Gi of 8Gi'")


async def test_a_hostile_recording_is_text(page: Page, tmp_path: Path) -> None:
    refusal = Happening(0, "refused", HOSTILE, pod=HOSTILE, queue=HOSTILE, why=HOSTILE, code=HOSTILE)
    recording = make_recording(
        name=HOSTILE,
        timeline=(refusal,),
        queues=(make_history(HOSTILE, make_sample(used={"vcore": 1})),),
        pods={HOSTILE: make_pod(HOSTILE), "__proto__": make_pod(HOSTILE)},
    )
    await show(page, recording, tmp_path)
    await page.click("[data-marker]")
    await page.until(f"document.querySelector('#panel').textContent.includes({HOSTILE!r})")
    assert await page.ask("document.title") == f"{HOSTILE} - Paddock simulation"
    assert await page.ask("document.querySelectorAll('img, b:not(.readout b, .gauge b)').length") == 0


async def test_resources_may_have_any_name(page: Page, tmp_path: Path) -> None:
    strange = make_sample(used={"constructor": 1, "__proto__": 2}, max={"constructor": 2})
    recording = make_recording(
        queues=(make_history("root"), make_history("root.a", strange)), nodes=five_pods().nodes
    )
    await show(page, recording, tmp_path)
    await page.click("[data-resource=constructor]")
    await page.until("document.querySelector('[data-queue=\"root.a\"] .readout').textContent === '1 of 2'")


async def test_an_empty_run_is_shown(page: Page, tmp_path: Path) -> None:
    await show(page, make_recording(), tmp_path)
    assert "No pod was refused or evicted." in await page.ask("document.querySelector('#panel').textContent")


async def test_what_a_page_complains_about_is_heard(started: Page, tmp_path: Path) -> None:
    file = tmp_path / "broken.html"
    file.write_text(
        "<meta http-equiv='Content-Security-Policy' content=\"script-src 'unsafe-inline'; img-src 'none'\">"
        "<img src='https://a.example/x.png'><script>console.error('one');"
        " document.documentElement.dataset.ready = 1; throw new Error('two')</script>"
    )
    started.complaints.clear()
    await started.show(file, width=600, height=900)

    async def heard() -> bool:
        said = "\n".join(started.complaints)
        return all(each in said for each in ("one", "two", "Content Security Policy"))

    await eventually(heard, "all three are heard")


def test_without_a_browser_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser.shutil, "which", lambda _: None)
    with pytest.raises(NoBrowserError, match="Debian package 'chromium'"):
        browser.browser_path()
