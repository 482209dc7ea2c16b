"""Questions to the page in a browser: views opened, texts read, breaches of accessibility found."""

import json
from pathlib import Path
from typing import Any

from e2e.programs.browser import Page

AXE = Path(__file__).parents[2] / "tools" / "axe" / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

MOST_TABS = 120

# What the policy stops is told by an event, which has to be listened for before anything runs.
COUNT_BREACHES = """
window.breaches = [];
addEventListener('securitypolicyviolation', (event) => {
  breaches.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


async def begin(page: Page, *, dark: bool = False, width: int = 1280, height: int = 900) -> None:
    """Prepare a page before it is loaded."""
    await page.call("Page.addScriptToEvaluateOnNewDocument", source=COUNT_BREACHES)
    await page.resize(width, height)
    await scheme(page, dark=dark)


async def scheme(page: Page, *, dark: bool) -> None:
    wanted = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    await page.call("Emulation.setEmulatedMedia", features=[wanted])


async def open_view(page: Page, base: str, fragment: str) -> str:
    """Open a view by its address, and wait for its data; its text."""
    if await page.ask("location.href.split('#')[0]") != base:
        await page.call("Page.navigate", url=f"{base}{fragment}")
    else:
        await page.ask(f"location.hash = {json.dumps(fragment)}")
    name = fragment.removeprefix("#/").split("?")[0]
    await page.until(
        f"((name) => decodeURIComponent(location.hash).startsWith('#/' + name)"
        " && (document.documentElement?.dataset.ready ?? '').startsWith(name))"
        f"(decodeURIComponent({json.dumps(name)}))"
    )
    await page.frame()
    return await text(page)


async def text(page: Page) -> str:
    return str(await page.ask("document.body.innerText"))


async def until_shown(page: Page, wanted: str) -> None:
    """Wait until the page shows a text. Fails with what it shows instead."""
    try:
        await page.until(f"document.body?.innerText.includes({json.dumps(wanted)})")
    except TimeoutError:
        raise AssertionError(f"the page does not show {wanted!r}, but:\n{await text(page)}") from None


async def type_into(page: Page, selector: str, typed: str) -> None:
    """Replace the contents of a field, as somebody does who selects all of it and types."""
    await page.ask(
        f"(() => {{ const it = document.querySelector({json.dumps(selector)}); it.focus(); it.select(); }})()"
    )
    await page.call("Input.insertText", text=typed)


async def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the element of this text, or the field of this name, has the focus."""
    for _ in range(MOST_TABS):
        await page.press("Tab")
        focused = await page.ask("[document.activeElement.textContent.trim(), document.activeElement.name]")
        if wanted in focused:
            return
    raise AssertionError(f"Tab does not reach {wanted!r}")


async def breaches(page: Page) -> list[str]:
    """Findings of axe-core in the present view, one line each."""
    if not await page.ask("typeof axe === 'object'"):
        await page.call("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    found: dict[str, Any] = await page.ask(
        f"axe.run(document, {{runOnly: {json.dumps(list(RULES))}, resultTypes: ['violations']}})"
        ".then(({violations}) => ({found: violations.map(({id, nodes}) =>"
        " `${id}: ${nodes.map((node) => node.target.join(' ') + ' ' + node.failureSummary).join('; ')}`)}))"
    )
    lines: list[str] = found["found"]
    return lines


async def is_too_wide(page: Page) -> bool:
    wide: bool = await page.ask("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return wide
