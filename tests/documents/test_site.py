"""The check of the built site finds each planted breach, and the navigation has every page."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.reading.sources import ROOT
from tests.documents.site import breaches

DOCS = ROOT / "docs"


def site(folder: Path, body: str) -> Path:
    """A site of two pages, the first with the given body."""
    (folder / "index.html").write_text(f'<h1 id="top">Site</h1>{body}')
    (folder / "other.html").write_text('<h2 id="there">Other</h2>')
    (folder / "own.css").write_text("a { color: red }")
    return folder


@pytest.mark.parametrize(
    "body",
    [
        "<script src='https://cdn.example/x.js'></script>",
        "<img src='//cdn.example/x.png'>",
        "<img srcset='own.css 1x, https://cdn.example/x.png 2x'>",
        "<link rel='stylesheet' href='https://fonts.example/css'>",
        "<link rel='preconnect' href='https://fonts.example'>",
        "<style>@import 'https://fonts.example/css';</style>",
        "<p style='background: url(https://cdn.example/x.png)'></p>",
        "<iframe src='http://video.example'></iframe>",
        "<pre class='mermaid'></pre>",
        "<a href='missing.html'></a>",
        "<a href='other.html#missing'></a>",
        "<a href='#missing'></a>",
        "<a href='../outside.html'></a>",
        "<img src='missing.svg'>",
    ],
)
def test_a_breach_is_found(tmp_path: Path, body: str) -> None:
    assert len(list(breaches(site(tmp_path, body)))) == 1


@pytest.mark.parametrize("name", ["own.css", "drawn.svg"])
def test_a_breach_in_a_file_beside_the_pages_is_found(tmp_path: Path, name: str) -> None:
    site(tmp_path, "")
    (tmp_path / name).write_text("<style>a { background: url(https://cdn.example/x.png) }</style>")
    assert list(breaches(tmp_path)) != []


@pytest.mark.parametrize(
    "body",
    [
        "<a href='https://example.com/page'></a>",
        "<a href='other.html#there'></a><a href='#top'></a><a href='.'></a><a href='mailto:a@b'></a>",
        "<link rel='canonical' href='https://example.com/'><link rel='stylesheet' href='own.css'>",
        "<img src='data:image/png;base64,AA=='>",
    ],
)
def test_no_breach_is_seen_where_there_is_none(tmp_path: Path, body: str) -> None:
    assert list(breaches(site(tmp_path, body))) == []


def hook() -> Any:
    """The hook that mkdocs loads."""
    spec = importlib.util.spec_from_file_location("navigation", DOCS / ".site" / "navigation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed(entries: list[Any]) -> Iterator[tuple[str, str]]:
    """Title and page of each entry, empty for a page without a title."""
    for entry in entries:
        for title, below in entry.items() if isinstance(entry, dict) else [("", entry)]:
            yield from listed(below) if isinstance(below, list) else [(title, below)]


def test_every_page_is_in_the_navigation() -> None:
    pages = [page for _, page in listed(hook().navigation(DOCS))]
    assert sorted(pages) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_links_of_a_file_beside_the_documents_lead_among_them() -> None:
    assert hook().inside("[a](docs/a.md#b) [c](#c)") == "[a](a.md#b) [c](#c)"


def test_a_generated_page_is_listed_by_its_heading() -> None:
    titles = {page: title for title, page in listed(hook().navigation(DOCS))}
    assert titles["reference/rest.md"] == "REST interface"
    assert titles["reference/README.md"] == ""


def test_pages_come_in_the_order_of_the_links_of_their_first_page(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text("# Page\n")
    (tmp_path / "README.md").write_text("[c](c.md#x) then [a](a.md) and [c](c.md)\n")
    read = [Path(page).name for page in hook().pages(tmp_path)]
    assert read == ["README.md", "c.md", "a.md", "b.md"]
