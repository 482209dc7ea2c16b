"""The version is written in one place, and every file that repeats it agrees."""

import re
import shutil
from pathlib import Path

import pytest

from extender.version import version as installed
from manifests.release.version import PLACES, ROOT, WrongVersion, disagreements, version, write

SEARCHED = ("docs/start", "docs/how-to", "manifests", "README.md", "Makefile", "pyproject.toml")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_every_place_and_the_installed_package_agree() -> None:
    assert disagreements() == []
    assert installed() == version()


def test_no_other_file_repeats_it() -> None:
    said = re.compile(rf"(?<![\w.]){re.escape(version())}(?![\w.]*\d)")
    found = {
        str(path.relative_to(ROOT))
        for name in SEARCHED
        for path in ([ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*")))
        if path.is_file() and path.suffix != ".pyc" and said.search(path.read_text(encoding="utf-8"))
    }
    assert found <= set(PLACES)


def test_another_version_is_written_everywhere(copy: Path) -> None:
    assert write("12.0.3", copy) == list(PLACES)
    assert version(copy) == "12.0.3"
    assert disagreements(copy) == []


@pytest.mark.parametrize("name", PLACES)
def test_a_place_that_disagrees_is_named_and_nothing_is_written(copy: Path, name: str) -> None:
    text = PLACES[name][-1]
    content = (copy / name).read_text()
    (copy / name).write_text(content.replace(text.format(version()), text.format("9.9.9")))
    before = {each: (copy / each).read_text() for each in PLACES}
    with pytest.raises(WrongVersion, match=r"times, not once"):
        write("12.0.3", copy)
    assert {each: (copy / each).read_text() for each in PLACES} == before


@pytest.mark.parametrize("wanted", ["", "1.2", "v1.2.3", "1.2.3rc1", "01.2.3", "1.2.3\n", "1.2.3 ", "١.2.3"])
def test_what_is_no_version_is_refused(copy: Path, wanted: str) -> None:
    with pytest.raises(WrongVersion, match=r"such as 1\.2\.3"):
        write(wanted, copy)
    assert version(copy) == version()
