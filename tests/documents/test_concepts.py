"""The scenario of each concept passes, and each page has its picture."""

import re
from pathlib import Path

import pytest

from extender.simulator.run import run_scenario
from extender.simulator.scenario.reader import read_scenario
from tests.architecture.reading.sources import ROOT

CONCEPTS = ROOT / "docs" / "concepts"
SCENARIOS = sorted((CONCEPTS / "scenarios").glob("*.yaml"))
PAGES = sorted(page for page in CONCEPTS.glob("*.md") if page.name != "README.md")

_PICTURE = re.compile(r"!\[([^\]]+)\]\(\.\./images/([\w-]+\.svg)\)")
_SCENARIO = re.compile(r"\]\(scenarios/([\w-]+\.yaml)\)")


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_of_the_concepts_goes_as_it_says(path: Path) -> None:
    recording = run_scenario(read_scenario(path))
    assert recording.differences == ()
    assert recording.checks > 0


def test_a_scenario_that_says_something_else_differs(tmp_path: Path) -> None:
    text = (CONCEPTS / "scenarios" / "queues-and-headroom.yaml").read_text()
    planted = tmp_path / "planted.yaml"
    planted.write_text(text.replace("max: {vcore: 4}", "max: {vcore: 5}", 1))
    assert planted.read_text() != text
    assert run_scenario(read_scenario(planted)).differences != ()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_picture_with_a_text_and_a_scenario(page: Path) -> None:
    text = page.read_text()
    assert _PICTURE.findall(text), "a picture of ../images"
    assert _SCENARIO.findall(text), "a scenario of scenarios/"


def test_every_scenario_is_shown_by_a_page() -> None:
    shown = {name for page in PAGES for name in _SCENARIO.findall(page.read_text())}
    assert {path.name for path in SCENARIOS} == shown


@pytest.mark.parametrize("page", ["concepts/admission-and-turns.md", "how-to/troubleshoot.md"])
def test_e9_a_page_on_order_says_that_a_burst_needs_gates(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert "The order within a burst needs" in text
