"""Meanings of names that the code does not explain itself, from `meanings.toml`."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

_FILE = Path(__file__).with_name("meanings.toml")


class Unexplained(Exception):
    """Names that are only in the code or only in the file."""


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def meanings(part: str, names: Iterable[str]) -> Mapping[str, str]:
    """The meaning of each name. Raises `Unexplained` unless the part has exactly these."""
    return exactly(part, _tables()[part], names)


def exactly(part: str, found: Mapping[str, str], names: Iterable[str]) -> Mapping[str, str]:
    """The table, if it explains exactly these names."""
    wanted = set(names)
    if wanted != set(found):
        missing, unused = sorted(wanted - set(found)), sorted(set(found) - wanted)
        raise Unexplained(f"{part} of {_FILE.name}: without a meaning: {missing}; in no code: {unused}")
    return found
