"""Figures of the house: ``python -m tests.architecture.figures [ROOT] [--moved FILE]``.

``ROOT``: the tree to measure, this one if left out; the tables are always those of this tree. ``--moved``:
lines of an old and a new module name, for a tree from before its modules were moved into folders.
"""

import argparse
import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tests.architecture.folders import (
    LEDGER,
    MOST_MODULES,
    by_package,
    floors,
    imports_between,
    unit_of,
    upward_imports,
    widths,
)
from tests.architecture.ownership import writers
from tests.architecture.reading.classes import Index, arguments_of
from tests.architecture.reading.sources import ROOT, Source, sources
from tests.architecture.tables import Ownership, Tables, tables


def figures(read: Iterable[Source], held: Tables, moved: Mapping[str, str]) -> Iterator[str]:
    """The lines of the report."""
    modules = list(read)
    product = [each for each in modules if each.package.partition(".")[0] in ("core", "extender")]
    index = Index(product)
    rules = located(held.ownership, index)
    yield from _of_folders(modules)
    yield from _of_imports(product, held, moved)
    yield from _of_fields(writers(product, rules), rules)
    yield from _of_settle(index)
    yield from _of_functions(index, rules.records["state"])
    yield "lines by package:"
    yield from (f"  {package}: {lines}" for package, lines in by_package(modules).items())


def located(rules: Ownership, index: Index) -> Ownership:
    """The rules for a tree in which the record classes may be in other modules."""
    records = {name: _nearest(cls, index) for name, cls in rules.records.items()}
    caches = [cache.rpartition(".") for cache in rules.caches]
    found = tuple(f"{_nearest(cls, index)}.{name}" for cls, _, name in caches)
    return replace(rules, records=records, caches=found)


def _nearest(cls: str, index: Index) -> str:
    """The class of that name whose path shares the longest suffix."""
    wanted = cls.split(".")

    def likeness(other: str) -> tuple[bool, int, str]:
        parts = other.split(".")
        return parts[-1] == wanted[-1], len(set(parts) & set(wanted)), other

    return max(index.classes, key=likeness)


def _of_folders(modules: Iterable[Source]) -> Iterator[str]:
    found = widths(modules)
    yield f"folders: {len(found)}, wider than {MOST_MODULES}: {sum(n > MOST_MODULES for n in found.values())}"
    yield "modules by folder:"
    yield from (f"  {folder}: {width}" for folder, width in found.items())


def _of_imports(product: Iterable[Source], held: Tables, moved: Mapping[str, str]) -> Iterator[str]:
    imports = imports_between(product)
    rows = held.folders.may_import
    renamed = {
        moved.get(module, module): {moved.get(other, other) for other in others}
        for module, others in imports.items()
    }
    upward = upward_imports(renamed, rows)
    pairs = {(unit_of(module, rows), unit_of(other, rows)) for module, other in upward}
    yield f"modules in {LEDGER}: {len(imports)}, on {floors(imports)} floors"
    yield f"upward imports in {LEDGER}: {len(upward)}, between {len(pairs)} pairs of rows"


def _of_fields(by_field: Mapping[str, set[str]], rules: Ownership) -> Iterator[str]:
    for record, cls in rules.records.items():
        mine = {path: modules for path, modules in by_field.items() if path.partition(".")[0] == record}
        histogram = Counter(len(modules) for modules in mine.values())
        shown = ", ".join(f"{count} by {number}" for number, count in sorted(histogram.items()))
        yield f"fields of {cls}: {len(mine)}; fields by number of writer modules: {shown}"
        most = sorted(mine.items(), key=lambda each: (-len(each[1]), each[0]))[:5]
        yield f"  most writers: {', '.join(f'{path} {len(modules)}' for path, modules in most)}"


def _of_settle(index: Index) -> Iterator[str]:
    found = Counter(
        module.source.module
        for module in index.modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and _is_settle(index.dotted(node.func, module), index)
    )
    yield f"calls of settle: {sum(found.values())} in {len(found)} modules"


def _is_settle(name: str, index: Index) -> bool:
    return name.startswith(f"{LEDGER}.") and name.endswith(".settle") and name in index.functions


def _of_functions(index: Index, state: str) -> Iterator[str]:
    free = [info for name, info in index.functions.items() if name.startswith(f"{LEDGER}.")]
    whole = sum(
        any(
            index.kind(argument.annotation, info.module).name == state for argument in arguments_of(info.tree)
        )
        for info in free
    )
    yield f"free functions in {LEDGER}: {len(free)}, with the whole state as an argument: {whole}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Figures of the house")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--moved", type=Path)
    options = parser.parse_args()
    lines = options.moved.read_text().splitlines() if options.moved is not None else []
    moved = dict(line.split() for line in lines if line.strip() and not line.startswith("#"))
    for line in figures(sources(options.root), tables(), moved):
        print(line)


if __name__ == "__main__":
    main()
