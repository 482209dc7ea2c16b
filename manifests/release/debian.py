"""Packages of Debian in the image: pinned in debian.lock with their hashes, and unpacked, not installed.

Each line of the lock has the architecture, the SHA-256, and the path below the mirror.
"""

import hashlib
import lzma
import os
import subprocess
import tarfile
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from manifests.release.entries import Entry, untarred

LOCK = Path(os.environ.get("DEBIAN_LOCK") or Path(__file__).with_name("debian.lock"))
"""The lock. ``DEBIAN_LOCK`` names another one, for a trial."""
_DATED = "# snapshot "
_SECONDS = 60.0

_MERGED = ("bin", "lib", "lib64", "sbin")
"""Folders that are links to those of the same name in /usr."""
_LEFT_OUT = (
    "usr/share/gdb/",
    "usr/share/man/",
    "usr/share/info/",
    "usr/share/locale/",
    "usr/share/lintian/",
    "usr/share/bug/",
    "usr/share/base-files/",
    "usr/share/applications/",
    "usr/share/pixmaps/",
    "usr/share/binfmts/",
    "usr/share/python3/",
    "usr/lib/python3.11/lib2to3/",
    "usr/lib/python3.11/pydoc_data/",
    "etc/ld.so.conf.d/",
    "etc/update-motd.d/",
    "usr/sbin/",
    "usr/lib/python3.11/test/",
)
_LEFT_OUT_PARTS = ("/gconv/", "/audit/", "/share/doc/")
_EXTENSIONS_WITHOUT_LIBRARY = ("_curses", "_curses_panel", "_dbm", "_gdbm", "_sqlite3", "nis", "readline")
"""Extensions of Python whose libraries are not in the image. Paddock imports none."""


class NotFetched(Exception):
    """A package that no mirror has, or that has another hash."""


@dataclass(frozen=True)
class Package:
    """A pinned package. ``path``: below the mirror."""

    architecture: str
    sha256: str
    path: str

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def name(self) -> str:
        """Name of the package."""
        return urllib.parse.unquote(self.file).split("_")[0]


def locked(lock: Path = LOCK) -> tuple[Package, ...]:
    """The pinned packages of both architectures."""
    lines = (line.split() for line in lock.read_text(encoding="utf-8").splitlines())
    return tuple(Package(*words) for words in lines if words and words[0] != "#")


def packages(architecture: str, lock: Path = LOCK) -> tuple[Package, ...]:
    """The pinned packages of an architecture, with those that are the same for all."""
    return tuple(each for each in locked(lock) if each.architecture in (architecture, "all"))


def repository(archive: str) -> str:
    """Address of an archive, such as ``debian-security``, with a slash at its end. Raises `NotFetched`.

    The mirror is that of DEBIAN_MIRROR, or the one from which apt installs here.
    """
    if mirror := os.environ.get("DEBIAN_MIRROR", "").rstrip("/"):
        return f"{mirror}/{archive}/"
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        listed = []
    else:
        listed = sorted(done.stdout.split())
    found = next((each for each in listed if each.endswith(f"/{archive}/")), None)
    if found is None:
        raise NotFetched(f"apt has no mirror of {archive} here: set DEBIAN_MIRROR to the address above it")
    return found


def fetch(package: Package, cache: Path, lock: Path = LOCK) -> bytes:
    """A package from the cache or from a mirror. Raises `NotFetched`.

    Debian's mirrors lose a version when the next one appears. The archive of snapshots keeps all.
    """
    kept = cache / package.sha256
    if kept.is_file() and _is(package, contents := kept.read_bytes()):
        return contents
    errors = []
    for url in _urls(package, lock):
        try:
            with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 - addresses are built here
                contents = bytes(answer.read())
        except OSError as error:
            errors.append(f"{url}: {error}")
            continue
        if _is(package, contents):
            cache.mkdir(parents=True, exist_ok=True)
            (part := kept.with_suffix(f".{os.getpid()}")).write_bytes(contents)
            part.replace(kept)
            return contents
        errors.append(f"{url}: another hash than in {lock.name}")
    raise NotFetched(f"{package.file}: {'; '.join(errors)}. `make base` pins the present versions")


def _is(package: Package, contents: bytes) -> bool:
    return hashlib.sha256(contents).hexdigest() == package.sha256


def _urls(package: Package, lock: Path) -> Iterator[str]:
    """Addresses of a package: on the mirror, and in the snapshot of the lock if DEBIAN_SNAPSHOT is set."""
    archive, _, path = package.path.partition("/")
    yield repository(archive) + path
    snapshots = os.environ.get("DEBIAN_SNAPSHOT", "").rstrip("/")
    for line in lock.read_text(encoding="utf-8").splitlines():
        if snapshots and line.startswith(_DATED):
            yield f"{snapshots}/{archive}/{line.removeprefix(_DATED)}/{path}"


# -- contents ------------------------------------------------------------------------------------------------


def unpacked(deb: bytes) -> dict[str, Entry]:
    """The files of a package that go into the image, and its licence."""
    found = {}
    for path, entry in _data(deb).items():
        top, _, rest = path.partition("/")
        path = f"usr/{path}" if top in _MERGED and rest else path
        if top not in _MERGED or rest:
            found[path] = entry
    return {path: entry for path, entry in found.items() if _is_wanted(path, entry)}


def control(deb: bytes) -> bytes:
    """The description of a package, which scanners of images read."""
    entry = _untar(_member(deb, "control.tar"))["control"]
    return entry.contents or b""


def _is_wanted(path: str, entry: Entry) -> bool:
    if path.endswith("/copyright"):
        return True
    below = f"/{path}/" if entry.contents is None and not entry.target else f"/{path}"
    if any(part in below for part in _LEFT_OUT_PARTS) or below[1:].startswith(_LEFT_OUT):
        return False
    module = path.rpartition("/")[2].split(".")[0]
    return not ("/lib-dynload/" in path and module in _EXTENSIONS_WITHOUT_LIBRARY)


def _data(deb: bytes) -> Mapping[str, Entry]:
    return _untar(_member(deb, "data.tar"))


def _untar(archive: bytes) -> dict[str, Entry]:
    with tarfile.open(fileobj=BytesIO(archive)) as opened:
        return untarred(opened, opened)


def _member(deb: bytes, start: str) -> bytes:
    """A member of the ar archive that a package is (deb(5)), decompressed."""
    place = 8
    while place < len(deb):
        header = deb[place : place + 60]
        name, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
        body = deb[place + 60 : place + 60 + size]
        if name.startswith(start):
            return lzma.decompress(body) if name.endswith(".xz") else body
        place += 60 + size + size % 2
    raise NotFetched(f"a package without {start}")
