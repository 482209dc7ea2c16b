"""The plugin as one file and as an archive for krew: the same bytes each time, and no network."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from extender.plugin.table import COMMANDS
from manifests.release.krew import MANIFEST, PROGRAM
from manifests.release.version import version
from manifests.release.zipapp import LIBRARIES, MAIN
from tests.extender.plugin.answering import answering
from tests.extender.plugin.test_start import SHARED
from tests.manifests.release.installing import NotInstalled, install

URL = "https://releases.example.com/paddock"

PLAIN = [getattr(sys, "_base_executable", sys.executable), "-I", "-S"]
"""Python without the libraries of this environment."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("release"), seed="1")


def make(folder: Path, *, seed: str) -> Path:
    """Make the files in a process of their own, since one that has imported much compiles otherwise."""
    command = [sys.executable, "-m", "manifests.release.krew", str(folder), URL]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed})
    return folder


def archive_in(folder: Path) -> Path:
    (found,) = folder.glob("*.tar.gz")
    return found


def test_the_files_are_the_same_byte_for_byte_when_they_are_made_again(made: Path, tmp_path: Path) -> None:
    again = make(tmp_path, seed="2")
    names = sorted(each.name for each in made.iterdir())
    assert names == sorted(each.name for each in again.iterdir())
    assert len(names) == 3
    for name in names:
        assert (made / name).read_bytes() == (again / name).read_bytes(), name


def test_the_program_has_pure_python_and_licences_only(made: Path) -> None:
    names = zipfile.ZipFile(made / PROGRAM).namelist()
    assert {Path(each).suffix for each in names} <= {".py", ".pyc", ""} | {".md", ".txt"}
    assert {each.split("/")[0] for each in names} >= {"core", "extender", "typer", "rich", "licenses"}
    for library in LIBRARIES:
        assert any(each.startswith(f"licenses/{library}/") for each in names)
    own = {each.rpartition(".")[0].replace("/", ".") for each in names if each.startswith("extender/")}
    beside = {each for each in own if "plugin" not in each and "__init__" not in each}
    assert {each.replace("__pycache__.", "").partition(".cpython")[0] for each in beside} <= SHARED


@pytest.mark.parametrize("compiled", [True, False])
def test_every_command_runs_without_any_library_installed(made: Path, tmp_path: Path, compiled: bool) -> None:
    """Another Python than the one that made the archive reads the sources in it."""
    program = tmp_path / PROGRAM
    _copied(made / PROGRAM, program, compiled=compiled)
    text = (
        f"import sys; sys.path.insert(0, {str(program)!r})\n"
        "from extender.plugin.main import main\n"
        f"for name in {list(COMMANDS)}: assert main([name, '--help']) == 0\n"
    )
    done = subprocess.run([*PLAIN, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with answering() as fixed:
        arguments = ["queues", "--server", fixed.url, "--flat"]
        done = subprocess.run([*PLAIN, str(program), *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "root.a" in done.stdout


def _copied(program: Path, target: Path, *, compiled: bool) -> None:
    with zipfile.ZipFile(program) as archive, zipfile.ZipFile(target, "w") as copy:
        for name in archive.namelist():
            if compiled or not name.endswith(".pyc"):
                copy.writestr(name, archive.read(name))


def test_an_older_python_ends_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or later; this is Python 3\.10"):
        exec(compile(MAIN, "main", "exec"), {})  # noqa: S102 - it ends before it imports anything


# -- krew ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_it_is_installed_by_the_rules_of_the_manifest(made: Path, tmp_path: Path, system: str) -> None:
    programs = install(made / MANIFEST, archive_in(made), tmp_path, system)
    (link,) = programs.iterdir()
    assert link.name == "kubectl-paddock"
    store = link.resolve().parent
    assert sorted(each.name for each in store.iterdir()) == ["LICENSE", PROGRAM]
    path = f"{programs}:{Path(PLAIN[0]).parent}:{os.environ['PATH']}"
    # kubectl, if it is there, finds the program by its name.
    command = ["kubectl", "paddock"] if shutil.which("kubectl") else ["kubectl-paddock"]
    with answering() as fixed:
        done = subprocess.run(
            [
                shutil.which(command[0], path=path) or command[0],
                *command[1:],
                "version",
                "--server",
                fixed.url,
            ],
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": path, "HOME": str(tmp_path)},
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Client: {version()}\nServer: 0.1.0, since ")


def test_another_system_and_another_archive_are_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="windows"):
        install(made / MANIFEST, archive_in(made), tmp_path, "windows")
    other = tmp_path / "other.tar.gz"
    other.write_bytes(archive_in(made).read_bytes() + b" ")
    with pytest.raises(NotInstalled, match="checksum"):
        install(made / MANIFEST, other, tmp_path, "linux")


def test_the_manifest_keeps_the_rules_of_krew(made: Path) -> None:
    found = yaml.safe_load((made / MANIFEST).read_text())
    spec = found["spec"]
    assert found["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert (found["kind"], found["metadata"]["name"]) == ("Plugin", "paddock")
    assert re.fullmatch(r"v\d+\.\d+\.\d+", spec["version"])
    assert len(spec["shortDescription"]) <= 60
    assert not spec["shortDescription"].endswith(".")
    (platform,) = spec["platforms"]
    assert platform["uri"] == f"{URL}/{archive_in(made).name}"
    assert re.fullmatch(r"[0-9a-f]{64}", platform["sha256"])
