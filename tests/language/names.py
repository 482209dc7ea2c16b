"""Names that a module defines, checked against the word list."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.folders import banned_word
from tests.architecture.reading.sources import Source
from tests.architecture.tables import Tables
from tests.language.breaches import Breach

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake(name: str) -> str:
    """A name in lower case, its parts joined by single underscores."""
    return re.sub(r"_+", "_", _HUMP.sub("_", name)).strip("_").lower()


def names_in(source: Source) -> set[str]:
    """Names of classes, functions, parameters, attributes and variables that a module defines."""
    return {name for node in ast.walk(ast.parse(source.text)) for name in _names_of(node)}


def _names_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.alias | ast.MatchStar | ast.MatchAs | ast.ExceptHandler):
        yield (node.asname if isinstance(node, ast.alias) else node.name) or ""


def name_breaches(source: Source, house: Tables) -> Iterator[Breach]:
    """Names of a module with a banned word in them."""
    for name in sorted(names_in(source)):
        word = banned_word(snake(name), house.banned, house.other_meanings)
        if word is not None and f"{source.module} {name}" not in house.allowed:
            yield Breach("name", source.module, name, word)


def unused_allowances(sources: list[Source], house: Tables) -> list[str]:
    """Allowed names that their modules do not have."""
    present = {f"{source.module} {name}" for source in sources for name in names_in(source)}
    return sorted(house.allowed.keys() - present)
