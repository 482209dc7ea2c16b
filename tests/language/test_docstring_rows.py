"""Exceptions of files from ruff's rules for docstrings in `pyproject.toml` must be needed."""

import json
import subprocess
import sys
import tomllib

import pytest

from tests.architecture.reading.sources import ROOT


def rows_of(text: str) -> dict[str, set[str]]:
    """Ignored rules of docstrings by file, without whole folders."""
    ignores = tomllib.loads(text)["tool"]["ruff"]["lint"]["per-file-ignores"]
    docstring_rules = {
        path: {each for each in rules if each.startswith("D")} for path, rules in ignores.items()
    }
    return {path: rules for path, rules in docstring_rules.items() if rules and "*" not in path}


def broken(paths: list[str]) -> dict[str, set[str]]:
    """Rules of docstrings that files break, whatever `pyproject.toml` ignores in them."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=json"]
    done = subprocess.run(
        [*command, "--config", "lint.per-file-ignores = {}", *paths], cwd=ROOT, capture_output=True, text=True
    )
    found: dict[str, set[str]] = {}
    for each in json.loads(done.stdout):
        path = each["filename"].removeprefix(f"{ROOT}/")
        if each["code"].startswith("D"):
            found.setdefault(path, set()).add(each["code"])
    return found


def test_every_row_is_needed() -> None:
    rows = rows_of((ROOT / "pyproject.toml").read_text())
    assert rows == (broken(sorted(rows)) if rows else {})


def test_a_missing_docstring_is_found() -> None:
    path = "tests/language/test_docstring_rows.py"
    assert "D103" in broken([path])[path]


@pytest.mark.parametrize(("path", "rows"), [("a.py", {"a.py": {"D102"}}), ("a/**", {})])
def test_only_rows_of_files_count(path: str, rows: dict[str, set[str]]) -> None:
    text = f'[tool.ruff.lint.per-file-ignores]\n"{path}" = ["D102", "S101"]\n"b.py" = ["S101"]\n'
    assert rows_of(text) == rows
