"""Questions to the page in a browser: views opened, texts read, breaches of accessibility found."""

import json
from pathlib import Path
from typing import Any

from e2e.programs.browser import Page

AXE = Path(__file__).parents[2] / "tools" / "axe" / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

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
