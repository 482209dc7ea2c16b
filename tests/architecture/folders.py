"""Rows of the ledger's folders (house, goal 9), the width of a folder and the names of modules (goal 8)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from tests.architecture.reading.sources import Source, every_import, parsed
from tests.architecture.tables import Folders

LEDGER = "core.ledger"

MOST_MODULES = 14
"""Modules in one folder, its `__init__` not counted."""


# -- imports -------------------------------------------------------------------------------------------------


def imports_between(sources: Iterable[Source], package: str = LEDGER) -> dict[str, set[str]]:
    """The modules below ``package`` that each module below it imports."""
    inside = [each for each in sources if each.module == package or each.module.startswith(f"{package}.")]
    modules = {each.module for each in inside}
    found: dict[str, set[str]] = {}
    for each in inside:
        names = every_import(parsed(each))
        homes = {name if name in modules else name.rpartition(".")[0] for name in names}
        found[each.module] = (homes & modules) - {each.module}
    return found


def unit_of(module: str, rows: Mapping[str, Sequence[str]]) -> str | None:
    """The longest row that a module belongs to."""
    while module:
        if module in rows:
            return module
        module = module.rpartition(".")[0]
    return None


def upward_imports(
    imports: Mapping[str, Iterable[str]], rows: Mapping[str, Sequence[str]]
) -> set[tuple[str, str]]:
    """Imports inside the ledger that no row allows."""
    return {
        (module, other)
        for module, others in imports.items()
        for other in others
        if (unit := unit_of(module, rows)) is not None
        and (target := unit_of(other, rows)) is not None
        and target != unit
        and target not in rows[unit]
    }


def folder_faults(sources: Iterable[Source], rules: Folders) -> list[str]:
    """Imports against the rows, missing or outdated rows, and a cycle in the rows."""
    read = list(sources)
    rows = rules.may_import
    modules = {each.module for each in read if each.module.startswith(f"{LEDGER}.")}
    homes = {module: unit_of(module, rows) for module in modules}
    upward = upward_imports(imports_between(read), rows)
    return [
        *(f"{module} has no row" for module in sorted(modules) if homes[module] is None),
        *(f"take out the row {row}: no such module" for row in rows if row not in homes.values()),
        *(
            f"{row} may import {other}, which has no row"
            for row in rows
            for other in rows[row]
            if other not in rows
        ),
        *(f"{row} may import itself, through its rows" for row in rows if row in _below(row, rows)),
        *(
            f"{module} imports {other} against the rows"
            for module, other in sorted(upward - rules.exceptions)
        ),
        *(
            f"take out the exception {module} {other}: it is not needed any more"
            for module, other in sorted(rules.exceptions - upward)
        ),
    ]


def _below(row: str, rows: Mapping[str, Sequence[str]]) -> set[str]:
    """All rows that are reachable from one."""
    found: set[str] = set()
    left = list(rows[row])
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left += rows.get(each, ())
    return found


def floors(imports: Mapping[str, Iterable[str]]) -> int:
    """Number of modules on the longest chain of imports. Modules in a cycle count as one."""
    reach = {module: _reach(module, imports) for module in imports}
    circle = {m: frozenset({m} | {o for o in reach[m] if m in reach[o]}) for m in imports}

    @cache
    def height(group: frozenset[str]) -> int:
        below = {circle[other] for module in group for other in imports[module]} - {group}
        return 1 + max((height(each) for each in below), default=0)

    return max((height(each) for each in circle.values()), default=0)


def _reach(module: str, imports: Mapping[str, Iterable[str]]) -> set[str]:
    found: set[str] = set()
    left = list(imports[module])
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left += imports[each]
    return found


# -- width and names -----------------------------------------------------------------------------------------


def widths(sources: Iterable[Source]) -> dict[str, int]:
    """The number of modules in each folder."""
    return dict(sorted(Counter(each.package for each in sources if not each.is_package).items()))


def width_faults(sources: Iterable[Source], wide: Mapping[str, int]) -> list[str]:
    """Folders with too many modules. ``wide``: today's number for those that are too wide."""
    found = widths(sources)
    return [
        *(
            f"{folder} has {width} modules, at most {wide.get(folder, MOST_MODULES)} are allowed"
            for folder, width in found.items()
            if width > wide.get(folder, MOST_MODULES)
        ),
        *(
            f"take out the width of {folder}: it has {found.get(folder, 0)} modules"
            for folder in wide
            if found.get(folder, 0) <= MOST_MODULES
        ),
    ]


def name_faults(
    modules: Iterable[str],
    banned: Iterable[str],
    misnamed: Iterable[str] = (),
    *,
    other_meanings: Iterable[str] = (),
) -> list[str]:
    """Modules and folders whose names contain a banned word."""
    listed, meanings = tuple(banned), tuple(other_meanings)
    found = {
        place: word
        for place in _places(modules)
        if (word := banned_word(place.rpartition(".")[2], listed, meanings))
    }
    return [
        *(f"{place} has {found[place]!r} in its name" for place in sorted(found.keys() - set(misnamed))),
        *(
            f"take out the exception {each}: it is not needed any more"
            for each in sorted(set(misnamed) - found.keys())
        ),
    ]


def banned_word(name: str, banned: Sequence[str], other_meanings: Sequence[str]) -> str | None:
    """The first banned word or phrase in a name in snake case, or None."""
    name = f"_{name}_"
    for phrase in other_meanings:
        name = name.replace(f"_{phrase}_", "_")
    return next((word for word in banned if f"_{word}_" in name), None)


def _places(modules: Iterable[str]) -> set[str]:
    """The modules with the folders that they are in."""
    found: set[str] = set()
    for module in modules:
        while module:
            found.add(module)
            module = module.rpartition(".")[0]
    return found


def by_package(sources: Iterable[Source]) -> dict[str, int]:
    """Lines of each package on the first two levels."""
    found: dict[str, int] = defaultdict(int)
    for each in sources:
        parts = each.package.split(".")
        for depth in (1, 2):
            if len(parts) >= depth:
                found[".".join(parts[:depth])] += len(each.text.splitlines())
    return dict(sorted(found.items()))
