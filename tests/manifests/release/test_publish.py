"""The program that publishes a release, with crane, cosign and gh played, and the workflow that runs it."""

import hashlib
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from manifests.release.version import ROOT

PUBLISH = ROOT / "manifests" / "release" / "publish.sh"
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
DIGEST, OTHER = ("sha256:" + each * 64 for each in "ab")
NAME = "registry.example.com/team/paddock"
FILES = {
    "images.txt": f"# all: 1.2.3\n{NAME}:1.2.3@{DIGEST}\nregistry.example.com/kube-scheduler:v1.36.2\n",
    "paddock-1.2.3.tgz": "chart",
}
PLAYED = """#!/bin/sh
echo "{name} $*" >>"$NOTES"
[ {name} != crane ] || echo "{name} $DIGEST" | sed 's|^crane |registry.example.com/team/paddock@|'
case $* in *--bundle*) touch "$4" ;; esac
"""


class Place:
    """A folder with a release, and the calls of the programs that were played."""

    def __init__(self, folder: Path) -> None:
        self.release = folder / "dist"
        self._folder = folder
        (self.release / "image").mkdir(parents=True)
        for name, text in FILES.items():
            (self.release / name).write_text(text)
        sums = (f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in FILES.items())
        (self.release / "SHA256SUMS").write_text("".join(sums))
        for name in ("crane", "cosign", "gh"):
            (folder / name).write_text(PLAYED.format(name=name))
            (folder / name).chmod(0o755)

    def publish(self, tag: str, digest: str = DIGEST) -> subprocess.CompletedProcess[str]:
        more = {
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "NOTES": f"{self._folder}/notes",
            "DIGEST": digest,
        }
        asked = [PUBLISH, self.release, tag]
        return subprocess.run(asked, env=os.environ | more, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        notes = self._folder / "notes"
        text = notes.read_text() if notes.exists() else ""
        return text.replace(str(self.release), "dist").splitlines()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_image_and_files_are_published_and_signed(place: Place) -> None:
    done = place.publish("v1.2.3")
    assert done.returncode == 0, done.stderr
    assert place.calls == [
        f"crane push dist/image {NAME}:1.2.3",
        f"cosign sign --yes --recursive {NAME}@{DIGEST}",
        "cosign sign-blob --yes --bundle dist/SHA256SUMS.sigstore.json dist/SHA256SUMS",
        "gh release create v1.2.3 --draft --verify-tag --title v1.2.3 --notes See CHANGELOG.md. "
        "dist/SHA256SUMS dist/SHA256SUMS.sigstore.json dist/images.txt dist/paddock-1.2.3.tgz",
    ]


def test_an_image_with_another_digest_is_not_signed(place: Place) -> None:
    done = place.publish("v1.2.3", OTHER)
    assert done.returncode == 1
    assert f"and the release names {DIGEST}" in done.stderr
    assert [each.split()[0] for each in place.calls] == ["crane"]


def test_a_changed_file_stops_it_before_anything_is_published(place: Place) -> None:
    (place.release / "paddock-1.2.3.tgz").write_text("another")
    assert place.publish("v1.2.3").returncode == 1
    assert place.calls == []


def test_a_tag_of_another_version_stops_it(place: Place) -> None:
    done = place.publish("v1.2.4")
    assert (done.returncode, place.calls) == (1, [])
    assert "is not a release of v1.2.4" in done.stderr


def test_it_says_how_it_is_called() -> None:
    done = subprocess.run([PUBLISH], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("publish.sh FOLDER TAG\n")


# -- the workflow --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text())
    return found


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_only_a_tag_of_a_version_starts_it(workflow: dict[Any, Any]) -> None:
    # YAML 1.1 reads the key `on` as true.
    assert workflow[True] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}


def test_only_the_job_that_publishes_after_the_checks_may_write(workflow: dict[Any, Any]) -> None:
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"]
    assert jobs["checks"]["permissions"] == {"contents": "read"}
    assert (jobs["publish"]["needs"], jobs["publish"]["environment"]) == ("checks", "release")
    assert [step["run"] for step in jobs["checks"]["steps"] if "run" in step][-1] == ".ci/run"


def test_actions_of_others_are_pinned_and_keep_no_credentials(workflow: dict[Any, Any]) -> None:
    used = [step for step in steps(workflow) if "uses" in step]
    assert used
    for step in used:
        assert re.fullmatch(r"actions/checkout@[0-9a-f]{40}", step["uses"])
        assert step["with"] == {"persist-credentials": False}


def test_commands_are_shell_and_take_values_from_variables_only(workflow: dict[Any, Any]) -> None:
    """An expression in a command would be read as shell."""
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    for each in commands:
        assert "${{" not in each
        subprocess.run(["/bin/sh", "-n"], input=each, text=True, check=True)


def test_what_the_commands_name_is_there(workflow: dict[Any, Any]) -> None:
    text = "\n".join(step["run"] for step in steps(workflow) if "run" in step)
    targets = set(re.findall(r"\bmake (?:--silent )?([a-z-]+)", text))
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert targets == {"version", "release-check", "release", "crane"}
    assert targets <= set(phony[1].split())
    assert PUBLISH.stat().st_mode & 0o111
    assert str(PUBLISH.relative_to(ROOT)) in text


def test_no_address_has_a_default(workflow: dict[Any, Any]) -> None:
    """No release is published yet, so nothing names a place of one."""
    variables = workflow["jobs"]["publish"]["env"]
    assert variables == {name: f"${{{{ vars.{name} }}}}" for name in ("IMAGE", "REGISTRY", "RELEASES")}
    assert workflow["env"] == {"DEBIAN_MIRROR": "${{ vars.DEBIAN_MIRROR }}"}
