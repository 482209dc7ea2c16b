"""The archive of `kubectl paddock` for krew, and its manifest.

``python -m manifests.release.krew FOLDER URL`` writes both. ``URL``: where the archive will be, without its
name. Without it there is no manifest, since krew would find nothing at an address that leads nowhere.
"""

import gzip
import hashlib
import sys
import tarfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from manifests.release.version import version
from manifests.release.zipapp import ROOT, zipapp

PROGRAM = "kubectl-paddock"
MANIFEST = "paddock.yaml"

_MANIFEST = """\
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: paddock
spec:
  version: v{version}
  homepage: {url}
  shortDescription: Ask Paddock why pods wait, and look at its queues
  description: |
    Shows the queues, applications and pods of Paddock, which gives queues to an unmodified kube-scheduler.
    It explains why a pod waits and what would help, and says whether a workload would run now.
    It needs Python 3.11 or later as python3, and nothing else.
  caveats: |
    kubectl completes the words of this plugin if this program is on the PATH:
      kubectl paddock completion kubectl > ~/.local/bin/kubectl_complete-paddock
      chmod +x ~/.local/bin/kubectl_complete-paddock
  platforms:
  - selector:
      matchExpressions:
      - key: os
        operator: In
        values: [darwin, linux]
    uri: {url}/{archive}
    sha256: {sha256}
    files:
    - from: {folder}/{program}
      to: {program}
    - from: {folder}/LICENSE
      to: LICENSE
    bin: {program}
"""


def archive_name() -> str:
    """Name of the archive."""
    return f"{PROGRAM}-v{version()}.tar.gz"


def archive() -> bytes:
    """The archive: the program, which is executable, and the licence. The same bytes each time."""
    tar = BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as made:
        licence = (ROOT / "LICENSE").read_bytes()
        for name, contents, mode in (("LICENSE", licence, 0o644), (PROGRAM, zipapp(), 0o755)):
            info = tarfile.TarInfo(f"{_folder()}/{name}")
            info.size, info.mode = len(contents), mode
            made.addfile(info, BytesIO(contents))
    return gzip.compress(tar.getvalue(), mtime=0)


def _folder() -> str:
    return f"{PROGRAM}-v{version()}"


def manifest(packed: bytes, url: str) -> str:
    """The manifest for an archive that is at a URL."""
    sha256 = hashlib.sha256(packed).hexdigest()
    names = {"archive": archive_name(), "folder": _folder(), "program": PROGRAM}
    return _MANIFEST.format(version=version(), url=url.rstrip("/"), sha256=sha256, **names)


def write(folder: Path, url: str) -> list[Path]:
    """Write the program, the archive, and the manifest if there is a URL. Returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    packed = archive()
    program, packed_at, manifest_at = folder / PROGRAM, folder / archive_name(), folder / MANIFEST
    program.write_bytes(zipapp())
    program.chmod(0o755)
    packed_at.write_bytes(packed)
    packed_at.chmod(0o644)
    if not url:
        return [program, packed_at]
    manifest_at.write_text(manifest(packed, url), encoding="utf-8")
    manifest_at.chmod(0o644)
    return [program, packed_at, manifest_at]


def main(arguments: Sequence[str]) -> int:
    """Write the files and print their paths."""
    folder, url = (*arguments, "")[:2]
    for each in write(Path(folder), url):
        print(each)
    if not url:
        print(
            "no manifest for krew: set RELEASES to the address below which the archive will be",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
