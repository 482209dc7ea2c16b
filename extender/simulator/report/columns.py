"""Text in aligned columns, and colour. Nothing is cut: text that does not fit its column continues below."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from textwrap import TextWrapper
from typing import Final, NamedTuple

GAP: Final = "  "

COLOURS: Final = {
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "dim": "2",
    "bold": "1",
}
"""Colours that ``painted`` takes, with the number of each in a terminal."""


class _Wrapper(TextWrapper):
    """A wrapper that breaks a name after a dot or a hyphen before a letter, so that no number is torn."""

    wordsep_re = re.compile(r"(\s+|[^\s.-]*[.-]+(?=[^\W\d]))")


class Cell(NamedTuple):
    """Text of one column in one row."""

    #: Text to show.
    text: str
    #: Name from `COLOURS`, or empty.
    colour: str = ""
    #: True if the text stands at the right edge of its column.
    right: bool = False


def painted(text: str, colour: str) -> str:
    """``text`` in a colour, for a terminal; unchanged for an empty colour or text."""
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if colour and text else text


def row(cells: Sequence[Cell], widths: Sequence[int], *, colour: bool) -> Iterator[str]:
    """The lines of one row: one if every cell fits its column, else more. No line ends in a blank."""
    parts = [_lines(cell.text, width) for cell, width in zip(cells, widths, strict=True)]
    for pieces in zip_longest(*parts, fillvalue=""):
        yield _line(cells, pieces, widths, colour=colour)


def _line(cells: Sequence[Cell], pieces: Sequence[str], widths: Sequence[int], *, colour: bool) -> str:
    last = max((place for place, piece in enumerate(pieces) if piece), default=-1)
    placed = [
        _placed(piece, width, cell, colour=colour, is_last=place == last)
        for place, (cell, piece, width) in enumerate(zip(cells, pieces, widths, strict=True))
    ]
    return GAP.join(placed[: last + 1])


def _placed(piece: str, width: int, cell: Cell, *, colour: bool, is_last: bool) -> str:
    blanks = " " * (width - len(piece))
    shown = painted(piece, cell.colour) if colour else piece
    if cell.right:
        return blanks + shown
    return shown if is_last else shown + blanks


@lru_cache(maxsize=4096)
def _lines(text: str, width: int) -> tuple[str, ...]:
    if len(text) <= width:
        return (text,)
    indent = text[: len(text) - len(text.lstrip())]
    wrapper = _Wrapper(width, initial_indent=indent, subsequent_indent=indent)
    return tuple(wrapper.wrap(text.lstrip()))
