"""Each field of a record class has one owner module, and no other module writes it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tests.architecture.reading.sources import Source
from tests.architecture.reading.values import Layout
from tests.architecture.reading.writes import Write, writes
from tests.architecture.tables import Ownership


def owner_of(path: str, owners: Mapping[str, str]) -> str | None:
    """The owner of a field: its own row, or that of the part it is in."""
    while path:
        if path in owners:
            return owners[path]
        path = path.rpartition(".")[0]
    return None


def ownership_faults(sources: Iterable[Source], rules: Ownership) -> list[str]:
    """Breaches of the owner table, and outdated rows of it, as one sentence each."""
    read = list(sources)
    layout, found = writes(read, rules.records, rules.caches)
    owned = [write for write in found if write.path.partition(".")[0] in rules.owned]
    foreign = [write for write in owned if owner_of(write.path, rules.owners) != write.module]
    return [
        *(
            f"{write.module}:{write.line} writes {write.path}, owned by {owner_of(write.path, rules.owners)}"
            for write in foreign
            if (write.path, write.module) not in rules.exceptions
        ),
        *_stale_exceptions(foreign, rules),
        *_row_faults(layout, {source.module for source in read}, rules),
        *_unknown_types(layout, found, rules),
        *_unwritten(layout, owned, rules),
    ]


def _stale_exceptions(foreign: Iterable[Write], rules: Ownership) -> list[str]:
    needed = {(write.path, write.module) for write in foreign}
    return [
        f"take out the exception {path} {module}: it is not needed any more"
        for path, module in sorted(rules.exceptions - needed)
    ]


def _row_faults(layout: Layout, modules: set[str], rules: Ownership) -> list[str]:
    fields = {path for path in layout.fields if path.partition(".")[0] in rules.owned}
    named = {*rules.records.values(), *(cache.rpartition(".")[0] for cache in rules.caches)}
    return [
        *(
            f"{cls} is named in the table and is no class"
            for cls in sorted(named - layout.index.classes.keys())
        ),
        *(f"{path} has no owner" for path in sorted(fields) if owner_of(path, rules.owners) is None),
        *(
            f"take out the owner of {row}: no such field"
            for row in rules.owners
            if not any(path == row or path.startswith(f"{row}.") for path in fields)
        ),
        *(
            f"{row} is owned by {owner}, which is no module"
            for row, owner in rules.owners.items()
            if owner not in modules
        ),
    ]


def _unknown_types(layout: Layout, found: Iterable[Write], rules: Ownership) -> list[str]:
    """Writes that may be to an owned field, which depends on the object's unknown type."""
    names = {path.rpartition(".")[2] for path in layout.fields if path.partition(".")[0] in rules.owned}
    return [
        f"{write.module}:{write.line} writes .{name} of an object whose type is not annotated"
        for write in found
        if write.path.startswith("?.") and (name := write.path.removeprefix("?.")) in names
    ]


def _unwritten(layout: Layout, owned: Iterable[Write], rules: Ownership) -> list[str]:
    """Fields without a known write. They are constants, or a write was missed."""
    fields = {path for path in layout.fields if path.partition(".")[0] in rules.owned}
    written = {write.path for write in owned}
    return [
        *(
            f"nothing is seen to write {path}: list it as a constant, or annotate what writes it"
            for path in sorted(fields - written - rules.constants)
        ),
        *(
            f"take out the constant {path}: it is written, or is no field"
            for path in sorted(rules.constants - (fields - written))
        ),
    ]


def writers(sources: Iterable[Source], rules: Ownership) -> dict[str, set[str]]:
    """Modules that write each field, of every record in the table; empty where none does."""
    layout, found = writes(sources, rules.records, rules.caches)
    by_field: dict[str, set[str]] = defaultdict(set, {path: set() for path in layout.fields})
    for write in found:
        if not write.path.startswith("?."):
            by_field[write.path].add(write.module)
    return dict(sorted(by_field.items()))
