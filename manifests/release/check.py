"""``make release-check``: build a release twice, in different surroundings, and compare every byte.

``python -m manifests.release.check FOLDER`` leaves the first in the folder ``first``. If a pinned package has
vanished from all mirrors, it builds with the present ones and says so. No other change waits for new pins.
"""

import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from manifests.release import debian, debian_lock
from manifests.release.build import CACHE
from manifests.release.version import ROOT

IMAGE, RELEASES = "registry.example.com/team/paddock", "https://releases.example.com/paddock"
"""Addresses that nobody has (RFC 2606)."""
_SURROUNDINGS: Mapping[str, tuple[int, Mapping[str, str]]] = {
    "first": (0o022, {"TZ": "UTC", "PYTHONHASHSEED": "1", "LANG": "C"}),
    "second": (0o077, {"TZ": "Pacific/Auckland", "PYTHONHASHSEED": "2", "LANG": "C.UTF-8"}),
}


def lock_for(folder: Path, cache: Path = CACHE / "packages") -> Path:
    """The lock to build with: the pinned one, or one of the present versions if a package has vanished."""
    try:
        for package in debian.locked():
            debian.fetch(package, cache)
    except debian.NotFetched as error:
        print(f"release-check: {error}. This check builds with the present versions", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        debian_lock.write(lock := folder / "debian.lock")
        return lock
    return debian.LOCK


def build_both(folder: Path, lock: Path) -> None:
    """Build a release in each folder. Raises `subprocess.CalledProcessError`."""
    for name, (mask, environment) in _SURROUNDINGS.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        (temporary := folder / f"temporary-{name}").mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "manifests.release.build", str(folder / name)]
        addresses = [f"--image={IMAGE}", f"--releases={RELEASES}"]
        surroundings = {**os.environ, **environment, "TMPDIR": str(temporary), "DEBIAN_LOCK": str(lock)}
        subprocess.run(
            [*command, *addresses],
            cwd=ROOT,
            env=surroundings,
            umask=mask,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        shutil.rmtree(temporary)


def differences(first: Path, second: Path) -> list[str]:
    """Files that only one folder has, or that differ in contents or in who may execute them."""
    paths = {each.relative_to(root) for root in (first, second) for each in root.rglob("*")}
    return sorted(str(path) for path in paths if _differ(first / path, second / path))


def _differ(one: Path, other: Path) -> bool:
    if not (one.exists() and other.exists()) or one.is_dir() != other.is_dir():
        return True
    if one.is_dir():
        return False
    return bool((one.stat().st_mode ^ other.stat().st_mode) & 0o777) or not filecmp.cmp(
        one, other, shallow=False
    )


def main(arguments: Sequence[str]) -> int:
    """Build both and name what differs."""
    folder = Path(arguments[0])
    try:
        build_both(folder, lock_for(folder))
    except subprocess.CalledProcessError as error:
        return error.returncode
    found = differences(folder / "first", folder / "second")
    for each in found:
        print(f"release-check: {each} differs", file=sys.stderr)
    count = sum(each.is_file() for each in (folder / "first").rglob("*"))
    print(f"release-check: {count} files, {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
