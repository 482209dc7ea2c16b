"""A breach of a rule of the language, and the lists of those that are not mended yet."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

LISTS = Path(__file__).with_name("exceptions")
"""The folder of the lists. A line is a kind, a module and a name."""


class Breach(NamedTuple):
    """A place that breaks a rule. ``detail``: the word or the sentence."""

    kind: str
    module: str
    name: str
    detail: str

    @property
    def line(self) -> str:
        return f"{self.kind} {self.module} {self.name}"


def exceptions(folder: Path = LISTS) -> list[str]:
    """The lines of all lists."""
    return [line for path in sorted(folder.glob("*.txt")) for line in path.read_text().splitlines()]


def faults(found: Iterable[Breach], excepted: Iterable[str]) -> list[str]:
    """Breaches that no list excepts, and exceptions that are not needed any more."""
    breaches, lines = list(found), set(excepted)
    needed = {each.line for each in breaches}
    return [
        *sorted(f"{each.line}: {each.detail}" for each in breaches if each.line not in lines),
        *(f"take out the exception {line}: it is not needed any more" for line in sorted(lines - needed)),
    ]


def shrink(found: Iterable[Breach], folder: Path = LISTS) -> None:
    """Take the lines out of the lists that are not needed any more. Nothing is ever added."""
    needed = {each.line for each in found}
    for path in sorted(folder.glob("*.txt")):
        left = [line for line in path.read_text().splitlines() if line in needed]
        path.write_text("".join(f"{line}\n" for line in sorted(left)))
