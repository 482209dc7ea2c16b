"""Files of the page: what is served, and that nothing in them could run or fetch what it should not."""

import re
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from extender.page.files import page_files

STATIC = Path("extender/page/static")
OWN = sorted(each for each in STATIC.rglob("*.js") if "vendor" not in each.parts)
_IMPORT = re.compile(r"^import .*?from '([^']+)';|^import '([^']+)';", re.MULTILINE | re.DOTALL)

BANNED = {
    "dangerouslySetInnerHTML": "text as markup",
    "innerHTML": "text as markup",
    "outerHTML": "text as markup",
    "insertAdjacentHTML": "text as markup",
    "document.write": "text as markup",
    "eval(": "text as a script",
    "new Function": "text as a script",
    "localStorage": "what outlives the page",
    "sessionStorage": "what outlives a reload",
    "document.cookie": "what outlives the page",
    "indexedDB": "what outlives the page",
    "http://": "an address of another origin",
    "https://": "an address of another origin",
}


def found_in(text: str) -> list[str]:
    return [word for word in BANNED if word in text]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_no_script_makes_markup_of_text_or_stores_anything(path: Path) -> None:
    assert found_in(path.read_text()) == []


def test_a_planted_breach_is_found() -> None:
    assert found_in("node.innerHTML = name; localStorage.token = token") == ["innerHTML", "localStorage"]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_what_a_script_imports_is_served(path: Path) -> None:
    served = page_files()
    here = f"/page/{path.relative_to(STATIC).as_posix()}"
    assert here in served
    for one, other in _IMPORT.findall(path.read_text()):
        target = one or other
        assert target.startswith("."), target
        assert normpath(join(dirname(here), target)) in served, target


class _Addresses(HTMLParser):
    """``found``: addresses in a document; ``inline``: scripts and styles in it, and handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.found += [value for name, value in attrs if name in ("href", "src") and value]
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)


def test_the_document_names_served_files_by_relative_addresses_and_has_nothing_inline() -> None:
    parser = _Addresses()
    parser.feed(page_files()["/"].body.decode())
    assert parser.inline == []
    assert parser.found
    for address in parser.found:
        assert f"/{address}" in page_files(), address


def test_every_file_is_small_and_has_a_type() -> None:
    for path, each in page_files().items():
        assert len(each.body) < 200_000, path
        assert each.content_type
    assert sum(len(each.body) for each in page_files().values()) < 500_000
