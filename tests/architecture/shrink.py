"""Remove exceptions that are no longer needed from the tables (`python -m tests.architecture.shrink`)."""

import re
from collections.abc import Iterable

from tests.architecture.folders import folder_faults, name_faults, width_faults
from tests.architecture.ownership import ownership_faults
from tests.architecture.reading.sources import sources
from tests.architecture.tables import TABLES, tables


def house_faults() -> list[str]:
    """Faults that the guards with a table find in the code base."""
    read, held = sources(), tables()
    product = [each for each in read if each.package.partition(".")[0] in ("core", "extender")]
    return [
        *ownership_faults(product, held.ownership),
        *folder_faults(product, held.folders),
        *width_faults(read, held.wide),
        *name_faults(
            (each.module for each in read), held.banned, held.misnamed, other_meanings=held.other_meanings
        ),
    ]


def shrunk(text: str, faults: Iterable[str]) -> str:
    """The tables without the rows that faults name as unneeded. Nothing is ever added."""
    found = [re.match(r"take out the (exception|width of) ([^:]+):", fault) for fault in faults]
    starts = {f'"{each[2]}"' for each in found if each is not None}
    left = (line for line in text.splitlines(keepends=True) if not _begins_with(line.strip(), starts))
    return "".join(left)


def _begins_with(line: str, starts: set[str]) -> bool:
    return line.removesuffix(",") in starts or bool(
        (row := re.match(r'("[^"]+") = \d+$', line)) and row[1] in starts
    )


if __name__ == "__main__":
    before = TABLES.read_text()
    TABLES.write_text(shrunk(before, house_faults()))
