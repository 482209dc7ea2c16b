"""The recorded requests of the contract tests are those that kube-scheduler sends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.programs.binaries import minor_of_programs
from e2e.recording import PAYLOADS, record


@pytest.mark.matrix
async def test_this_version_sends_what_was_recorded(tmp_path: Path) -> None:
    """Another version of the same minor may be under test."""
    (recorded,) = PAYLOADS.glob(f"kube-scheduler-1.{minor_of_programs()}.*")
    await record(tmp_path)
    assert members_of(tmp_path) == members_of(recorded)


def members_of(folder: Path) -> dict[str, list[str]]:
    """Paths of the members in each file, with the types of their values."""
    files = sorted(folder.rglob("*.json"))
    return {
        str(each.relative_to(folder)): sorted(set(_members(json.loads(each.read_text())))) for each in files
    }


def _members(thing: object, path: str = "") -> Iterator[str]:
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from _members(value, f"{path}.{key}")
    elif isinstance(thing, list):
        for each in thing:
            yield from _members(each, f"{path}[]")
    else:
        yield f"{path}: {type(thing).__name__}"
