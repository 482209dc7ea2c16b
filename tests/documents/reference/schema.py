"""The JSON schema of a scenario file, for editors."""

import json
from collections.abc import Mapping
from typing import Any

from tests.documents.reference.scenario_keys import CLASSES, TOP, Key, Kind, levels, required, takes_resources

Schema = dict[str, Any]

_TEXT: Schema = {"type": ["string", "number", "boolean"]}
_NAME: Schema = {"type": ["string", "number"]}
_QUANTITY: Schema = {"type": ["string", "number"]}
_WHOLE: Schema = {"type": "integer"}
_SWITCH: Schema = {"type": "boolean"}
_RESOURCES = "^(ephemeral-storage|hugepages-.+|[^/]+/.+)$"


def _by_name(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


_PLAIN: Mapping[Kind, Schema] = {
    Kind.TEXT: _TEXT,
    Kind.NUMBER: _WHOLE,
    Kind.QUANTITY: _QUANTITY,
    Kind.BOUND: {
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{1,6}%?$"}]
    },
    Kind.SWITCH: _SWITCH,
    Kind.DURATION: {
        "anyOf": [{"type": "string", "pattern": "^(0|([0-9.]+(ns|us|µs|μs|ms|s|m|h))+)$"}, {"const": 0}]
    },
    Kind.NAMES: {"type": "array", "items": _NAME},
    Kind.NAMES_OR_COUNTS: {"anyOf": [{"type": "array", "items": _NAME}, _by_name(_WHOLE)]},
    Kind.TEXTS: _by_name(_TEXT),
    Kind.COUNTS: _by_name(_WHOLE),
    Kind.SWITCHES: _by_name(_SWITCH),
    Kind.QUANTITIES: _by_name(_QUANTITY),
    Kind.AMOUNTS: _by_name(_by_name(_QUANTITY)),
    Kind.ANYTHING: {"type": "object"},
    Kind.CONFIG: {"type": ["object", "string"]},
    Kind.MEMBER: {},
}


def schema_text() -> str:
    """The schema as JSON."""
    return json.dumps(scenario_schema(), indent=1, ensure_ascii=False) + "\n"


def scenario_schema() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scenario of Paddock",
        "description": "Written by `python -m tests.documents.reference`; do not edit.",
        **_level(TOP),
    }


def _level(level: str) -> Schema:
    """A mapping with the keys of a level, and no others."""
    made: Schema = {
        "type": "object",
        "properties": {key.name: _described(level, key) for key in levels()[level]},
        "additionalProperties": False,
    }
    needed = sorted(required(level)) if level in CLASSES else []
    if needed:
        made["required"] = needed
    if level in CLASSES and takes_resources(level):
        made["patternProperties"] = {_RESOURCES: _QUANTITY}
    return made


def _described(level: str, key: Key) -> Schema:
    described = {"description": key.meaning} if key.meaning else {}
    return {**described, **_value(f"{level}.{key.name}".removeprefix("."), key)}


def _value(place: str, key: Key) -> Schema:
    match key.kind:
        case Kind.CHOICE:
            return {"enum": list(key.choices)}
        case Kind.KEYS:
            return _level(place)
        case Kind.ENTRIES:
            # Entries whose keys only kube-scheduler or Paddock knows are free.
            entry = f"{place}[]"
            return {"type": "array", "items": _level(entry) if entry in levels() else {"type": "object"}}
        case Kind.OBJECTS:
            return _by_name(_level(f"{place}.*"))
        case _:
            return _PLAIN[key.kind]
