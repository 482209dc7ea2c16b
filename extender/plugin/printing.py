"""Results on the standard output: tables, JSON, YAML, names and JSONPath."""

import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from extender.plugin.asked import Asked
from extender.plugin.jsonpath import evaluated
from extender.plugin.outcome import Problem
from extender.plugin.plain import plain
from extender.plugin.reaching import note

WIDTH = 80
"""Columns of a table where no terminal says how many there are."""


@dataclass(slots=True)
class Rows:
    """A table. ``wide``: number of its last columns that only ``-o wide`` shows."""

    columns: Sequence[str]
    rows: list[Sequence[object]] = field(default_factory=list)
    wide: int = 0

    def add(self, *cells: object) -> None:
        """Add a row."""
        self.rows.append(cells)


@dataclass(slots=True)
class Result:
    """Result of a command: ``items`` for programs, ``tables`` with their titles for people."""

    kind: str
    #: Objects as the server sent them; one object if ``single``.
    items: list[Any]
    #: Names of the items, such as ``queue/root.a``.
    names: list[str]
    #: Lines and tables, in order.
    parts: list["str | Rows"]
    #: Note for an empty result.
    empty: str = ""
    single: bool = False
    #: Exit code.
    code: int = 0


def is_terminal() -> bool:
    """True if the standard output is a terminal that understands more than plain text."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def in_color(asked: Asked) -> bool:
    """True if colours are wanted and understood."""
    if asked.color == "always":
        return True
    return asked.color == "auto" and is_terminal() and not os.environ.get("NO_COLOR")


def show(result: Result, asked: Asked) -> None:
    """Print a result in the format that was asked for. Raises `Problem` for an unknown format."""
    output = asked.output
    if output.startswith("jsonpath="):
        print(plain_lines(evaluated(output.removeprefix("jsonpath="), _document(result))))
    elif output == "json":
        print(json.dumps(_document(result), indent=2))
    elif output == "yaml":
        print("\n".join(_yaml(_document(result), 0)))
    elif output == "name":
        for each in result.names:
            print(plain(each))
    elif output in ("table", "wide"):
        _show_parts(result, asked)
    else:
        raise Problem(f"-o {output} is unknown: use json, yaml, wide, name or jsonpath=…")


def plain_lines(text: str) -> str:
    """Several lines, each made harmless."""
    return "\n".join(plain(each) for each in text.split("\n"))


def _document(result: Result) -> Any:
    if result.single and result.items:
        return result.items[0]
    return {"apiVersion": "paddock/v1", "kind": f"{result.kind}List", "items": result.items}


# -- tables --------------------------------------------------------------------------------------------------


def _show_parts(result: Result, asked: Asked) -> None:
    if not result.items and result.empty:
        note(result.empty)
        return
    for each in result.parts:
        if isinstance(each, str):
            for line in _wrapped(plain(each)):
                print(line)
        else:
            _show_table(each, asked)


def _wrapped(line: str) -> Iterator[str]:
    """A line as a terminal shows it whole: broken between words. Other outputs get the line as it is."""
    if not is_terminal() or len(line) < (width := _columns()) // 2:
        yield line
        return
    from rich.console import Console
    from rich.text import Text

    text = line.lstrip(" ")
    indent = " " * min(len(line) - len(text), width // 4)
    first, *more = Text(text).wrap(Console(width=width), width - len(indent) - 2)
    yield indent + first.plain.rstrip()
    for each in more:
        yield f"{indent}  {each.plain.rstrip()}"


def _columns() -> int:
    return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH


def _show_table(table: Rows, asked: Asked) -> None:
    shown = len(table.columns) if asked.output == "wide" else len(table.columns) - table.wide
    rows = [[plain(cell) for cell in row[:shown]] for row in _sorted(table, asked)]
    print(_drawn(table.columns[:shown], rows, asked), end="")


def _sorted(table: Rows, asked: Asked) -> list[Sequence[object]]:
    if not asked.sort_by:
        return table.rows
    names = [each.lower() for each in table.columns]
    if asked.sort_by.lower() not in names:
        raise Problem(f"--sort-by: unknown column {asked.sort_by}; the columns are {', '.join(names)}")
    at = names.index(asked.sort_by.lower())
    return sorted(table.rows, key=lambda row: str(row[at]))


def _drawn(columns: Sequence[str], rows: Sequence[Sequence[str]], asked: Asked) -> str:
    """The table as text. rich is imported here, since machine-readable output does without it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    color = in_color(asked)
    # Cells are folded, since a line that is cut would hide data. Widths count East Asian cells.
    drawn = Table(
        box=None, pad_edge=False, show_header=not asked.no_headers, header_style="bold" if color else ""
    )
    for name in columns:
        # A time is read as a whole, and no tenant writes it.
        drawn.add_column(Text(name), overflow="fold", no_wrap=name == "AT")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=_width(asked),
        color_system="standard" if color else None,
        force_terminal=color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(drawn)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _width(asked: Asked) -> int:
    if is_terminal():
        return _columns()
    return WIDTH if asked.output == "table" else 10_000


# -- YAML ----------------------------------------------------------------------------------------------------


def _yaml(value: Any, depth: int) -> Iterator[str]:
    """YAML in block style. Texts and keys are quoted as in JSON, which YAML reads alike."""
    indent = "  " * depth
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _entry(f"{indent}{_key(str(key))}:", each, depth + 1)
    elif isinstance(value, list) and value:
        for each in value:
            lines = list(_yaml(each, depth + 1))
            yield f"{indent}- {lines[0].lstrip()}"
            yield from lines[1:]
    else:
        yield f"{indent}{json.dumps(value)}"


def _key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else json.dumps(name)


def _entry(head: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict | list) and value:
        yield head
        yield from _yaml(value, depth)
    else:
        yield f"{head} {json.dumps(value)}"
