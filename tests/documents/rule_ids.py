"""Rule ids: where they are cited, where they are written down, and the index page of the specification.

``python -m tests.documents.rule_ids`` writes the index page.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.architecture.reading.sources import ROOT

SPECIFICATION = ROOT / "docs" / "specification"
INDEX = "README.md"

CITING = (
    *("core", "extender", "tests", "e2e", "manifests", "docs/architecture", "docs/decisions"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
)
"""Folders and files of which every text may cite rules."""

TEXTS = {".py", ".yaml", ".yml", ".md", ".json", ".toml", ".txt", ".html", ".js", ".css", ".sh"}
"""Suffixes of files that are read."""

LIBRARIES = {"vendor", "axe"}
"""Folders with files of other projects."""

NO_RULES = {"UTF-8", "SHA-256", "TEAM-019", "ISO-8601", "MPL-2.0"}
"""Texts that only resemble a rule id."""

NOTICE = "<!-- Written by `python -m tests.documents.rule_ids`; do not edit. -->"

INTRO = """\
# Specification

The exact behaviour, rule by rule. Code and tests cite these rules by their ids.
Each rule is a heading, so `configuration.md#src-1` is the address of SRC-1. A dot of an id is left out there.
"""

_ID = re.compile(r"(?<![\w-])[A-Z]+-[0-9]+(?:\.[0-9]+)?(?!\w)")
_SECTION = re.compile(r"\b(?:design|contract|specification)\s+section\s+[0-9]", re.IGNORECASE)
_HEADING = re.compile(r"^#{2,4} ([A-Z]+-[0-9]+(?:\.[0-9]+)?)$", re.MULTILINE)


class Page(NamedTuple):
    """A page of the specification. ``rules``: ids of its headings, in the order of the page."""

    name: str
    title: str
    rules: tuple[str, ...]


def page_of(name: str, text: str) -> Page:
    """Title and rules of a page."""
    return Page(name, text.partition("\n")[0].removeprefix("# "), tuple(_HEADING.findall(text)))


def pages(folder: Path = SPECIFICATION) -> list[Page]:
    """Every page of the specification but the index, by name."""
    return [
        page_of(path.name, path.read_text()) for path in sorted(folder.glob("*.md")) if path.name != INDEX
    ]


def times_written(read: Iterable[Page]) -> Counter[str]:
    """Number of headings of each rule."""
    return Counter(rule for page in read for rule in page.rules)


def cited_in(text: str) -> set[str]:
    """Rule ids in a text."""
    return set(_ID.findall(text)) - NO_RULES


def citations(root: Path = ROOT) -> dict[str, list[str]]:
    """Files that cite each rule, both in order."""
    found: dict[str, list[str]] = {}
    for path, text in texts(root):
        for rule in cited_in(text):
            found.setdefault(rule, []).append(path)
    return {rule: found[rule] for rule in sorted(found, key=_order)}


def cites_a_section(text: str) -> bool:
    """True if a text cites a section by its number, which is no address of a rule."""
    return _SECTION.search(text) is not None


def texts(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Path and text of every file that may cite rules."""
    return ((str(path.relative_to(root)), path.read_text()) for path in _citing_files(root))


def _citing_files(root: Path) -> Iterator[Path]:
    for name in CITING:
        path = root / name
        yield from (
            [path]
            if path.is_file()
            else sorted(
                each
                for each in path.rglob("*")
                if each.suffix in TEXTS and LIBRARIES.isdisjoint(each.relative_to(root).parts)
            )
        )


def _order(rule: str) -> tuple[str, tuple[int, ...]]:
    chapter, _, number = rule.rpartition("-")
    return chapter, tuple(map(int, number.split(".")))


def slug(rule: str) -> str:
    """Anchor of a rule's heading in its page."""
    return rule.lower().replace(".", "")


def index(read: Iterable[Page]) -> str:
    """Markdown of the index page: the rules of each page, with links."""
    return "\n".join([NOTICE, "", INTRO, *(line for page in read for line in _entry(page))])


def _entry(page: Page) -> Iterator[str]:
    yield f"## [{page.title}]({page.name})"
    yield ""
    yield from (f"[{rule}]({page.name}#{slug(rule)})" for rule in page.rules)
    yield ""


if __name__ == "__main__":
    (SPECIFICATION / INDEX).write_text(index(pages()))
