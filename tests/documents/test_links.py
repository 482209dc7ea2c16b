"""Links inside the documents lead to a page, and to a heading of it, that exist."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.reading.sources import ROOT

DOCUMENTS = ROOT / "docs"

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page, as GitHub and mkdocs name them."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(text)}


def broken(page: Path) -> Iterator[str]:
    """Links of a page that lead nowhere. Links to other hosts are not followed."""
    for link in _LINK.findall(_CODE.sub("", page.read_text())):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if "://" not in link and (
            not target.exists() or (anchor and anchor not in anchors(target.read_text()))
        ):
            yield f"{page.relative_to(page.parents[1])}: {link}"


def test_every_link_leads_somewhere() -> None:
    assert [each for page in sorted(DOCUMENTS.rglob("*.md")) for each in broken(page)] == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# Title\n\n### QUO-3\n")
    page = tmp_path / "a.md"
    page.write_text("[a](b.md#quo-3) [b](b.md#quo-4) [c](c.md) [d](https://example.com/x#y) `[e](e.md)`\n")
    assert [each.rpartition(" ")[2] for each in broken(page)] == ["b.md#quo-4", "c.md"]
