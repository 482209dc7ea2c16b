"""Configuration from the ConfigMaps of a Kubernetes manifest. No I/O, no validation of values.

A manifest is an object, a List of objects, or a stream of both, in YAML or JSON. The values of YuniKorn's
Helm chart count as manifests, too, and so do the entries of a ConfigMap alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from extender.configuration.sources import CONFIGS_NAME, DEFAULTS_NAME, ConfigMapData, FlatConfig, flatten
from extender.queueconfig.document import (
    Document,
    ListValue,
    MapValue,
    QuotedText,
    Value,
    read_document,
)
from extender.queueconfig.problems import ConfigError, Problem, path_text, shown

MOST_OBJECTS = 100
"""Documents of a stream that may contain ConfigMaps, at most."""

HELM_KEY = "yunikornDefaults"
"""Key of the chart's values that holds the entries of ``yunikorn-defaults``."""

_MAY_BE_ONE = re.compile(
    rb"""^(?:[ \t]*\{|["']?(?:kind|yunikornDefaults|[A-Za-z0-9._-]{1,253}\.yaml)["']?[ \t]*:)""", re.MULTILINE
)
_BETWEEN = re.compile(rb"^---(?=\s|\Z)", re.MULTILINE)
_HALVES = ("data", "binaryData")
_NO_TEXT = re.compile(
    r"true|false|yes|no|on|off|[+-]?[0-9][0-9_]*(\.[0-9_]*)?(e[+-]?[0-9]+)?|0[xob][0-9a-f_]+",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """Place of an entry of a ConfigMap, with the line of its key.

    ``half``: ``data`` or ``binaryData``, `HELM_KEY` in the chart's values, or empty for an entry alone.
    """

    half: str
    key: str
    line: int

    @property
    def path(self) -> str:
        """Path as in a `Problem`."""
        return path_text((self.half, self.key) if self.half else (self.key,))


@dataclass(frozen=True, slots=True)
class Manifest:
    """The configuration in a manifest.

    ``places``: by the key that an entry sets. ``problems``: errors for which the API server would refuse it.
    """

    flat: FlatConfig
    places: Mapping[str, EntryPlace]
    problems: tuple[Problem, ...]


def manifest_from(text: bytes) -> Manifest | None:
    """The configuration in a manifest, or None for a text that is no manifest and may be a queue document.

    ``yunikorn-defaults`` and ``yunikorn-configs`` are merged as in a cluster (SRC-1). A single ConfigMap may
    have any name. Raises `ConfigError`, also if several ConfigMaps could be the one to check.
    """
    if not _MAY_BE_ONE.search(text):
        return None
    first = read_document(text)
    if not isinstance(first.top, MapValue) or "partitions" in first.top:
        return None
    if "kind" in first.top:
        is_stream = _BETWEEN.search(text) is not None
        defaults, configs = _chosen(list(_of_stream(text) if is_stream else _within(first, 0)))
    elif HELM_KEY in first.top:
        defaults, configs = _ConfigMap(first.top, 0, tuple(first.repeated), (HELM_KEY,)), None
    elif any(key.endswith(".yaml") for key in first.top):
        defaults, configs = None, _ConfigMap(_wrapped(first.top), 0, tuple(first.repeated), ("",))
    else:
        return None
    both = [config_map for config_map in (defaults, configs) if config_map is not None]
    return Manifest(
        flatten(defaults.data() if defaults else None, configs.data() if configs else None),
        {entry.sets: entry.place for config_map in both for entry in config_map.entries()},
        tuple(dict.fromkeys(problem for config_map in both for problem in config_map.problems())),
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    place: EntryPlace
    value: Value

    @property
    def sets(self) -> str:
        """Key that the entry sets, without the suffix of binaryData (SRC-2)."""
        key = self.place.key
        return key.rpartition(".")[0] or key if self.place.half == "binaryData" else key

    def problems(self) -> Iterator[Problem]:
        """Errors for values that are not text, which the API server would refuse."""
        at, value = self.place, self.value
        if isinstance(value, MapValue | ListValue):
            message = f"must be text, not a structure; write {shown(at.key)}: | and indent what follows"
            yield Problem(at.path, "SRC-1", message, at.line)
        elif value is not None and not isinstance(value, QuotedText) and _NO_TEXT.fullmatch(value):
            message = f"must be text for the API server; write {shown(value)} with the quotes"
            yield Problem(at.path, "SRC-1", message, at.line)


@dataclass(frozen=True, slots=True)
class _ConfigMap:
    """A ConfigMap of a manifest, or a mapping that counts as one.

    ``above``: lines of the stream before its document.
    ``repeated``: errors about duplicate keys.
    ``halves``: keys of ``body`` that have entries.
    """

    body: MapValue
    above: int
    repeated: tuple[Problem, ...]
    halves: tuple[str, ...] = _HALVES

    @property
    def name(self) -> str:
        """Name of the ConfigMap, empty without one."""
        metadata = self.body.get("metadata")
        return str(metadata.get("name")) if isinstance(metadata, MapValue) else ""

    def entries(self) -> Iterator[_Entry]:
        """All entries, with their places."""
        for half in self.halves:
            values = self.body.get(half)
            if isinstance(values, MapValue):
                for key, value in values.items():
                    yield _Entry(EntryPlace(half, str(key), self.above + values.lines[key]), value)

    def problems(self) -> Iterator[Problem]:
        """Errors for which the API server would refuse the ConfigMap."""
        yield from self.repeated
        for half in self.halves:
            if not isinstance(self.body.get(half), MapValue | None):
                line = self.above + self.body.lines[half]
                yield Problem(half, "SRC-1", "must be a mapping of keys to texts", line)
        for entry in self.entries():
            yield from entry.problems()

    def data(self) -> ConfigMapData:
        """Data as the API server would store it."""
        data: dict[str, str] = {}
        packed: dict[str, str] = {}
        for entry in self.entries():
            if isinstance(entry.value, str | None):
                into = packed if entry.place.half == "binaryData" else data
                into[entry.place.key] = str(entry.value or "")
        return ConfigMapData(data, packed)


def _wrapped(entries: MapValue) -> MapValue:
    """Wrap entries without a ConfigMap, under a key without a name."""
    body = MapValue()
    body[""], body.lines[""] = entries, 1
    return body


def _chosen(found: list[_ConfigMap]) -> tuple[_ConfigMap | None, _ConfigMap | None]:
    """Choose ``yunikorn-defaults`` and ``yunikorn-configs``. Raises `ConfigError` if that is ambiguous."""
    defaults, configs = ([one for one in found if one.name == name] for name in (DEFAULTS_NAME, CONFIGS_NAME))
    for same in (defaults, configs):
        if len(same) > 1:
            raise _refusal(
                f"ConfigMap {same[0].name} occurs {len(same)} times; check one namespace at a time"
            )
    if not (defaults or configs):
        if len(found) != 1:
            raise _refusal(f"there is no ConfigMap {CONFIGS_NAME} or {DEFAULTS_NAME} in this manifest")
        configs = found
    return next(iter(defaults), None), next(iter(configs), None)


def _refusal(message: str) -> ConfigError:
    return ConfigError((Problem("", "SRC-1", message),))


def _of_stream(text: bytes) -> Iterator[_ConfigMap]:
    read = 0
    for piece, above in _pieces(text):
        if b"ConfigMap" not in piece:
            continue
        read += 1
        if read > MOST_OBJECTS:
            raise _refusal(f"more than {MOST_OBJECTS} documents that may hold a ConfigMap; give fewer")
        yield from _within(_read(piece, above), above)


def _pieces(text: bytes) -> Iterator[tuple[bytes, int]]:
    """The documents of a stream, without markers, each with the number of lines above it."""
    above, start = 0, 0
    for end, following in [*(match.span() for match in _BETWEEN.finditer(text)), (len(text), len(text))]:
        yield text[start:end], above
        above += text.count(b"\n", start, following)
        start = following


def _read(piece: bytes, above: int) -> Document:
    try:
        document = read_document(piece)
    except ConfigError as error:
        raise ConfigError([_lower(problem, above) for problem in error.problems]) from None
    return Document(document.top, [_lower(problem, above) for problem in document.repeated])


def _lower(problem: Problem, above: int) -> Problem:
    return problem if problem.line is None else replace(problem, line=problem.line + above)


def _within(document: Document, above: int) -> Iterator[_ConfigMap]:
    top = document.top
    items = top.get("items") if isinstance(top, MapValue) else None
    for body in items if isinstance(items, ListValue) else [top]:
        if isinstance(body, MapValue) and body.get("kind") == "ConfigMap":
            yield _ConfigMap(body, above, tuple(document.repeated))
