"""``make base``: pin the present versions of the image's packages of Debian. It needs a Debian with apt.

apt verifies the signatures of Debian's archive with the keys of `debian-archive-keyring`. It works in its own
folder, so the packages of this machine do not change.
"""

import re
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from manifests.release.debian import LOCK, repository

SUITE, NUMBER = "bookworm", "12"
"""Release of Debian whose CPython is the one that the tests run, and that `make compiled` compiles for."""
ARCHITECTURES = ("amd64", "arm64")
PACKAGES = (
    "base-files",
    "ca-certificates",
    "libbz2-1.0",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libssl3",
    "libstdc++6",
    "libuuid1",
    "media-types",
    "netbase",
    "python3.11-minimal",
    "tzdata",
    "zlib1g",
)
"""CPython and what it loads, certificates and time zones. No shell and no package manager."""

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
_ARCHIVES = {"debian": SUITE, "debian-security": f"{SUITE}-security"}
"""Suites of the archives."""
_URI = re.compile(r"^'(?P<url>[^']+)' \S+ \d+ SHA256:(?P<sha256>[0-9a-f]{64})$", re.M)


def main() -> int:
    """Write the lock and print its lines."""
    print(write(LOCK), end="")
    return 0


def write(lock: Path) -> str:
    """Pin the present versions in a lock. Returns its text."""
    with tempfile.TemporaryDirectory() as folder:
        lines = sorted(set(_lines(Path(folder))))
    dated = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    text = "\n".join(["# Written by `make base`.", f"# snapshot {dated}", *lines, ""])
    lock.write_text(text, encoding="utf-8")
    return text


def _lines(folder: Path) -> Iterator[str]:
    for name in ("lists/partial", "archives/partial", "etc/apt.conf.d", "etc/preferences.d", "etc/parts"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    sources = (f"deb [signed-by={_KEYS}] {repository(each)} {of} main\n" for each, of in _ARCHIVES.items())
    (folder / "sources.list").write_text("".join(sources), encoding="utf-8")
    _apt(folder, "update")
    pinned: dict[str, set[str]] = {name: set() for name in PACKAGES}
    for architecture in ARCHITECTURES:
        # apt lists what is for all architectures with the first one alone.
        asked = [name for name, lines in pinned.items() if not any(each.startswith("all ") for each in lines)]
        said = _apt(folder, "download", "--print-uris", *(f"{name}:{architecture}" for name in asked))
        for line in map(_line, _URI.finditer(said)):
            pinned[line.rpartition("/")[2].split("_")[0].replace("%2b", "+")].add(line)
    for name, lines in pinned.items():
        if {line.split()[0] for line in lines} not in ({"all"}, set(ARCHITECTURES)):
            raise SystemExit(f"base: {SUITE} has {name} as {sorted(lines)}, not for each architecture")
        yield from lines


def _line(found: re.Match[str]) -> str:
    before, pool, below = urllib.parse.urlsplit(found["url"]).path.partition("/pool/")
    path = f"{before.rpartition('/')[2]}{pool}{below}"
    architecture = path.removesuffix(".deb").rpartition("_")[2]
    return f"{architecture} {found['sha256']} {path}"


def _apt(folder: Path, *arguments: str) -> str:
    options = {
        "Dir::State": folder,
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder,
        "Dir::Etc": folder / "etc",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": folder / "etc" / "parts",
        "APT::Architecture": ARCHITECTURES[0],
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",
    }
    given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    given += [part for each in ARCHITECTURES for part in ("-o", f"APT::Architectures::={each}")]
    done = subprocess.run(["apt-get", *given, *arguments], capture_output=True, text=True, check=False)
    if arguments[0] == "update" and done.returncode:
        raise SystemExit(f"base: apt-get update: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
