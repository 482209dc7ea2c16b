"""The release that `make release-check` left, and its image unpacked."""

import json
import tarfile
from pathlib import Path

import pytest

from e2e.programs.binaries import ROOT
from manifests.release.build import LAYOUT, SUMS

BUILT = ROOT / ".cache" / "release" / "first"


@pytest.fixture(scope="session")
def release() -> Path:
    assert (BUILT / SUMS).is_file(), "there is no release: run `make release-check`"
    return BUILT


@pytest.fixture(scope="session")
def layers(release: Path) -> dict[str, list[Path]]:
    """The layers of each architecture, lowest first."""
    found = {}
    (index,) = read(release / LAYOUT / "index.json")["manifests"]
    for each in read(blob(release, index["digest"]))["manifests"]:
        manifest = read(blob(release, each["digest"]))
        found[each["platform"]["architecture"]] = [
            blob(release, layer["digest"]) for layer in manifest["layers"]
        ]
    return found


@pytest.fixture(scope="session")
def root_of_amd64(layers: dict[str, list[Path]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("image")
    for each in layers["amd64"]:
        with tarfile.open(each) as opened:
            # Debian's Python 3.11.2 has no filters yet. The layers were just built.
            opened.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
            opened.extractall(root)  # noqa: S202
    root.chmod(0o755)
    return root


def blob(release: Path, digest: str) -> Path:
    return release / LAYOUT / "blobs" / "sha256" / digest.removeprefix("sha256:")


def read(path: Path) -> dict[str, list[dict[str, object]]]:
    return json.loads(path.read_text())
