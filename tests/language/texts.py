"""Texts of the code base that people read: docstrings, comments of fields, and sections of documents."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.architecture.reading.sources import ROOT, Source

DOCUMENTS = ("*.md", "docs/**/*.md", "manifests/**/*.md", "tests/**/*.md")
"""Patterns of the Markdown files that are held to the rules."""

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)

_HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)

_NO_PROSE = re.compile(r"^(\||!\[|<|- |\* |\d+\. |\*[^*]|>|\[!)")
"""Beginnings of tables, pictures, lists and asides."""


class Text(NamedTuple):
    """A text and its place. ``module``: a dotted path, or a file; ``name``: what the text describes."""

    module: str
    name: str
    text: str


def docstrings(source: Source) -> Iterator[Text]:
    """Docstrings of a module, of its definitions, and those below an assignment, with comments of fields."""
    tree = ast.parse(source.text)
    yield from _docstrings_in(source.module, "", tree)
    yield from _field_comments(source)


def _docstrings_in(module: str, outer: str, node: ast.AST) -> Iterator[Text]:
    if isinstance(node, (ast.Module, *_DEFINITIONS)) and (text := ast.get_docstring(node)):
        yield Text(module, outer or "-", text)
    previous: ast.AST | None = None
    for each in ast.iter_child_nodes(node):
        name = f"{outer}.{each.name}" if outer and isinstance(each, _DEFINITIONS) else outer
        if isinstance(each, _DEFINITIONS):
            yield from _docstrings_in(module, name or each.name, each)
        elif _is_text(each) and (target := _target_of(previous)) is not None:
            yield Text(module, f"{outer}.{target}".lstrip("."), _clean(each))
        elif not isinstance(each, ast.expr):
            yield from _docstrings_in(module, outer, each)
        previous = each


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _clean(node: ast.AST) -> str:
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Constant)
    return "\n".join(line.strip() for line in str(node.value.value).strip().splitlines())


def _target_of(node: ast.AST | None) -> str | None:
    """The name that an assignment sets."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return targets[0].id if isinstance(targets[0], ast.Name) else None


def _field_comments(source: Source) -> Iterator[Text]:
    """Runs of ``#:`` lines, each with the name in the line below it."""
    run: list[str] = []
    for line in source.text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#:"):
            run.append(stripped[2:].strip())
        elif run:
            field = re.split(r"[^\w.]", stripped, maxsplit=1)[0]
            yield Text(source.module, f"#:{field}", "\n".join(run))
            run = []


def documents(root: Path = ROOT) -> list[Path]:
    """The Markdown files of the repository."""
    return sorted({path for pattern in DOCUMENTS for path in root.glob(pattern)})


def sections(path: str, text: str) -> Iterator[Text]:
    """The prose of each section of a page, without code, tables, lists and pictures."""
    plain = _FENCE.sub("", text)
    headings = [*_HEADING.finditer(plain)]
    ends = [*(each.start() for each in headings[1:]), len(plain)]
    for heading, end in zip(headings, ends, strict=True):
        name = re.sub(r"[^\w-]", "", heading[1].lower().replace(" ", "-"))
        yield Text(path, name, prose(plain[heading.end() : end]))


def prose(text: str) -> str:
    """The paragraphs of a text that are sentences, with an empty line between them."""
    paragraphs = (each.strip() for each in re.split(r"\n\s*\n", text))
    return "\n\n".join(each for each in paragraphs if each and not _NO_PROSE.match(each))


def every_docstring(sources: Iterable[Source]) -> Iterator[Text]:
    """The docstrings of all modules."""
    for source in sources:
        yield from docstrings(source)


def every_section(root: Path = ROOT) -> Iterator[Text]:
    """The sections of all documents."""
    for path in documents(root):
        yield from sections(path.relative_to(root).as_posix(), path.read_text())
