"""Installation of a plugin as krew does it, from a manifest and an archive. No tests live here."""

import hashlib
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml


class NotInstalled(Exception):
    """Refusal of an installation."""


def install(manifest: Path, archive: Path, root: Path, system: str) -> Path:
    """Install below ``root``. Returns the folder for the PATH. Raises `NotInstalled`."""
    plugin = yaml.safe_load(manifest.read_text())
    platform = _platform(plugin["spec"]["platforms"], system)
    if hashlib.sha256(archive.read_bytes()).hexdigest() != platform["sha256"]:
        raise NotInstalled("the checksum differs")
    name, version = plugin["metadata"]["name"], plugin["spec"]["version"]
    unpacked, store = root / "unpacked", root / "store" / name / version
    store.mkdir(parents=True)
    with tarfile.open(archive) as opened:
        # Debian's Python 3.11.2 has no filters yet. The archive was just built.
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(unpacked)  # noqa: S202
    for each in platform.get("files") or [{"from": "*", "to": "."}]:
        _move(unpacked, store, each["from"], each["to"])
    shutil.rmtree(unpacked)
    program = (store / platform["bin"]).resolve()
    if not program.is_relative_to(store.resolve()) or not program.is_file():
        raise NotInstalled(f"there is no {platform['bin']}")
    programs = root / "bin"
    programs.mkdir()
    # kubectl takes dashes for further words.
    (programs / f"kubectl-{name.replace('-', '_')}").symlink_to(program)
    return programs


def _platform(platforms: Sequence[Mapping[str, Any]], system: str) -> Mapping[str, Any]:
    for each in platforms:
        if all(_matches(rule, system) for rule in each["selector"]["matchExpressions"]):
            return each
    raise NotInstalled(f"no platform matches {system}")


def _matches(rule: Mapping[str, Any], system: str) -> bool:
    return rule["key"] == "os" and rule["operator"] == "In" and system in rule["values"]


def _move(unpacked: Path, store: Path, source: str, target: str) -> None:
    """A path without a pattern is moved to the target. Matches of a pattern are moved into it."""
    if ".." in Path(source).parts or ".." in Path(target).parts:
        raise NotInstalled("a path leaves its folder")
    direct = unpacked / source
    moves = [(direct, store / (target if target != "." else direct.name))]
    if not direct.exists():
        moves = [(each, store / target / each.name) for each in unpacked.glob(source)]
    if not moves:
        raise NotInstalled(f"nothing is named {source}")
    for moved, place in moves:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(moved, place)
