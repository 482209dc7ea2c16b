"""Check of the built site: no page loads anything from another origin, and every link resolves.

``python -m tests.documents.site FOLDER`` prints each breach and exits with 1 if there is one.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LOADED = {"src", "srcset", "poster", "data", "action", "formaction", "background"}
"""Attributes whose addresses a browser loads, on any element."""

NOT_LOADED = {"canonical", "next", "prev", "alternate", "author", "license"}
"""Kinds of ``<link>`` that only name a page."""

SCRIPT_OF_A_CDN = "mermaid"
"""A class for which the theme loads a script from another host."""

_STYLE = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Reference(NamedTuple):
    """An address in a page. ``loaded``: the browser asks for it without a click."""

    address: str
    loaded: bool


class Page(HTMLParser):
    """Addresses, anchors and classes of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.references: list[Reference] = []
        self.anchors: set[str] = set()
        self.classes: set[str] = set()
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.classes |= set(given.get("class", "").split())
        self.references += [
            Reference(part.split()[0], loaded=True)
            for name in LOADED & given.keys()
            for part in (given[name].split(",") if name == "srcset" else [given[name]])
            if part.strip()
        ]
        self.references += _styled(given.get("style", ""))
        if "href" in given:
            link = tag in {"link", "use", "image"} and not set(given.get("rel", "").split()) & NOT_LOADED
            self.references.append(Reference(given["href"], loaded=link))

    def handle_data(self, data: str) -> None:
        if self._style:
            self.references += _styled(data)

    def handle_endtag(self, tag: str) -> None:
        self._style = False


def _styled(text: str) -> list[Reference]:
    return [Reference(first or second, loaded=True) for first, second in _STYLE.findall(text)]


def breaches(site: Path) -> Iterator[str]:
    """Every breach in a built site: requests to other origins, and links that lead nowhere."""
    read = {path.resolve(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for path, page in read.items():
        name = path.relative_to(site.resolve())
        if SCRIPT_OF_A_CDN in page.classes:
            yield f"{name}: a {SCRIPT_OF_A_CDN} diagram, whose script comes from another host"
        for reference in page.references:
            fault = _fault(reference, path, site.resolve(), read)
            if fault:
                yield f"{name}: {fault} {reference.address}"
    for path in [*sorted(site.rglob("*.css")), *sorted(site.rglob("*.svg"))]:
        text = path.read_text()
        drawn = Page(text).references if path.suffix == ".svg" else []
        for reference in [*_styled(text), *drawn]:
            if _elsewhere(reference.address):
                yield f"{path.relative_to(site)}: asks another origin for {reference.address}"


def _fault(reference: Reference, path: Path, site: Path, read: dict[Path, Page]) -> str:
    if _elsewhere(reference.address):
        return "asks another origin for" if reference.loaded else ""
    parts = urlsplit(reference.address)
    if parts.scheme:
        return ""
    wanted = unquote(parts.path)
    # The page for addresses that do not exist is served at any depth, so its links begin at the root.
    base, wanted = (site, wanted.lstrip("/")) if wanted.startswith("/") else (path.parent, wanted)
    target = base / wanted if parts.path else path
    target = target.resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site) or not target.exists():
        return "nothing is at"
    anchor = unquote(parts.fragment)
    if anchor and target in read and anchor not in read[target].anchors and not anchor.startswith("__"):
        return "no such heading:"
    return ""


def _elsewhere(address: str) -> bool:
    parts = urlsplit(address.strip())
    return bool(parts.netloc) or parts.scheme in {"http", "https", "ws", "wss", "ftp"}


if __name__ == "__main__":
    found = list(breaches(Path(sys.argv[1])))
    pages = len(list(Path(sys.argv[1]).rglob("*.html")))
    print(*found, f"{pages} pages, {len(found)} breaches", sep="\n")
    sys.exit(bool(found) or not pages)
