"""Compiled modules lie apart from the sources. A shared object beside those is never tested unnoticed."""

import subprocess
import sys
from pathlib import Path

import pytest

from e2e.programs import compiled
from tests import conftest

ROOT = Path(__file__).parents[2]
PLANTED = ("core/quantity", "extender/wire/node", "79969cba__mypyc")


@pytest.mark.parametrize("name", PLANTED)
def test_shared_objects_beside_the_sources_are_found(tmp_path: Path, name: str) -> None:
    planted = tmp_path / f"{name}{compiled.SUFFIX}"
    planted.parent.mkdir(parents=True, exist_ok=True)
    assert compiled.beside_sources(tmp_path) == []
    planted.touch()
    assert compiled.beside_sources(tmp_path) == [planted]


def test_the_compiled_environment_does_not_test_the_sources_unnoticed(
    monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setattr(sys, "prefix", str(compiled.ENVIRONMENT))
    with pytest.raises(pytest.UsageError, match="--import-mode=append"):
        conftest.pytest_configure(pytestconfig)


def test_the_sources_come_behind_the_compiled_core() -> None:
    assert (
        "/environment/bin/pytest --import-mode=append $(PLAYED_COMPILED)" in (ROOT / "Makefile").read_text()
    )


def test_the_failed_step_is_named_with_what_it_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*_: object, **__: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess([], 2, stdout="1\n2\nno compiler: gcc\n")

    monkeypatch.setattr(subprocess, "run", failed)
    with pytest.raises(compiled.BuildFailed, match=r"wheel: exit code 2\n1\n2\nno compiler: gcc"):
        compiled._run("wheel", "-m", "pip")


def test_a_change_of_the_sources_and_of_the_pins_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("pyproject.toml", compiled.PINS, "core/a.py", "extender/http/b.py", "extender/page/c.js")
    inputs = [tmp_path / name for name in names]
    for path in inputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    monkeypatch.setattr(compiled, "ROOT", tmp_path)
    monkeypatch.setattr(compiled, "OWN", inputs[0])
    seen = {compiled.stamp()}
    for path in inputs:
        path.write_text("2")
        seen.add(compiled.stamp())
    (tmp_path / "core" / "b.py").touch()
    seen.add(compiled.stamp())
    (tmp_path / "core" / "b.pyc").touch()
    seen.add(compiled.stamp())
    assert len(seen) == 2 + len(inputs)


def test_what_is_edited_during_the_build_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds, found = [], iter(["before the edit", "after the edit", "after the edit"])
    monkeypatch.setattr(compiled, "CACHE", tmp_path)
    monkeypatch.setattr(compiled, "_STAMP", tmp_path / ".stamp")
    monkeypatch.setattr(compiled, "PYTHON", tmp_path)
    monkeypatch.setattr(compiled, "_make_wheel", lambda: builds.append(1))
    monkeypatch.setattr(compiled, "_make_environment", lambda: None)
    monkeypatch.setattr(compiled, "stamp", lambda: next(found))
    for wanted in (1, 2, 2):
        compiled._build()
        assert len(builds) == wanted


@pytest.mark.parametrize(
    ("printed", "is_taken"),
    [(f"{compiled.SUFFIX} 3.11.2", True), (".cpython-313-x86_64-linux-gnu.so 3.13", False)],
)
def test_the_python_of_the_image_runs_the_wheel_if_it_can(
    tmp_path: Path, printed: str, is_taken: bool
) -> None:
    of_image = tmp_path / "python3.11"
    of_image.write_text(f"#!/bin/sh\necho '{printed}'\n")
    of_image.chmod(0o755)
    assert compiled.runner(of_image) == (of_image if is_taken else Path(sys.executable))


def test_without_the_python_of_the_image_this_one_runs_the_wheel(tmp_path: Path) -> None:
    assert compiled.runner(tmp_path / "python3.11") == Path(sys.executable)


def test_both_builds_of_the_wheel_have_the_same_flags() -> None:
    assert f'CFLAGS="{compiled.FLAGS}" HATCH_BUILD_HOOK' in (ROOT / "manifests/Dockerfile").read_text()
