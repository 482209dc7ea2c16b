"""`make control-plane` builds before pytest starts, and no test ever does (E1).

A copy of the repository's own files stands for a machine with empty caches; `go` is a script that notes
its calls.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.programs.building import Progress

ROOT = Path(__file__).parents[2]
COPIED = ("Makefile", "pyproject.toml", "requirements-dev.txt", "e2e")

GO = """#!/bin/sh
echo "$@" >> {calls}
case "$1" in
list) echo "go: downloading k8s.io/api v0.36.2" >&2; printf 'fmt\\nk8s.io/api\\n' ;;
build) echo k8s.io/api >&2
  case "$*" in
  *bin/etcd*) touch {cache}/etcd ;;
  *) touch {cache}/kube-apiserver {cache}/kube-scheduler {cache}/kubectl ;;
  esac ;;
esac
exit {code}
"""


class Machine:
    """A clean checkout, and what Go was asked for in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, folder / "calls"
        self.cache = folder / ".cache" / "bin"
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".logs"))
            else:
                shutil.copy(source, folder / name)
        self.go_answers(0)

    def go_answers(self, code: int) -> None:
        go = self.folder / "path" / "go"
        go.parent.mkdir(exist_ok=True)
        go.write_text(GO.format(calls=self.calls, cache=self.cache, code=code))
        go.chmod(0o755)

    def runs(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        plain = {name: value for name, value in os.environ.items() if name not in NAMING}
        path = f"{self.folder / 'path'}:{os.environ['PATH']}"
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**plain, "PATH": path, "PYTHONPATH": str(self.folder), **environment},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def builds(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.runs("-m", "e2e.programs.building", **environment)

    def tests(self, **environment: str) -> subprocess.CompletedProcess[str]:
        """A test that starts a control plane."""
        chosen = "e2e/tests/suite/test_control_plane.py::test_the_kubelet_refuses_what_does_not_fit"
        return self.runs("-m", "pytest", "-x", "-p", "no:cacheprovider", chosen, **environment)

    def would_make(self, target: str) -> str:
        """The commands that make would run, unaffected by the make that runs this test."""
        command = ["/usr/bin/env", "--unset=MAKEFLAGS", "make", "--dry-run", target]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout

    @property
    def asked_of_go(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


PROGRAMS_IN = "etcd, kube-apiserver, kube-scheduler, kubectl in"
NAMING = ("PADDOCK_E2E_BIN", "KUBEBUILDER_ASSETS", "KUBECONFIG")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_run_without_programs_fails_at_once_and_names_the_target(machine: Machine) -> None:
    """In the words of the target, which says the same where the user names a folder."""
    ended = machine.tests()
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "run `make control-plane`" in ended.stderr
    named = machine.tests(PADDOCK_E2E_BIN=str(_folder(machine, "etcd")))
    assert named.returncode == pytest.ExitCode.USAGE_ERROR
    assert "has no kube-apiserver, kube-scheduler, kubectl" in named.stderr
    assert machine.asked_of_go == []


def test_programs_of_other_pins_do_not_count(machine: Machine) -> None:
    assert machine.builds().returncode == 0
    (machine.folder / "e2e" / "tools" / "go.sum").write_text("another")
    ended = machine.tests()
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "holds other versions" in ended.stderr


def test_the_target_builds_once_and_says_how_far_it_is(machine: Machine) -> None:
    first = machine.builds()
    assert (first.returncode, first.stderr) == (0, "")
    assert "building from Go modules" in first.stdout
    assert [line.split()[0] for line in machine.asked_of_go] == ["list", "build", "build"]
    second = machine.builds()
    assert second.stdout == f"control-plane: {PROGRAMS_IN} {machine.cache}\n"
    assert len(machine.asked_of_go) == 3


def test_a_failed_build_says_why_and_is_begun_again(machine: Machine) -> None:
    machine.go_answers(1)
    ended = machine.builds()
    assert ended.returncode == 1
    assert "go list failed with exit code 1" in ended.stderr
    machine.go_answers(0)
    assert machine.builds().returncode == 0


@pytest.mark.parametrize(
    ("names", "there", "said"),
    [
        (
            {"PADDOCK_E2E_BIN": "given"},
            "",
            "PADDOCK_E2E_BIN={} has no etcd, kube-apiserver, kube-scheduler, kubectl",
        ),
        (
            {"KUBEBUILDER_ASSETS": "given"},
            "etcd kube-apiserver kubectl",
            "KUBEBUILDER_ASSETS={} has no kube-scheduler",
        ),
        ({"KUBECONFIG": "config"}, "", "the suite runs kube-scheduler, kubectl beside it"),
        (
            {"KUBECONFIG": "config", "PADDOCK_E2E_BIN": "given"},
            "kubectl",
            "PADDOCK_E2E_BIN={} has no kube-scheduler.",
        ),
    ],
    ids=["empty-folder", "envtest-without-scheduler", "cluster-alone", "cluster-and-folder"],
)
def test_nothing_is_built_where_the_user_names_programs(
    machine: Machine, names: Mapping[str, str], there: str, said: str
) -> None:
    given = _folder(machine, there)
    ended = machine.builds(**{name: str(machine.folder / value) for name, value in names.items()})
    assert ended.returncode == 1
    assert said.format(given) in ended.stderr
    assert machine.asked_of_go == []


@pytest.mark.parametrize(
    ("names", "there"),
    [
        ({"PADDOCK_E2E_BIN": "given"}, "etcd kube-apiserver kube-scheduler kubectl"),
        ({"KUBEBUILDER_ASSETS": "given"}, "etcd kube-apiserver kube-scheduler kubectl"),
        ({"KUBECONFIG": "config", "PADDOCK_E2E_BIN": "given"}, "kube-scheduler kubectl"),
    ],
    ids=["folder", "envtest", "cluster"],
)
def test_named_programs_are_taken(machine: Machine, names: Mapping[str, str], there: str) -> None:
    given = _folder(machine, there)
    ended = machine.builds(**{name: str(machine.folder / value) for name, value in names.items()})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert str(given) in ended.stdout
    assert machine.asked_of_go == []


@pytest.mark.parametrize("target", ["e2e", "bench"])
def test_the_build_comes_before_the_tests(machine: Machine, target: str) -> None:
    listed = machine.would_make(target)
    assert "-m e2e.programs.building" in listed
    assert listed.index("-m e2e.programs.building") < listed.rindex(
        "pytest e2e" if target == "e2e" else "-m e2e.bench"
    )


def test_progress_counts_modules_and_packages_and_keeps_errors() -> None:
    progress = Progress(0)
    progress.read(["go: downloading k8s.io/api v0.36.2\n"])
    assert progress.line == "0:00: 1 modules downloaded"
    progress = Progress(3)
    progress.read(["fmt\n", "k8s.io/api\n", "# k8s.io/api\n", "x.go:1:1: no such name\n"])
    assert progress.line == "0:00: 2 of 3 packages compiled"
    assert progress.unknown == ["# k8s.io/api", "x.go:1:1: no such name"]


def test_progress_is_printed_while_go_runs() -> None:
    said: list[str] = []
    with Progress(1, say=said.append, every=0.001) as progress:
        while not said:
            progress.note("fmt")
    assert "of 1 packages compiled" in said[0]


def _folder(machine: Machine, names: str) -> Path:
    given = machine.folder / "given"
    given.mkdir()
    for name in names.split():
        (given / name).touch()
    return given
