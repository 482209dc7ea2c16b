"""The image as an OCI image layout: an index of one image for each architecture (image-spec v1.1)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from manifests.release.entries import tar, zipped
from manifests.release.root_file_system import ACCOUNT, PROGRAM, Layer

ENTRY_POINT = [f"/{PROGRAM}"]
COMMAND = ["serve"]
_TYPES = "application/vnd.oci.image"
_NAMES = ("packages of Debian", "libraries", "paddock")
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}
Json = dict[str, Any]


class Layout:
    """An image layout that is written to an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "blobs" / "sha256").mkdir(parents=True)
        (folder / "oci-layout").write_bytes(_json({"imageLayoutVersion": "1.0.0"}))

    def blob(self, contents: bytes, kind: str) -> Json:
        """Write a blob. Returns its descriptor."""
        digest = hashlib.sha256(contents).hexdigest()
        (self._folder / "blobs" / "sha256" / digest).write_bytes(contents)
        return {"mediaType": f"{_TYPES}.{kind}", "digest": f"sha256:{digest}", "size": len(contents)}

    def finish(self, descriptor: Json) -> None:
        """Write the index of the layout, which has one entry."""
        (self._folder / "index.json").write_bytes(
            _json({"schemaVersion": 2, "mediaType": f"{_TYPES}.index.v1+json", "manifests": [descriptor]})
        )


def write(
    folder: Path,
    layers: Mapping[str, Sequence[Layer]],
    *,
    version: str,
    revision: str,
    time: int,
) -> str:
    """Write the layout. Returns the digest of the index of architectures.

    ``time``: of the commit, in seconds. Files have the time 0: a layer whose files do not change stays
    the same from one release to the next. ``revision``: the commit.
    """
    layout = Layout(folder)
    labels = _labels(version, revision, time)
    manifests = [_image(layout, name, found, labels, time) for name, found in sorted(layers.items())]
    index = {
        "schemaVersion": 2,
        "mediaType": f"{_TYPES}.index.v1+json",
        "manifests": manifests,
        "annotations": labels,
    }
    descriptor = layout.blob(_json(index), "index.v1+json")
    name = {"org.opencontainers.image.ref.name": version}
    layout.finish({**descriptor, "annotations": name})
    return str(descriptor["digest"])


def _image(layout: Layout, architecture: str, layers: Sequence[Layer], labels: Json, time: int) -> Json:
    archives = [tar(layer) for layer in layers]
    config = {
        "created": _stamp(time),
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": f"{ACCOUNT}:{ACCOUNT}",
            "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
            "Entrypoint": ENTRY_POINT,
            "Cmd": COMMAND,
            "WorkingDir": "/",
            "Labels": labels,
        },
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hashlib.sha256(each).hexdigest()}" for each in archives],
        },
        "history": [{"created": _stamp(time), "created_by": name} for name in _NAMES],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_TYPES}.manifest.v1+json",
        "config": layout.blob(_json(config), "config.v1+json"),
        "layers": [layout.blob(zipped(each), "layer.v1.tar+gzip") for each in archives],
        "annotations": labels,
    }
    descriptor = layout.blob(_json(manifest), "manifest.v1+json")
    return {**descriptor, "platform": {"architecture": architecture, "os": "linux"}}


def _labels(version: str, revision: str, time: int) -> Json:
    start = "org.opencontainers.image"
    return {
        f"{start}.created": _stamp(time),
        f"{start}.description": "Hierarchical queues, quotas and gangs for the default kube-scheduler",
        f"{start}.licenses": "Apache-2.0",
        f"{start}.revision": revision,
        f"{start}.title": "paddock",
        f"{start}.version": version,
    }


def _stamp(time: int) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
