"""`make definitions`: files of pinned modules, and what is said of a module that is another."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.programs.binaries import NoBinary
from e2e.programs.definitions import EVERY, Definitions

SUM = "h1:pinned"
PINNED = Definitions("a.dev/b/c", "v1.2.3", SUM, "deploy", ("a.yaml",))
TEXT = "---\nkind: CustomResourceDefinition\n"


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Let Go answer with a module of a checksum. The cache is a folder of the test."""
    module, program = tmp_path / "module", tmp_path / "go"
    (module / "deploy").mkdir(parents=True)
    (module / "deploy" / "a.yaml").write_text(TEXT)
    monkeypatch.setattr("e2e.programs.definitions.ROOT", tmp_path)
    monkeypatch.setattr("e2e.programs.definitions.find_go", lambda: str(program))

    def answers(checksum: str) -> None:
        answer = json.dumps({"Sum": checksum, "Dir": str(module)})
        program.write_text(f"#!/bin/sh\necho '{answer}'\n")
        program.chmod(0o755)

    return answers


def test_files_of_the_pinned_module_are_copied_and_read(go: Callable[[str], None]) -> None:
    go(SUM)
    assert PINNED.missing() == ["a.yaml"]
    PINNED.copy()
    assert PINNED.missing() == []
    assert PINNED.read() == [{"kind": "CustomResourceDefinition"}]


def test_a_module_with_another_checksum_is_refused_and_named(go: Callable[[str], None]) -> None:
    go("h1:another")
    with pytest.raises(NoBinary, match=r"^a\.dev/b/c@v1\.2\.3: h1:another$"):
        PINNED.copy()
    assert PINNED.missing() == ["a.yaml"]


@pytest.mark.usefixtures("go")
def test_what_was_not_copied_is_named_with_the_command() -> None:
    with pytest.raises(NoBinary, match=r"^a\.yaml not in .*c@v1\.2\.3: run `make definitions`$"):
        PINNED.read()


def test_each_module_has_a_folder_and_a_checksum_of_its_own() -> None:
    assert len({each.module.rpartition("/")[2] for each in EVERY}) == len(EVERY)
    assert len({each.checksum for each in EVERY}) == len(EVERY)
