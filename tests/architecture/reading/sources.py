"""Source files of the four packages, read once and parsed."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]

PACKAGES = ("core", "extender", "release", "tests", "e2e")


class Source(NamedTuple):
    """A module: its dotted path, its text, and whether it is the `__init__` of a package."""

    module: str
    text: str
    is_package: bool = False

    @property
    def package(self) -> str:
        return self.module if self.is_package else self.module.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A module with its syntax tree, and the qualified name behind each name that it imports."""

    source: Source
    tree: ast.Module
    imports: Mapping[str, str]


def sources(root: Path = ROOT, packages: Iterable[str] = PACKAGES) -> list[Source]:
    """Every module below ``packages``, sorted by path."""
    return [
        Source(module_of(path.relative_to(root)), path.read_text(), path.name == "__init__.py")
        for package in packages
        for path in sorted((root / package).rglob("*.py"))
    ]


def module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def parsed(source: Source) -> Parsed:
    tree = ast.parse(source.text)
    return Parsed(source, tree, imported_names(tree, source.package))


def every_import(module: Parsed) -> set[str]:
    """The dotted names that a module imports, those of ``from`` imports with the name taken."""
    plain = (node for node in ast.walk(module.tree) if isinstance(node, ast.Import))
    return {*module.imports.values(), *(alias.name for node in plain for alias in node.names)}


def imported_names(tree: ast.Module, package: str) -> dict[str, str]:
    """Qualified names by the local name, of every import in the module."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found |= {alias.asname: alias.name} if alias.asname else {top: top}
        elif isinstance(node, ast.ImportFrom):
            base = _base_of(node, package)
            found |= {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
    return found


def _base_of(node: ast.ImportFrom, package: str) -> str:
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])
