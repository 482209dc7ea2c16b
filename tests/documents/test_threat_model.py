"""The threat model of SECURITY.md: a row for every known attack, and tests that exist."""

import ast
import re
from typing import NamedTuple

import pytest

from tests.architecture.reading.sources import ROOT

SECURITY = ROOT / "SECURITY.md"
ATTACKS = ROOT / "docs" / "specification" / "attacks.md"

DOORS = (
    *("another scheduler", "finalizers", "PodGroup objects", "256 KB", "gates of others"),
    *("system priority classes", "look alike", "clock stands still", "two schedulers"),
)
"""Phrases that identify the rows of F-26: one for each way in that it lists."""

NO_TEST = "none yet"
OPEN = "**open**"

_TEST = re.compile(r"`((?:tests|e2e)/[^`]+)`")
_FINDING = re.compile(r"\b(F-[0-9]+):")


class Threat(NamedTuple):
    """A row of the table."""

    asset: str
    attacker: str
    attack: str
    answer: str
    test: str

    @property
    def finding(self) -> str:
        found = _FINDING.match(self.attack)
        return found[1] if found else ""


def threats(text: str) -> list[Threat]:
    """Rows of the table below the heading "Threat model"."""
    lines = text.partition("\n## Threat model\n")[2].splitlines()
    cells = [[each.strip() for each in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [Threat(*row) for row in cells[2:]]


def missing(threat: Threat) -> list[str]:
    """Tests of a row that do not exist. A row without any names itself, unless it is open."""
    named = _TEST.findall(threat.test)
    if not named:
        return [] if (threat.test, OPEN in threat.answer) == (NO_TEST, True) else [threat.attack]
    return [each for each in named if not exists(each)]


def exists(test: str) -> bool:
    """True for a file, or for a function of it after ``::``."""
    path, _, function = test.partition("::")
    if not (ROOT / path).is_file():
        return False
    return not function or function in _functions(path)


def _functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def open_findings(text: str) -> set[str]:
    """Findings whose paragraph says that they have no complete answer."""
    parts = re.split(r"^### (F-[0-9]+)$", text, flags=re.MULTILINE)
    return {finding for finding, part in zip(parts[1::2], parts[2::2], strict=True) if "**Open" in part}


THREATS = threats(SECURITY.read_text())


def test_every_finding_has_a_row() -> None:
    findings = re.findall(r"^### (F-[0-9]+)$", ATTACKS.read_text(), re.MULTILINE)
    assert {threat.finding for threat in THREATS} - {""} == set(findings)


@pytest.mark.parametrize("door", DOORS)
def test_every_other_way_in_has_a_row(door: str) -> None:
    assert [threat.finding for threat in THREATS if door in threat.attack] == ["F-26"]


def test_the_tests_exist() -> None:
    assert [test for threat in THREATS for test in missing(threat)] == []


def test_open_rows_are_those_of_the_specification() -> None:
    unanswered = {threat.finding for threat in THREATS if OPEN in threat.answer}
    assert unanswered - {"F-26"} == open_findings(ATTACKS.read_text()) - {"F-26"}


@pytest.mark.parametrize(
    ("answer", "test", "found"),
    [
        ("It is refused.", "`tests/conftest.py::audited_ledgers`", []),
        ("It is refused.", "`tests/conftest.py::no_such_test`", ["tests/conftest.py::no_such_test"]),
        ("It is refused.", "`tests/no_such_file.py`", ["tests/no_such_file.py"]),
        ("It is refused.", "none yet", ["F-1: an attack"]),
        ("**open**", "none yet", []),
    ],
)
def test_a_test_that_does_not_exist_is_found(answer: str, test: str, found: list[str]) -> None:
    assert missing(Threat("quota", "tenant", "F-1: an attack", answer, test)) == found
