"""Files of the web page by the paths at which a listener serves them, read once from the package."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Final

FOLDER: Final = "/page/"
"""Path below which all files are, except the page itself at ``/``."""

TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
"""Content types by suffix. Other files in the folder are not served."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file as it is served. ``tag``: its entity tag, quoted."""

    body: bytes
    content_type: str
    tag: str


@cache
def page_files() -> Mapping[str, PageFile]:
    """All files by path. ``/`` is the page."""
    found = {f"{FOLDER}{name}": _file(name, each) for name, each in sorted(_below(_folder(), ""))}
    return {"/": found.pop(f"{FOLDER}index.html"), **found}


def _folder() -> Traversable:
    return files("extender.page").joinpath("static")


def _below(folder: Traversable, before: str) -> Iterator[tuple[str, Traversable]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _below(each, f"{before}{each.name}/")
        elif PurePosixPath(each.name).suffix in TYPES:
            yield f"{before}{each.name}", each


def _file(name: str, found: Traversable) -> PageFile:
    body = found.read_bytes()
    tag = hashlib.sha256(body).hexdigest()[:32]
    return PageFile(body, TYPES[PurePosixPath(name).suffix], f'"{tag}"')
