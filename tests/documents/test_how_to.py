"""The how-to pages: each reason code has its paragraph, and each example works."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.reasons import Code
from extender.cli import main
from tests.interfaces.product import ROOT

HOW_TO = ROOT / "docs" / "how-to"
TROUBLESHOOT = HOW_TO / "troubleshoot.md"
PARTS = ("Meaning", "Where to look", "What to do")

_SECTION = re.compile(r"^### (.+)\n((?:(?!^##).*\n)*)", re.MULTILINE)
_YAML = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\s*paddock (\w+)", re.MULTILINE)
_SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FOLDER = re.compile(r"manifests/[a-z0-9./-]*[a-z0-9]")


def paragraphs(text: str) -> dict[str, str]:
    """Text of each section of the third level, by its heading."""
    return dict(_SECTION.findall(text))


def unexplained(text: str) -> list[str]:
    """Codes without a paragraph, and missing parts of paragraphs, in the order of the codes."""
    found = paragraphs(text)
    return [
        f"{code.value}: {part}"
        for code in Code
        for part in PARTS
        if not re.search(rf"^\*\*{part}\.\*\* \S", found.get(code.value, ""), re.MULTILINE)
    ]


def test_every_code_has_a_paragraph() -> None:
    assert unexplained(TROUBLESHOOT.read_text(encoding="utf-8")) == []


def test_the_paragraphs_are_those_of_the_codes_in_their_order() -> None:
    assert list(paragraphs(TROUBLESHOOT.read_text(encoding="utf-8"))) == [code.value for code in Code]


@pytest.mark.parametrize(("missing", "found"), [("### QuotaExceeded\n", 3), ("**What to do.** ", len(Code))])
def test_a_paragraph_that_is_missing_is_found(missing: str, found: int) -> None:
    assert len(unexplained(TROUBLESHOOT.read_text(encoding="utf-8").replace(missing, ""))) == found


def examples() -> Iterator[str]:
    """Scenarios that a page shows whole."""
    for path in sorted(HOW_TO.glob("*.md")):
        yield from (
            each for each in _YAML.findall(path.read_text(encoding="utf-8")) if "kind: Scenario" in each
        )


def test_every_example_of_a_scenario_passes(tmp_path: Path) -> None:
    for number, text in enumerate(examples()):
        path = tmp_path / f"{number}.yaml"
        path.write_text(text, encoding="utf-8")
        assert main(["test", str(path)]) == 0
    assert list(tmp_path.iterdir())


def test_commands_and_manifests_of_the_pages_exist() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(HOW_TO.glob("*.md")))
    shells = "".join(_SHELL.findall(text))
    assert set(_COMMAND.findall(shells)) <= {
        "check",
        "test",
        "simulate",
        "demo",
        "serve",
        "probe",
        "uninstall",
    }
    assert [each for each in set(_FOLDER.findall(text)) if not (ROOT / each).exists()] == []
