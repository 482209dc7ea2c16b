"""The product as modules and syntax trees. No module is named here, so modules can be moved."""

import ast
import importlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("core", "extender")


class Part(NamedTuple):
    """A module of the product, imported and as a tree."""

    module: ModuleType
    tree: ast.Module


def source_of(path: Path) -> str:
    """Text of a file of the product. Tests plant changes here."""
    return path.read_text(encoding="utf-8")


def parts() -> tuple[Part, ...]:
    """Every module of the product, by path."""
    return _parts(source_of)


@lru_cache(maxsize=2)
def _parts(read: Callable[[Path], str]) -> tuple[Part, ...]:
    """Modules, imported and parsed once for each way to read the files."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            found.append(Part(importlib.import_module(name), _tree(read(path))))
    return tuple(found)


def class_named(name: str) -> type:
    """The one class of that name. Raises LookupError if there is none, or more than one."""
    found = {
        made
        for module, _ in parts()
        if isinstance(made := vars(module).get(name), type) and made.__module__ == module.__name__
    }
    if len(found) != 1:
        raise LookupError(f"{len(found)} classes are named {name}")
    return found.pop()


@lru_cache(maxsize=2000)
def _tree(source: str) -> ast.Module:
    return ast.parse(source)
