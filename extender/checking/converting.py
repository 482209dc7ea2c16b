"""`paddock check --from`: files in, the converted document out, and notes beside it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import PaddockError
from extender.checking.arrival import arrive
from extender.checking.verdict import check_text, lines_of
from extender.queueconfig.document import MAX_BYTES


def convert_files(system: str, files: Sequence[str]) -> int:
    """Print the document on the standard output, and notes and problems on the other.

    Exit code 0: it is valid. 1: it has errors. 2: a file that cannot be read.
    """
    try:
        found = arrive(system, [_contents(file) for file in files])
    except (PaddockError, OSError) as error:
        print(f"paddock check: {error}", file=sys.stderr)
        return 2
    print(found.document, end="")
    verdict = check_text(found.document.encode(), name="converted document")
    for line in (*found.notes, *lines_of(verdict)):
        print(line, file=sys.stderr)
    return 0 if verdict.right else 1


def _contents(file: str) -> bytes:
    """Contents of a file, or slightly more than the reader of documents accepts."""
    if file == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(file).open("rb") as stream:
        return stream.read(MAX_BYTES + 1)
