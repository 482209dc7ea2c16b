"""``make release``: everything that a release publishes, in one folder. Nothing is published here.

The files depend on the commit, the pins and the addresses alone, so two builds are equal byte for byte.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from manifests.release import bill, chart, image, images, krew, root_file_system, wheels
from manifests.release.debian import NotFetched
from manifests.release.entries import file, tar, with_folders
from manifests.release.version import ROOT, version

CACHE = ROOT / ".cache" / "release"
LAYOUT, LIST, SUMS, BILL, MIRROR = "image", "images.txt", "SHA256SUMS", "paddock.cdx.json", "mirror-images.sh"
_SOURCES = ("core", "extender", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "requirements.txt")


class NotBuilt(Exception):
    """A release that cannot be built, and what to set or do."""


@dataclass(frozen=True)
class Origin:
    """The commit that a release is built from, and its time in seconds."""

    revision: str
    time: int


def build(folder: Path, name: str, url: str, *, compiled: Path | None = None) -> None:
    """Build a release in an empty folder. Raises `NotBuilt`.

    ``name``: registry and repository of the image, without a tag. ``url``: where the archives will be.
    ``compiled``: a wheel with a compiled core, for the image of its platform.
    """
    if folder.exists() and any(folder.iterdir()):
        raise NotBuilt(f"{folder} is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    origin = _origin()
    wheel = _python_packages(folder, origin)
    found = {each: root_file_system.layers(each, wheel, CACHE) for each in wheels.MACHINES}
    if compiled is not None:
        found |= _with_compiled_core(compiled)
    layers = root_file_system.compiled(found)
    digest = image.write(
        folder / LAYOUT, layers, version=version(), revision=origin.revision, time=origin.time
    )
    published = images.published(name, digest)
    package = chart.package(published, time=origin.time)
    _write(folder / chart.package_name(), package)
    _write(folder / BILL, bill.bill(published, wheel, package, CACHE, time=origin.time))
    _write(folder / LIST, images.listed(published).encode())
    _write(folder / MIRROR, Path(__file__).with_name(MIRROR).read_bytes(), executable=True)
    _write(folder / f"paddock-{version()}-image.tar", _archived(folder / LAYOUT, origin.time))
    _plugin(folder, url)
    _write(folder / SUMS, _sums(folder))
    for each in folder.rglob("*"):
        # The umask of whoever builds changes nothing.
        each.chmod(0o755 if each.is_dir() or each.stat().st_mode & 0o100 else 0o644)


def _origin() -> Origin:
    """The commit. SOURCE_DATE_EPOCH may replace its time."""
    try:
        time = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct")
        changed = "-changed" if _git("status", "--porcelain") else ""
        return Origin(_git("rev-parse", "HEAD") + changed, int(time))
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise NotBuilt(f"a release is built from a git checkout: {error}") from error


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _python_packages(folder: Path, origin: Origin) -> Path:
    """The wheel, which is pure, and the sources. Built from a copy of the files that git knows."""
    with tempfile.TemporaryDirectory() as place:
        for name in _git("ls-files", "-z", "--", *_SOURCES).strip("\0").split("\0"):
            (target := Path(place, name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
            target.chmod(0o644)
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.resolve())]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(origin.time)}
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise NotBuilt(f"hatchling: {done.stdout}{done.stderr}")
    (wheel,) = folder.glob("*.whl")
    return wheel


def _with_compiled_core(wheel: Path) -> dict[str, list[root_file_system.Layer]]:
    tag, platform = wheels.PYTHON.replace(".", ""), wheel.stem.rpartition("-")[2]
    for architecture, machine in wheels.MACHINES.items():
        if f"-cp{tag}-cp{tag}-" in wheel.name and platform.endswith(f"_{machine}"):
            return {architecture: root_file_system.layers(architecture, wheel, CACHE)}
    raise NotBuilt(
        f"{wheel.name} is not for the image's CPython {wheels.PYTHON}: make the environment with "
        f"PYTHON=python{wheels.PYTHON}, or leave COMPILED empty"
    )


def _plugin(folder: Path, url: str) -> None:
    """The plugin, in a process of its own: one that has imported much compiles otherwise."""
    command = [sys.executable, "-m", krew.__name__, str(folder.resolve()), url]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotBuilt(f"the plugin: {done.stderr}")


def _archived(layout: Path, time: int) -> bytes:
    """The layout as one file, for a disk that goes to a place without a network."""
    files = {each.relative_to(layout).as_posix(): each for each in layout.rglob("*") if each.is_file()}
    return tar(with_folders({name: file(path.read_bytes()) for name, path in files.items()}), time=time)


def _sums(folder: Path) -> bytes:
    """Hashes of the files that are published, as `sha256sum --check` reads them."""
    files = sorted(each for each in folder.iterdir() if each.is_file())
    lines = (f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files)
    return "".join(lines).encode()


def _write(path: Path, contents: bytes, *, executable: bool = False) -> None:
    path.write_bytes(contents)
    if executable:
        path.chmod(0o755)


def main(arguments: Sequence[str]) -> int:
    """Build a release and print the hashes."""
    parser = argparse.ArgumentParser(prog="release")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--image", default="")
    parser.add_argument("--releases", default="")
    parser.add_argument("--compiled", type=Path)
    given = parser.parse_args(arguments)
    try:
        _check(given.image, given.releases)
        images.published(given.image, "")
        if (given.folder / SUMS).is_file():
            # An earlier release, which is replaced.
            shutil.rmtree(given.folder)
        build(given.folder, given.image, given.releases, compiled=_wheel_in(given.compiled))
    except (NotBuilt, NotFetched, images.NotAnImage, wheels.NoWheels, root_file_system.NotCompiled) as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    print((given.folder / SUMS).read_text(encoding="utf-8"), end="")
    return 0


def _check(name: str, url: str) -> None:
    missing = [
        *([] if name else ["IMAGE to the registry and repository that the image will have"]),
        *([] if url else ["RELEASES to the address below which the archives will be"]),
    ]
    if missing:
        raise NotBuilt(f"set {' and '.join(missing)}. Neither has a default, since nothing is published yet")
    if not url.startswith("https://"):
        raise NotBuilt(f"RELEASES={url}: krew needs an address that begins with https://")


def _wheel_in(folder: Path | None) -> Path | None:
    if folder is None:
        return None
    found = sorted(folder.glob("*.whl"))
    if len(found) != 1:
        raise NotBuilt(f"{folder} has {len(found)} wheels, not one: run `make compiled`")
    return found[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
