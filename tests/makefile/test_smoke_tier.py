"""`make e2e TIER=smoke` stands for every part of the product, each by one test (E1)."""

import ast
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = {"filter", "prioritize", "preempt", "bind", "quota", "gate", "preemption", "gang", "failover"}


def marked(source: str) -> list[str]:
    """The parts that ``pytest.mark.smoke`` names in a module."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    smoke = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "smoke"]
    return [str(ast.literal_eval(part)) for call in smoke for part in call.args]


def test_each_part_has_one_test() -> None:
    found = Counter(part for path in (ROOT / "e2e").rglob("test_*.py") for part in marked(path.read_text()))
    assert found == Counter(PARTS)


def test_the_tier_is_chosen_by_its_marker_and_the_whole_suite_is_the_default() -> None:
    assert "pytest e2e -m smoke" in listed("e2e", "TIER=smoke").stdout
    assert "-m smoke" not in listed("e2e").stdout
    assert "TIER is full or smoke, not quick" in listed("e2e", "TIER=quick").stderr


def test_the_slowest_tests_are_named() -> None:
    for target in ("test", "e2e"):
        assert "--durations=10" in listed(target).stdout


def listed(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The tests that make would run."""
    command = ["/usr/bin/env", "--unset=MAKEFLAGS", "make", "--dry-run", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
