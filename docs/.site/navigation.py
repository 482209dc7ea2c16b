"""Hook of mkdocs: the sections of the site in reading order, each with the pages of its folder.

The first page of a section is its ``README.md``. The others come in the order in which it links to them.
Pages without a link follow by name.
"""

import re
from pathlib import Path
from typing import Any

SECTIONS = {
    "start": "Start here",
    "concepts": "Concepts",
    "how-to": "How to",
    "reference": "Reference",
    "specification": "Specification",
    "architecture": "Architecture",
    "decisions": "Decisions",
    "benchmarks": "Benchmarks",
}
"""Title of each folder, in the order of the site. Other folders follow under their own names."""

FIRST = "README.md"

SECURITY = "security.md"
"""Page of the site with the text of SECURITY.md."""

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([\w.-]+\.md)(?:#[\w-]*)?\)")


def on_config(config: Any) -> Any:
    """Set the navigation from the folders that exist."""
    config.nav = [*navigation(Path(config.docs_dir)), {"Security": SECURITY}]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add SECURITY.md, which is beside the documents."""
    # mkdocs is not installed where the tests run.
    from mkdocs.structure.files import File

    text = Path(config.docs_dir).with_name("SECURITY.md").read_text(encoding="utf-8")
    files.append(File.generated(config, SECURITY, content=inside(text)))
    return files


def inside(text: str) -> str:
    """The text of a file beside the documents, with its links as from among them."""
    return text.replace("](docs/", "](")


def navigation(docs: Path) -> list[Any]:
    """The home page, one entry per folder with pages, and the single pages beside them."""
    folders = sorted({page.parent.name for page in docs.glob("*/*.md")} - {".site"}, key=_place)
    sections = [
        {SECTIONS.get(name, name.capitalize()): [_entry(docs, page) for page in pages(docs / name)]}
        for name in folders
    ]
    single = [page.name for page in sorted(docs.glob("*.md")) if page.name != FIRST]
    return [{"Home": FIRST}, *sections, *single]


def pages(folder: Path) -> list[str]:
    """Pages of a folder in reading order, relative to the folder above."""
    linked = _LINK.findall((folder / FIRST).read_text()) if (folder / FIRST).exists() else []
    order = {name: place for place, name in reversed(list(enumerate([FIRST, *linked])))}
    found = sorted(folder.glob("*.md"), key=lambda page: (order.get(page.name, len(order) + 1), page.name))
    return [f"{folder.name}/{page.name}" for page in found]


def _entry(docs: Path, page: str) -> str | dict[str, str]:
    """A page under its heading. mkdocs finds none below the first line of a generated page.

    The first page of a section has no title of its own, since the section leads to it.
    """
    found = _HEADING.search((docs / page).read_text(encoding="utf-8"))
    return {found[1]: page} if found and not page.endswith(FIRST) else page


def _place(folder: str) -> tuple[int, str]:
    known = list(SECTIONS)
    return (known.index(folder) if folder in known else len(known), folder)
