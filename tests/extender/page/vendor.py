"""Libraries of the web page, copied from the npm registry: ``python -m tests.extender.page.vendor``.

`libraries.json` pins versions and names licences. This module copies files and records their SHA-256 there.
"""

import hashlib
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
LIST = Path(__file__).with_name("libraries.json")


@dataclass(frozen=True, slots=True)
class Copied:
    """A file of a library. ``source``: its path in the package; ``target``: its path here."""

    library: str
    source: str
    target: str
    sha256: str


def libraries() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(LIST.read_text())
    return found


def copied(given: list[dict[str, Any]]) -> Iterator[Copied]:
    """All files of all libraries."""
    for library in given:
        for each in library["files"]:
            yield Copied(library["name"], each["source"], each["target"], each["sha256"])


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def differences(given: list[dict[str, Any]], root: Path = ROOT) -> list[str]:
    """Files that are not what was recorded."""
    found = []
    for each in copied(given):
        path = root / each.target
        if not path.is_file():
            found.append(f"{each.target} is missing")
        elif digest(path.read_bytes()) != each.sha256:
            found.append(f"{each.target} is not the file of {each.library}")
    return found


def fetch(library: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Copy the files of one library, and return its row with their hashes."""
    pinned = f"{library['name']}@{library['version']}"
    packed = subprocess.run(
        ["npm", "pack", "--json", "--ignore-scripts", pinned],  # noqa: S607 - the npm that is installed
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
    )
    (described,) = json.loads(packed.stdout)
    with tarfile.open(folder / described["filename"]) as archive:
        files = [_copied_from(archive, each) for each in library["files"]]
    return {**library, "integrity": described["integrity"], "files": files}


def _copied_from(archive: tarfile.TarFile, row: dict[str, str]) -> dict[str, str]:
    member = archive.extractfile(f"package/{row['source']}")
    assert member is not None, f"{row['source']} is no file"
    body = member.read()
    target = ROOT / row["target"]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(body)
    return {**row, "sha256": digest(body)}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = [fetch(each, Path(folder)) for each in libraries()]
    LIST.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
