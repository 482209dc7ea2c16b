"""Present and recorded lines of an interface, and the changes that may be recorded."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

GOLDEN = Path(__file__).parent / "golden"
GROWING = ("scenario-format",)
"""Kinds with a line ``PLACE: VALUE, VALUE`` for each place, where another value breaks nothing."""


class Difference(NamedTuple):
    """Recorded lines that are removed, and lines that are new. A line that moved is in both."""

    removed: list[str]
    new: list[str]

    def __bool__(self) -> bool:
        return bool(self.removed or self.new)

    def __str__(self) -> str:
        return "\n".join([*(f"- {line}" for line in self.removed), *(f"+ {line}" for line in self.new)])


class Breaking(Exception):
    """Error for a recorded line that was removed or changed."""


def difference(recorded: Sequence[str], now: Sequence[str]) -> Difference:
    """Compare exactly, the order included."""
    removed: list[str] = []
    new: list[str] = []
    for tag, begin, end, other_begin, other_end in SequenceMatcher(
        None, recorded, now, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            removed += recorded[begin:end]
            new += now[other_begin:other_end]
    return Difference(removed, new)


def recorded_lines(kind: str, folder: Path = GOLDEN) -> list[str]:
    """Lines of a kind's file; none for a kind that was never recorded."""
    path = folder / f"{kind}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def record(kind: str, now: Sequence[str], *, drop: bool = False, folder: Path = GOLDEN) -> Difference:
    """Write a kind's file, and return its changes.

    ``drop``: lines may go or change. Raises `Breaking` for such a change without it, and writes nothing.
    A line of a kind in `GROWING` may list further values.
    """
    found = difference(recorded_lines(kind, folder), now)
    if not drop and not all(kind in GROWING and _has_grown(line, found.new) for line in found.removed):
        raise Breaking(f"{kind}: a new name comes beside an old one, never instead\n{found}")
    (folder / f"{kind}.txt").write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    return found


def _has_grown(line: str, new: Sequence[str]) -> bool:
    """True if a new line has the same place, all values of ``line``, and more of them."""
    place, colon, values = line.partition(": ")
    others = [each.removeprefix(place + colon) for each in new if each.startswith(place + colon)]
    return bool(colon) and any({*values.split(", ")} < {*each.split(", ")} for each in others)
