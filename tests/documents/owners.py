"""Table of owners: which module may write which part of the ledger's state.

``python -m tests.documents.owners`` writes the page from the table that the ownership guard reads.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tests.architecture.reading.classes import ClassInfo, Index
from tests.architecture.reading.sources import ROOT, sources
from tests.architecture.tables import Ownership, tables

PAGE = ROOT / "docs" / "architecture" / "owners.md"

NOTICE = "<!-- Written by `python -m tests.documents.owners`; do not edit. -->"

INTRO = """\
# Owners of the ledger's state

Each part of the state has one owner: the only module that assigns, deletes or mutates it.
A test reads the code and finds every write by another module.
The owners stand in `tests/architecture/house.toml`; the meanings are the comments above the fields.
Where a part has one row, its owner writes every field of it.
"""

TITLES: Mapping[str, str] = {
    "state": "The ledger as a whole",
    "pod": "Record of a pod",
}
"""Headings of the two records. A heading of a part is its name."""


class Row(NamedTuple):
    """A line of the table. ``path``: from the record, such as ``state.usage.charges``."""

    path: str
    meaning: str
    owner: str

    @property
    def part(self) -> str:
        """Record and part of it, which is one heading of the page."""
        return ".".join(self.path.split(".")[:2]) if self.path.count(".") > 1 else self.path.partition(".")[0]


def rows(ownership: Ownership, index: Index) -> list[Row]:
    """Every row of the table, sorted by its path."""
    return [
        Row(path, meaning_of(path, ownership.records, index), owner)
        for path, owner in sorted(ownership.owners.items())
    ]


def meaning_of(path: str, records: Mapping[str, str], index: Index) -> str:
    """Comment above the field that a path leads to."""
    record, *fields = path.split(".")
    info = index.classes[records[record]]
    for name in fields[:-1]:
        info = index.classes[info.fields[name].name]
    return comment_above(info, fields[-1])


def comment_above(info: ClassInfo, name: str) -> str:
    """Text of the ``#:`` lines above a field; empty without any."""
    lines = info.module.source.text.splitlines()
    (at,) = (
        node.lineno
        for node in info.tree.body
        if hasattr(node, "target") and getattr(node.target, "id", "") == name
    )
    found: list[str] = []
    while (line := lines[at - 2 - len(found)].strip()).startswith("#:"):
        found.insert(0, line.removeprefix("#:").strip())
    return " ".join(found)


def page(found: list[Row]) -> str:
    """Markdown of the page."""
    parts = sorted({row.part for row in found}, key=lambda part: ("." in part, part))
    return "\n".join([NOTICE, "", INTRO, *(line for part in parts for line in _section(part, found))])


def _section(part: str, found: list[Row]) -> Iterator[str]:
    yield f"## {TITLES.get(part, f'`{part}`')}"
    yield ""
    yield from ("| field | meaning | owner |", "| --- | --- | --- |")
    for row in found:
        if row.part == part:
            name = row.path.removeprefix(part).removeprefix(".")
            yield f"| `{name}` | {row.meaning.replace('|', chr(92) + '|')} | `{row.owner}` |"
    yield ""


def current() -> str:
    """The page as it should be now."""
    return page(rows(tables().ownership, Index(sources(packages=("core",)))))


if __name__ == "__main__":
    PAGE.write_text(current())
