"""The images of a release: what the chart names, what a mirror gets, and the layout in a registry."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.programs.binaries import ROOT
from e2e.programs.helm import HELM
from e2e.programs.minors import versions
from e2e.programs.processes import free_port
from e2e.tests.release.crane import CRANE, is_built
from manifests.release.build import LAYOUT, LIST, MIRROR, SUMS
from manifests.release.chart import package_name
from manifests.release.check import IMAGE
from manifests.release.images import KUBERNETES
from manifests.release.version import version

POLICIES = "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"
TLS = "tls.source=secret"
MODES: Mapping[str, tuple[str, ...]] = {
    "sidecar": (),
    "service": (TLS, "scheduler.form=scoped"),
    "kubeadm": (),
}


def rendered(release: Path, mode: str, kubernetes: str, *values: str) -> list[dict[str, Any]]:
    command = [HELM, "template", "paddock", release / package_name(), f"--kube-version={kubernetes}"]
    more = [f"--set={each}" for each in (f"mode={mode}", *MODES[mode], *values)]
    done = subprocess.run([*command, f"--api-versions={POLICIES}", *more], capture_output=True, check=True)
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def images(thing: object) -> Iterator[str]:
    """Every image of an object, also of the files that a ConfigMap has for a node."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            if key == "image" and isinstance(value, str):
                yield value
            elif isinstance(value, str) and "image:" in value:
                yield from images(yaml.safe_load(value))
            else:
                yield from images(value)
    elif isinstance(thing, list):
        for each in thing:
            yield from images(each)


def of_all_renders(release: Path, *values: str) -> set[str]:
    return {
        image
        for mode in MODES
        for kubernetes in KUBERNETES
        for image in images(rendered(release, mode, kubernetes, *values))
    }


def listed(release: Path) -> set[str]:
    lines = (release / LIST).read_text().splitlines()
    return {each for each in lines if each and not each.startswith("#")}


def without_tag(image: str) -> str:
    """A reference by digest; the chart leaves the tag out where there is a digest."""
    name, at, digest = image.partition("@")
    return f"{name.rpartition(':')[0]}@{digest}" if at else image


def test_the_list_has_exactly_the_images_of_all_modes_and_versions(release: Path) -> None:
    assert {without_tag(each) for each in listed(release)} == of_all_renders(release)
    assert versions() == KUBERNETES


def test_one_value_takes_every_image_from_a_mirror(release: Path) -> None:
    found = of_all_renders(release, "global.imageRegistry=mirror.example.com/third")
    expected = {f"mirror.example.com/third/{without_tag(each).partition('/')[2]}" for each in listed(release)}
    assert found == expected


