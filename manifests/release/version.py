"""The version of Paddock: written in pyproject.toml, repeated in the files that cannot read it from there.

``python -m manifests.release.version`` prints it. With X.Y.Z it writes another
version to every place, and changes nothing if a place lacks the present one.
"""

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = "pyproject.toml"

_PLAIN = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")
"""Versions that PyPI, Helm, krew and image tags spell alike. Pre-releases are spelled differently there."""

PLACES: Mapping[str, tuple[str, ...]] = {
    SOURCE: ('\nversion = "{}"\n',),
    "manifests/chart/Chart.yaml": ("\nversion: {}\n", "\nappVersion: {}\n"),
    "manifests/sidecar/deployment.yaml": ("image: paddock:{}\n",),
    "manifests/sidecar/kustomization.yaml": ("- name: paddock\n  newTag: {}\n",),
    "manifests/service/deployment.yaml": ("image: paddock:{}\n",),
    "manifests/service/kustomization.yaml": ("- name: paddock\n  newTag: {}\n",),
    "manifests/kubeadm/patches/kube-scheduler1+strategic.yaml": ("image: paddock:{}\n",),
    "docs/start/cluster.md": (
        "--tag REGISTRY/paddock:{} .\n",
        "push REGISTRY/paddock:{}\n",
        "docker-image REGISTRY/paddock:{}`",
    ),
    "docs/start/README.md": ("\nVersion {} is",),
    "docs/start/alternatives.md": ("new, version {} |",),
}
"""Each file, and the texts around the version, each of which it has once."""


class WrongVersion(Exception):
    """A version that cannot be written, or a place that lacks the present one."""


def version(root: Path = ROOT) -> str:
    """Version of Paddock, as X.Y.Z."""
    found: str = tomllib.loads((root / SOURCE).read_text(encoding="utf-8"))["project"]["version"]
    return found


def disagreements(root: Path = ROOT) -> list[str]:
    """Places that lack the version of pyproject.toml, or have it more than once, one sentence each."""
    now = version(root)
    return [
        f"{name} has {text.format(now)!r} {count} times, not once"
        for name, texts in PLACES.items()
        for text in texts
        if (count := (root / name).read_text(encoding="utf-8").count(text.format(now))) != 1
    ]


def write(wanted: str, root: Path = ROOT) -> list[str]:
    """Write a version to every place. Returns their names. Raises `WrongVersion` and changes nothing."""
    if not _PLAIN.fullmatch(wanted):
        raise WrongVersion(f"{wanted!r} is not a version: give three numbers, such as 1.2.3")
    if wrong := disagreements(root):
        raise WrongVersion("; ".join(wrong))
    now = version(root)
    for name, texts in PLACES.items():
        content = (root / name).read_text(encoding="utf-8")
        for text in texts:
            content = content.replace(text.format(now), text.format(wanted))
        (root / name).write_text(content, encoding="utf-8")
    return list(PLACES)


def main(arguments: Sequence[str]) -> int:
    """Print the version, or write another one and print the names of the files."""
    if not arguments:
        print(version())
        return 0
    try:
        names = write(arguments[0])
    except WrongVersion as error:
        print(f"version: {error}", file=sys.stderr)
        return 2
    print("\n".join(names))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
