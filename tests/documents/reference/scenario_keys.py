"""Keys of a scenario file: the form of the value, whether the key is required, and its meaning.

Forms come from the golden file of the format and from the reader. Meanings are the comments of the fields
that store the keys.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic.alias_generators import to_camel

from extender.simulator.scenario import cluster_entries, model
from extender.simulator.scenario.model import ScenarioError
from extender.simulator.scenario.reader import scenario_from
from tests.documents.reference.meanings import meanings
from tests.interfaces.comparing import recorded_lines
from tests.interfaces.scenario_format import NONSENSE, Place, mistakes, takes

TOP = ""
"""Level of the file itself."""

CLASSES: Mapping[str, type] = {
    TOP: model.Scenario,
    "cluster": cluster_entries.ClusterEntry,
    "cluster.nodes[]": cluster_entries.NodeEntry,
    "cluster.nodes[].taints[]": cluster_entries.TaintEntry,
    "cluster.priorityClasses[]": cluster_entries.PriorityClassEntry,
    "cluster.namespaces[]": cluster_entries.NamespaceEntry,
    "cluster.podDisruptionBudgets[]": cluster_entries.BudgetEntry,
    "delays": model.Delays,
    "scheduler": model.SchedulerSettings,
    "steps[]": model.Step,
    "steps[].addNodes[]": cluster_entries.NodeEntry,
    "steps[].addNodes[].taints[]": cluster_entries.TaintEntry,
    "steps[].submit[]": model.PodEntry,
    "steps[].submit[].podGroup": model.PodGroup,
    "steps[].submit[].tolerations[]": model.TolerationEntry,
    "steps[].kill": model.Kill,
    "steps[].expect": model.Expect,
    "steps[].expect.pods.*": model.ExpectedPod,
}
"""Class for each level of the file. Objects of REST have none."""


class Kind(Enum):
    """Form of the value of a key."""

    TEXT = "text"
    NUMBER = "whole number"
    QUANTITY = "quantity"
    BOUND = "number or percentage"
    SWITCH = "true or false"
    DURATION = "duration"
    CHOICE = "one word"
    NAMES = "list of names"
    NAMES_OR_COUNTS = "list of names, or numbers by name"
    ENTRIES = "list of entries"
    KEYS = "mapping with keys"
    TEXTS = "texts by name"
    COUNTS = "numbers by name"
    SWITCHES = "true or false by name"
    QUANTITIES = "quantities by resource"
    AMOUNTS = "quantities by resource, by pod"
    OBJECTS = "mappings by name"
    ANYTHING = "any mapping"
    CONFIG = "queue document, its text, or a path"
    MEMBER = "member of an object"


class Key(NamedTuple):
    """A key of a level. ``names``: accepted names, if they are limited."""

    name: str
    kind: Kind
    choices: tuple[str, ...]
    meaning: str


_TEXT = {"text", "number", "switch", "duration"}
_ONE = {
    "switch": Kind.SWITCH,
    "duration": Kind.DURATION,
    "names": Kind.NAMES,
    "entries": Kind.ENTRIES,
    "keys": Kind.KEYS,
    "switches by name": Kind.SWITCHES,
    "objects by name": Kind.OBJECTS,
    "amounts by name": Kind.AMOUNTS,
}
_IN_CONTEXT = ("requiredNode", "priorityClass", "message")
"""Keys that need other keys beside them, so that they cannot be tried alone."""

_COMMENT = re.compile(r"((?:^    #:.*\n)+)    (\w+):", re.MULTILINE)
_INTERNAL = re.compile(r"; None [^.]*|, in milliseconds")
_MISSING = re.compile(r"(\w+) is missing")


@lru_cache(maxsize=1)
def levels() -> Mapping[str, tuple[Key, ...]]:
    """Keys of each level, in the order of the alphabet. A level is written as ``steps[].submit[]``."""
    explained = _meanings()
    found: dict[str, list[Key]] = {}
    for line in recorded_lines("scenario-format"):
        place, _, written = line.partition(": ")
        level, _, name = place.rpartition(".")
        forms = tuple(written.split(", ")) if written else ()
        kind = _kind(place, forms) if level in CLASSES else Kind.MEMBER
        choices = forms if kind is Kind.CHOICE else ()
        if choices and takes(place_of(place), ""):
            choices = (*choices, "")
        meaning = explained.get((level, name), "")
        found.setdefault(level, []).append(Key(name, kind, choices, meaning))
    return {level: tuple(keys) for level, keys in found.items()}


def place_of(shown: str) -> Place:
    """Steps to a place that is written as ``steps[].expect.pods.*``."""
    steps: list[str | int] = []
    for part in shown.split(".") if shown else ():
        steps.append(NONSENSE if part == "*" else part.removesuffix("[]"))
        if part.endswith("[]"):
            steps.append(0)
    return tuple(steps)


@lru_cache(maxsize=100)
def required(level: str) -> frozenset[str]:
    """Keys without which the reader finds something missing."""
    if level == TOP:
        try:
            scenario_from("{}", file="x", folder=Path("/nowhere"))
        except ScenarioError as error:
            said = [each.message for each in error.mistakes if not each.path]
    else:
        path = level.replace("[]", "[0]").replace("*", NONSENSE)
        said = [each.message for each in mistakes(place_of(level), {}) if each.path == path]
    return frozenset(match[1] for each in said if (match := _MISSING.match(each)))


def takes_resources(level: str) -> bool:
    """True if a level also takes names of resources as keys, such as ``nvidia.com/gpu``."""
    found = mistakes(place_of(level), {"example.com/thing": 1})
    return level != TOP and not any(each.message.startswith("unknown key") for each in found)


def _kind(place: str, forms: tuple[str, ...]) -> Kind:
    name, at = place.rpartition(".")[2], place_of(place)
    if name == "config":
        return Kind.CONFIG
    if name in _IN_CONTEXT or set(forms) == _TEXT:
        return Kind.TEXT
    if forms == ("number",):
        return Kind.QUANTITY if takes(at, "500m") else Kind.BOUND if takes(at, "10%") else Kind.NUMBER
    if forms == ("counts by name",):
        return Kind.QUANTITIES if takes(at, {"cpu": "500m"}) else Kind.COUNTS
    if forms == ("names", "counts by name"):
        return Kind.NAMES_OR_COUNTS
    if "texts by name" in forms:
        return Kind.ANYTHING if "objects by name" in forms else Kind.TEXTS
    return _ONE[forms[0]] if len(forms) == 1 and forms[0] in _ONE else Kind.CHOICE


# -- meanings ------------------------------------------------------------------------------------------------


def _meanings() -> Mapping[tuple[str, str], str]:
    """Meaning of each key of a level: the comment of its field, or that of the file of meanings."""
    comments = {kind: _comments(kind) for kind in CLASSES.values()}
    unread = {
        f"{CLASSES[level].__name__}.{name}": (level, name)
        for level, name in _named_keys()
        if name not in comments[CLASSES[level]]
    }
    added = meanings("scenario", unread)
    return {
        (level, name): comments[CLASSES[level]].get(name) or added[f"{CLASSES[level].__name__}.{name}"]
        for level, name in _named_keys()
    }


def _named_keys() -> Iterator[tuple[str, str]]:
    for line in recorded_lines("scenario-format"):
        level, _, name = line.partition(": ")[0].rpartition(".")
        if level in CLASSES:
            yield level, name


def _comments(kind: type) -> Mapping[str, str]:
    """Comment above each field of a class, by the field's key in the file."""
    found = {}
    for lines, field in _COMMENT.findall(inspect.getsource(kind)):
        text = " ".join(line.strip().removeprefix("#:").strip() for line in lines.splitlines())
        found[to_camel(field)] = _INTERNAL.sub("", text).replace("``", "`")
    return found
