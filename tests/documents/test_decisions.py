"""Every decision has its four parts, and the index lists each once, by number and title."""

import re
from pathlib import Path

from tests.architecture.reading.sources import ROOT

DECISIONS = ROOT / "docs" / "decisions"
PARTS = ["Context", "Decision", "Rejected", "Revisit when"]

_ROW = re.compile(r"^\| (\d{4}) \| \[([^]]+)\]\(([^)]+)\) \|$", re.MULTILINE)
_TITLE = re.compile(r"^# (\d{4})\. (.+)$", re.MULTILINE)


def decisions(folder: Path = DECISIONS) -> list[Path]:
    return sorted(path for path in folder.glob("*.md") if path.name != "README.md")


def faults(path: Path) -> list[str]:
    """Differences of one file from the form of a decision."""
    text = path.read_text()
    titles = _TITLE.findall(text)
    found = [] if re.findall(r"^## (.+)$", text, re.MULTILINE) == PARTS else ["parts"]
    numbered = len(titles) == 1 and text.startswith("# ") and path.name.startswith(f"{titles[0][0]}-")
    empty = re.search(r"^## .+\n+(?=## |\Z)", text, re.MULTILINE)
    return [*found, *([] if numbered else ["title"]), *(["empty part"] if empty else [])]


def test_every_decision_has_its_parts() -> None:
    assert {path.name: faults(path) for path in decisions() if faults(path)} == {}


def test_the_index_lists_every_decision() -> None:
    rows = _ROW.findall((DECISIONS / "README.md").read_text())
    files = [(*_TITLE.findall(path.read_text())[0], path.name) for path in decisions()]
    assert rows == files


def test_numbers_have_no_gap() -> None:
    assert [int(path.name[:4]) for path in decisions()] == list(range(1, len(decisions()) + 1))


def test_a_decision_without_its_parts_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "0001-planted.md"
    planted.write_text("# 0002. Planted\n\n## Context\n\n## Decision\n\nIt is so.\n")
    assert faults(planted) == ["parts", "title", "empty part"]
