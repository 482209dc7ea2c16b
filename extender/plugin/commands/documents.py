"""The queue document: in force, checked, and compared."""

import difflib
import json
from pathlib import Path
from typing import Annotated

import typer

from extender.plugin.asked import Asked
from extender.plugin.outcome import FAILED, OK, WAITS, Problem
from extender.plugin.printing import Result, plain_lines
from extender.plugin.reaching import Server, note

FileOption = Annotated[
    str, typer.Option("-f", "--filename", help="queues.yaml, or - for the standard input.")
]


def config(server: Server, asked: Asked) -> Result:
    """Show the document and the settings in force."""
    found = server.get("/ws/v1/config")
    found = {key: found[key] for key in sorted(found)}
    lines: list[str] = [f"Checksum: {found.get('Checksum', '')}"]
    lines += json.dumps(found, indent=2).splitlines()
    return Result("Config", [found], ["config/default"], [*lines], single=True)


def check(server: Server, asked: Asked, filename: FileOption) -> int:
    """Ask the server for its verdict on a document. Status 3 if it would be refused."""
    verdict = server.post("/ws/v1/validate-conf", read(filename))
    if verdict.get("allowed"):
        print("The document is accepted.")
        return OK
    print(plain_lines(str(verdict.get("reason", "The document is refused."))))
    return WAITS


def diff(
    server: Server,
    asked: Asked,
    filename: FileOption,
    against: Annotated[
        str, typer.Option("--against", help="Document to compare with, instead of the one in force.")
    ] = "",
) -> int:
    """Compare a document's queues with those in force. Status 3 if the document would be refused.

    With --against no server is asked, and none gives a verdict: `paddock check` does without one.
    """
    code = OK if against else check(server, asked, filename)
    try:
        after = _flat(_partitions(read(filename).decode()))
        before = _flat(
            _partitions(read(against).decode())
            if against
            else server.get("/ws/v1/config").get("Partitions") or []
        )
    except ImportError:
        note("the comparison needs PyYAML, which the wheel brings")
        return code or FAILED
    for line in difflib.unified_diff(before, after, against or "in force", filename, lineterm="", n=1):
        print(plain_lines(line))
    return code


def read(filename: str) -> bytes:
    """Contents of a file, or of the standard input for ``-``. Raises `Problem`."""
    import sys

    try:
        return sys.stdin.buffer.read() if filename == "-" else Path(filename).read_bytes()
    except OSError as error:
        raise Problem(f"{filename}: {error.strerror}", FAILED) from None


def _partitions(text: str) -> list[dict[str, object]]:
    import yaml

    found = yaml.safe_load(text) or {}
    return list(found.get("partitions") or [])


def _flat(partitions: list[dict[str, object]]) -> list[str]:
    """A line for each fact about each queue, whatever the letter case of the keys."""
    lines: list[str] = []
    for partition in partitions:
        _add(lines, "", {str(key).lower().replace("_", ""): each for key, each in partition.items()})
    return sorted(lines)


def _add(lines: list[str], path: str, value: object) -> None:
    if isinstance(value, dict):
        for key, each in value.items():
            name = str(key).lower()
            _add(lines, f"{path}.{name}" if path else name, each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            named = each.get("name", each.get("Name")) if isinstance(each, dict) else None
            _add(lines, f"{path}[{named or number}]", each)
    elif value not in (None, "", 0, False):
        lines.append(f"{path}: {value}")
