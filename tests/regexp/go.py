"""Verdicts of Go's regexp on patterns, from Go itself or from the record of it.

`python -m tests.regexp.go` writes the record. Without Go, or with another release of it, the record is used.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tests.regexp.corpus import TEXTS, Case, digest, lines_of, random_cases

HERE = Path(__file__).parent
RECORD = HERE / "go.json"
REFUSED = "-"
_WIDTH = 100


@dataclass(frozen=True)
class Answers:
    """All results of Go."""

    #: Go's release without its last number, such as go1.26.
    release: str
    #: Identification of the random cases.
    cases: str
    #: Verdicts per random case: `REFUSED`, or a 0 or 1 for each text.
    verdicts: Sequence[str]
    #: By the name of a category or script, whether Go accepts it, and a digest of its characters.
    sets: dict[str, tuple[bool, str]]
    #: Characters that differ only in case.
    folds: Sequence[str]


def release() -> str:
    """Release of the Go on this machine; empty without Go."""
    if shutil.which("go") is None:
        return ""
    found = re.match(r"go\d+\.\d+", _go("env", "GOVERSION"))
    return found[0] if found else ""


def verdicts_of(cases: Sequence[Case]) -> list[str]:
    return _go("run", str(HERE / "main.go"), "cases", given=lines_of(cases)).splitlines()


def asked() -> Answers:
    """Go's own answers, of the Go on this machine."""
    cases = random_cases()
    return Answers(release(), digest(cases), verdicts_of(cases), dict(_sets()), tuple(_folds()))


@cache
def recorded() -> Answers:
    given = json.loads(RECORD.read_text())
    sets = {name: (taken, characters) for name, (taken, characters) in given["sets"].items()}
    folds = tuple("".join(given["folds"]).split(" "))
    return Answers(given["release"], given["cases"], _unpacked("".join(given["verdicts"])), sets, folds)


def write(answers: Answers) -> None:
    packed = {"verdicts": _lines(_packed(answers.verdicts)), "folds": _lines(" ".join(answers.folds))}
    RECORD.write_text(json.dumps({**asdict(answers), **packed}, indent=1, ensure_ascii=False) + "\n")


def digest_of(characters: str) -> str:
    """Of a set of characters in their order. Halves of surrogate pairs do not count."""
    return hashlib.sha256("".join(sorted(characters)).encode()).hexdigest()[:12]


def characters_of(ranges: Sequence[int]) -> str:
    """Characters from each first to each last code point."""
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    return "".join(chr(code) for low, high in pairs for code in range(low, high + 1) if code >> 11 != 0x1B)


def _go(*arguments: str, given: str = "") -> str:
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": ""}
    done = subprocess.run(
        [shutil.which("go") or "go", *arguments],
        input=given,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def _sets() -> Iterator[tuple[str, tuple[bool, str]]]:
    for line in _go("run", str(HERE / "main.go"), "sets").splitlines():
        name, said, *ranges = line.split()
        yield name, (said == "taken", digest_of(characters_of([int(edge) for edge in ranges])))


def _folds() -> Iterator[str]:
    for line in _go("run", str(HERE / "main.go"), "folds").splitlines():
        yield "".join(sorted(chr(int(code)) for code in line.split()))


def _packed(verdicts: Sequence[str]) -> str:
    """Two hexadecimal digits, or two hyphens, for each verdict."""
    return "".join("--" if each == REFUSED else f"{int(each, 2):02x}" for each in verdicts)


def _unpacked(packed: str) -> list[str]:
    pairs = (packed[at : at + 2] for at in range(0, len(packed), 2))
    return [REFUSED if pair == "--" else f"{int(pair, 16):0{TEXTS}b}" for pair in pairs]


def _lines(text: str) -> list[str]:
    return [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]


if __name__ == "__main__":
    write(asked())
