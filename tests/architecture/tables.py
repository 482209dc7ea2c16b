"""The tables of the guards, read from `house.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

TABLES = Path(__file__).with_name("house.toml")


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which module may write which field."""

    #: Qualified names of the record classes, by the beginning of their fields' paths.
    records: dict[str, str]
    #: Records whose fields need an owner. Writers of other records are only counted.
    owned: tuple[str, ...]
    #: Fields of other classes that a reading method may fill.
    caches: tuple[str, ...]
    #: Fields that are set when their object is created, and never written afterwards.
    constants: frozenset[str]
    #: Owner modules by field, or by a part with all of its fields.
    owners: dict[str, str]
    #: Pairs of a field and a module that writes it beside the owner.
    exceptions: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Folders:
    """Which unit of the ledger may import which. A unit is a folder or a module."""

    may_import: dict[str, tuple[str, ...]]
    #: Pairs of a module and the module that it imports against the rows.
    exceptions: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Tables:
    ownership: Ownership
    folders: Folders
    #: Modules by folder, for folders wider than allowed.
    wide: dict[str, int]
    #: Folders of tests that may read the state of a ledger.
    behind_view: tuple[str, ...]
    #: Banned words, which no name may contain.
    banned: tuple[str, ...]
    #: Phrases in which such a word means something else.
    other_meanings: tuple[str, ...]
    #: Modules and folders with such a word in their names.
    misnamed: frozenset[str]
    #: Reasons by a module and a name in it that may have such a word.
    allowed: Mapping[str, str] = field(default_factory=dict)


def tables(text: str | None = None) -> Tables:
    """The tables in ``text``, or in the file beside this module."""
    read = tomllib.loads(TABLES.read_text() if text is None else text)
    ownership, folders, names = read["ownership"], read["folders"], read["names"]
    return Tables(
        Ownership(
            ownership["records"],
            tuple(ownership["owned"]),
            tuple(ownership["caches"]),
            frozenset(ownership["constants"]),
            ownership["owners"],
            _pairs(ownership["exceptions"]),
        ),
        Folders(
            {unit: tuple(others) for unit, others in folders["may_import"].items()},
            _pairs(folders["exceptions"]),
        ),
        read["width"]["exceptions"],
        tuple(read["view"]["behind"]),
        tuple(names["banned"]),
        tuple(names["other_meanings"]),
        frozenset(names["exceptions"]),
        names["allowed"],
    )


def _pairs(lines: list[str]) -> frozenset[tuple[str, str]]:
    return frozenset((first, second) for first, _, second in (line.partition(" ") for line in lines))
