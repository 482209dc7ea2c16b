"""Libraries of the image: wheels of one platform, pinned and hashed by requirements.txt, and unpacked.

``pip download`` chooses and verifies them. They are unpacked as the specification of wheels says, without a
Python of their platform.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from manifests.release.entries import Entry, file
from manifests.release.version import ROOT

REQUIREMENTS = ROOT / "requirements.txt"
PYTHON = "3.11"
"""Version of CPython in the image."""
MACHINES: Mapping[str, str] = {"amd64": "x86_64", "arm64": "aarch64"}
"""Architectures of images, with the names that wheels have for them."""
_OLDEST, _NEWEST = 17, 36
"""Minor versions of glibc. The image has the newest of them."""


class NoWheels(Exception):
    """pip could not download the wheels of a platform. The text is its own."""


def downloaded(architecture: str, cache: Path) -> list[Path]:
    """The wheels of an architecture, from the cache or from the package index. Raises `NoWheels`."""
    pins = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    place = cache / f"{architecture}-{PYTHON}-{pins}"
    if not place.is_dir():
        part = place.with_suffix(f".{os.getpid()}")
        _download(architecture, part)
        shutil.rmtree(place, ignore_errors=True)
        part.rename(place)
    return sorted(place.glob("*.whl"))


def _download(architecture: str, folder: Path) -> None:
    machine = MACHINES[architecture]
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(_OLDEST, _NEWEST + 1)]
    asked = [f"--platform={each}" for each in (*platforms, f"manylinux2014_{machine}")]
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps")
    chosen = ("--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp", "--require-hashes")
    command = [*pip, *chosen, *asked, f"--requirement={REQUIREMENTS}", f"--dest={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        raise NoWheels(f"wheels for {architecture}: {done.stderr.strip()}")


def unpacked(wheel: Path) -> dict[str, Entry]:
    """Files of a wheel, by their paths below site-packages. Scripts and headers are left out."""
    with zipfile.ZipFile(wheel) as archive:
        return dict(_files(archive))


def _files(archive: zipfile.ZipFile) -> Iterator[tuple[str, Entry]]:
    for info in archive.infolist():
        first, _, rest = info.filename.partition("/")
        if info.is_dir():
            continue
        if not first.endswith(".data"):
            yield info.filename, file(archive.read(info), executable=bool(info.external_attr >> 16 & 0o100))
        elif rest.startswith(("purelib/", "platlib/")):
            yield rest.partition("/")[2], file(archive.read(info))


def name_and_version(wheel: Path) -> tuple[str, str]:
    """Name, as PyPI spells it in addresses, and version of a wheel."""
    name, version = wheel.name.split("-")[:2]
    return name.replace("_", "-").lower(), version
