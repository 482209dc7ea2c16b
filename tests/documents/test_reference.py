"""Reference pages equal the code and explain every name, and the schema accepts every scenario."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.documents.reference.meanings import Unexplained, exactly
from tests.documents.reference.pages import FOLDER, PAGES
from tests.documents.reference.schema import scenario_schema
from tests.interfaces.comparing import recorded_lines
from tests.interfaces.product import ROOT

SCHEMA = jsonschema.Draft202012Validator(scenario_schema())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), (
        "run python -m tests.documents.reference"
    )


def test_a_name_without_a_meaning_is_found() -> None:
    with pytest.raises(Unexplained, match=r"without a meaning: \['b'\]; in no code: \['c'\]"):
        exactly("part", {"a": "", "c": ""}, ["a", "b"])


@pytest.mark.parametrize("kind", ["codes", "events", "keys-read"])
def test_every_recorded_name_is_on_some_page(kind: str) -> None:
    texts = "".join((FOLDER / name).read_text(encoding="utf-8") for name in PAGES)
    names = {line.split()[0 if kind != "keys-read" else -1] for line in recorded_lines(kind)}
    assert {name for name in names if name not in texts} == set()


# -- the schema ----------------------------------------------------------------------------------------------


def scenarios() -> Iterator[Path]:
    """Every scenario of the repository."""
    for folder in ("tests/scenarios", "extender/simulator", "e2e", "docs"):
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            if "kind: Scenario" in path.read_text(encoding="utf-8"):
                yield path


def wrong(document: Any) -> list[str]:
    """Mistakes that the schema finds."""
    return [f"{each.json_path}: {each.message}" for each in SCHEMA.iter_errors(document)]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads((FOLDER / "scenario.schema.json").read_text()))


def test_every_scenario_passes_the_schema() -> None:
    found = list(scenarios())
    assert len(found) > 300
    amiss = {path.name: wrong(yaml.safe_load(path.read_text(encoding="utf-8"))) for path in found}
    assert {name: each for name, each in amiss.items() if each} == {}


SMALLEST = {"apiVersion": "paddock.dev/v1", "kind": "Scenario", "name": "x", "config": "q.yaml", "steps": []}


@pytest.mark.parametrize(
    "part",
    [
        {"steps": [{"at": "0s", "sumbit": []}]},
        {"steps": [{"expect": {}}]},
        {"steps": [{"at": "soon"}]},
        {"steps": [{"at": "0s", "submit": [{"name": "p", "cpuu": 1}]}]},
        {"steps": [{"at": "0s", "submit": [{"cpu": 1}]}]},
        {"steps": [{"at": "0s", "submit": [{"name": "p", "count": "many"}]}]},
        {"steps": [{"at": "0s", "expect": {"pods": {"p": {"reason": "QuotaExceded"}}}}]},
        {"steps": [{"at": "0s", "expect": {"queues": {"root.a": {"headrom": {}}}}}]},
        {"cluster": {"nodes": [{"name": "n", "gpu": 1}]}},
        {"kind": "Scenarios"},
        {"gates": "maybe"},
    ],
)
def test_a_mistake_fails_the_schema(part: dict[str, Any]) -> None:
    assert wrong(SMALLEST) == []
    assert wrong({**SMALLEST, **part}) != []


def test_other_resources_are_keys_of_a_node() -> None:
    assert (
        wrong({**SMALLEST, "cluster": {"nodes": [{"name": "n", "nvidia.com/gpu": 8, "cpu": "500m"}]}}) == []
    )
