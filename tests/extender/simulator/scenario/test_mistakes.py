"""Every kind of mistake in a scenario file, with its file, line, place and advice.

The cases are in ``mistakes.yaml``.
"""

import re
from pathlib import Path

import pytest
import yaml

from extender.simulator.scenario import checks, fields, model, reader
from extender.simulator.scenario.model import ScenarioError
from extender.simulator.scenario.reader import read_scenario, scenario_from

HEAD = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: s
config: {partitions: []}
"""
"""The first four lines of a file; the cases go on with the fifth."""

CASES: list[dict[str, str]] = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text())


def message_of(text: str | bytes, folder: Path = Path("/nowhere")) -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario_from(text, file="s.yaml", folder=folder)
    return str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["says"].splitlines()[0][:60])
def test_a_mistake_is_named_with_its_line(case: dict[str, str]) -> None:
    text = case["file"] if "file" in case else HEAD + case["text"]
    assert message_of(text) + "\n" == case["says"]


def test_an_empty_file_is_no_scenario() -> None:
    assert message_of("") == "s.yaml: must be a mapping with apiVersion, kind, name, config and steps"
    assert message_of(HEAD) == "s.yaml:1: steps is missing"


def test_a_pattern_has_a_bound() -> None:
    text = HEAD + "steps:\n  - at: 0s\n    expect: {pods: {a: {message: " + "x" * 1001 + "}}}\n"
    place = "s.yaml:7: steps[0].expect.pods.a.message"
    assert message_of(text) == f"{place}: a regular expression has at most 1000 characters"


def test_too_many_objects() -> None:
    entry = "      - {name: %s, count: 60000}\n"
    text = HEAD + "steps:\n  - at: 0s\n    submit:\n" + entry % "a" + entry % "b"
    assert message_of(text) == "s.yaml:9: steps[0].submit[1]: more than 100000 pods or nodes in one scenario"


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "folder").mkdir()
    text = HEAD.replace("{partitions: []}", "latin.yaml") + "steps: []\n"
    assert message_of(text, tmp_path) == "s.yaml:4: config: latin.yaml cannot be read: it is not UTF-8 text"
    text = HEAD.replace("{partitions: []}", "folder") + "steps: []\n"
    assert message_of(text, tmp_path) == "s.yaml:4: config: there is no file folder"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"none\.yaml: cannot be read: No such file or directory"):
        read_scenario(tmp_path / "none.yaml")


def test_a_file_or_a_configuration_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_BYTES", 2**20)
    (tmp_path / "large.yaml").write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(ScenarioError, match=r"large\.yaml: larger than 1 MiB"):
        read_scenario(tmp_path / "large.yaml")
    text = HEAD.replace("{partitions: []}", "large.yaml") + "steps: []\n"
    assert message_of(text, tmp_path) == "s.yaml:4: config: large.yaml is larger than 1 MiB"


def test_no_mistake_is_left_without_a_case() -> None:
    """Every text of the reader, without its values, occurs in a message of this file."""
    said = "\n".join([*(case["says"] for case in CASES), Path(__file__).read_text()])
    for module in (reader, fields, checks, model):
        source = Path(str(module.__file__)).read_text()
        for call in re.finditer(
            r"(?:(?:wrong|append|refuse)\(|yield |found \+= |message = )([^\n]*)", source
        ):
            for text in re.findall(r'f?"([^"]{12,})"', call[1]):
                longest = max(re.split(r"\{[^}]*\}", text), key=len)
                assert longest in said, f"{module.__name__}: {text}"
