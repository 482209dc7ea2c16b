"""Libraries of the page are the files that were fetched, and no others are there."""

import json
import re
import shutil
from pathlib import Path

from tests.extender.page.vendor import ROOT, copied, differences, libraries

FOLDER = "extender/page/static/vendor"
BARE = re.compile(r"""(?:^|;)(?:import|export)[^;]*?from\s*["'](?![./])[^"']+""", re.MULTILINE)


def test_the_files_are_those_that_were_fetched() -> None:
    assert differences(libraries()) == []


def test_a_changed_and_a_missing_file_are_found(tmp_path: Path) -> None:
    targets = [each.target for each in copied(libraries())]
    for target in targets[1:]:
        (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / target, tmp_path / target)
    with (tmp_path / targets[1]).open("ab") as file:
        file.write(b"\n")
    assert differences(libraries(), tmp_path) == [
        f"{targets[0]} is missing",
        f"{targets[1]} is not the file of {next(iter(copied(libraries()))).library}",
    ]


def test_every_file_beside_them_has_a_row() -> None:
    present = {f"{FOLDER}/{each.name}" for each in (ROOT / FOLDER).iterdir()}
    assert present == {each.target for each in copied(libraries()) if each.target.startswith(FOLDER)}


def test_each_library_is_pinned_and_brings_its_licence() -> None:
    for library in libraries():
        assert library["version"].replace(".", "").isdigit(), library["name"]
        assert library["integrity"].startswith("sha512-"), library["name"]
        assert library["license"] in {"Apache-2.0", "MIT", "MPL-2.0"}, library["name"]
        sources = [each["source"] for each in library["files"]]
        assert any(source.startswith("LICENSE") for source in sources), library["name"]


def test_libraries_import_nothing_by_a_bare_name() -> None:
    """A browser finds files alone, and there is no import map."""
    for each in copied(libraries()):
        if each.target.startswith(FOLDER) and each.target.endswith(".js"):
            assert BARE.findall((ROOT / each.target).read_text()) == [], each.target
    assert BARE.findall('import{h}from"preact"') == ['import{h}from"preact']


def test_the_list_is_written_in_one_form() -> None:
    text = (ROOT / "tests/extender/page/libraries.json").read_text()
    assert text == json.dumps(libraries(), indent=2) + "\n"