def test_the_chart_of_the_sources_names_no_image() -> None:
    done = subprocess.run(
        [HELM, "template", "paddock", "manifests/chart", f"--kube-version={KUBERNETES[-1]}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "repository has no default: set it to where your cluster pulls this image from" in done.stderr


def test_the_package_of_the_chart_is_one_for_helm(release: Path) -> None:
    package = str(release / package_name())
    shown = subprocess.run([HELM, "show", "chart", package], capture_output=True, check=True)
    assert yaml.safe_load(shown.stdout)["version"] == version()
    linted = subprocess.run([HELM, "lint", "--strict", package], capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout


# -- registries ----------------------------------------------------------------------------------------------


def crane(*arguments: str | Path) -> str:
    assert is_built(), "crane is not built: run `make crane`"
    done = subprocess.run([CRANE, "--insecure", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"crane {arguments[0]}: {done.stderr}"
    return done.stdout.strip()


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """A registry on loopback, by its address."""
    address = f"localhost:{free_port()}"
    command = [CRANE, "registry", "serve", f"--address={address}"]
    with (folder / "registry.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 30
        while subprocess.run([CRANE, "--insecure", "catalog", address], capture_output=True).returncode:
            assert time.monotonic() < until, "the registry does not answer"
            time.sleep(0.05)
        yield address
    finally:
        process.kill()
        process.wait()


def pushed(release: Path, name: str) -> str:
    """Push the layout. Returns the digest."""
    return crane("push", release / LAYOUT, name).rpartition("@")[2]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with registry(tmp_path_factory.mktemp("source")) as address:
        yield address


def test_a_registry_takes_the_layout_and_both_images_are_valid(
    release: Path, source: str, layers: dict[str, list[Path]], tmp_path: Path
) -> None:
    name = f"{source}/team/paddock:{version()}"
    (own,) = (each for each in listed(release) if each.startswith(IMAGE))
    assert pushed(release, name) == own.partition("@")[2]
    for architecture in layers:
        said = crane("validate", f"--platform=linux/{architecture}", f"--remote={name}")
        assert said.startswith("PASS: ")
        config = json.loads(crane("config", f"--platform=linux/{architecture}", name))
        assert (config["architecture"], config["os"]) == (architecture, "linux")
        assert config["config"]["User"] == "65532:65532"
        labels = config["config"]["Labels"]
        assert labels["org.opencontainers.image.version"] == version()
        assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    crane("export", "--platform=linux/arm64", name, tmp_path / "exported.tar")
    with tarfile.open(tmp_path / "exported.tar") as exported:
        assert {"usr/bin/paddock", "usr/lib/ld-linux-aarch64.so.1"} <= set(exported.getnames())


def test_the_image_is_published_as_the_list_names_it(release: Path, source: str, tmp_path: Path) -> None:
    """A registry takes the image from crane. Since cosign and gh are played, nothing is signed."""
    dist, name = tmp_path / "dist", f"{source}/published/paddock"
    shutil.copytree(release, dist)
    text, sums = ((dist / each).read_text() for each in (LIST, SUMS))
    before, after = (hashlib.sha256(each.encode()).hexdigest() for each in (text, text.replace(IMAGE, name)))
    (dist / LIST).write_text(text.replace(IMAGE, name))
    (dist / SUMS).write_text(sums.replace(before, after))
    played = {"CRANE": f"{CRANE} --insecure", "COSIGN": "echo cosign", "GH": "echo gh"}
    done = subprocess.run(
        [ROOT / "manifests" / "release" / "publish.sh", dist, f"v{version()}"],
        env=os.environ | played,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    digest = crane("digest", f"{name}:{version()}")
    assert f"{name}:{version()}@{digest}" in listed(dist)
    assert f"cosign sign --yes --recursive {name}@{digest}" in done.stdout


@pytest.mark.parametrize("kubernetes", ["", "v1.34.9"])
def test_a_mirror_gets_every_image_with_its_digest(
    release: Path, source: str, tmp_path: Path, kubernetes: str
) -> None:
    """The registries of the list are played by one. kube-scheduler's image is played by Paddock's."""
    digest = pushed(release, f"{source}/team/paddock:{version()}")
    for each in (*KUBERNETES, "v1.34.9"):
        pushed(release, f"{source}/kube-scheduler:{each}")
    text = (
        (release / LIST)
        .read_text()
        .replace("registry.k8s.io/", f"{source}/")
        .replace(IMAGE, f"{source}/team/paddock")
    )
    (tmp_path / LIST).write_text(text)
    with registry(tmp_path) as mirror:
        environment = {**os.environ, "CRANE": f"{CRANE} --insecure"}
        asked = [release / MIRROR, tmp_path / LIST, f"{mirror}/third", *([kubernetes] if kubernetes else [])]
        done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert crane("digest", f"{mirror}/third/team/paddock:{version()}") == digest
        copied = [kubernetes] if kubernetes else list(KUBERNETES)
        assert sorted(crane("ls", f"{mirror}/third/kube-scheduler").split()) == copied


def test_a_mirror_that_lacks_an_image_is_said_and_the_others_are_copied(
    release: Path, source: str, tmp_path: Path
) -> None:
    pushed(release, f"{source}/team/paddock:{version()}")
    (tmp_path / LIST).write_text(f"{source}/missing:1\n{source}/team/paddock:{version()}\n")
    with registry(tmp_path) as mirror:
        environment = {**os.environ, "CRANE": f"{CRANE} --insecure"}
        done = subprocess.run(
            [release / MIRROR, tmp_path / LIST, mirror],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "missing" in done.stderr
        assert crane("ls", f"{mirror}/team/paddock") == version()


def test_the_mirror_says_how_it_is_called(release: Path) -> None:
    done = subprocess.run([release / MIRROR], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("mirror-images.sh IMAGES.TXT REGISTRY [VERSION]\n")
