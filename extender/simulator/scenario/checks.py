"""Rules of a scenario file beyond the type of each value: names given once, keys that need others."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import PlainValidator, ValidationInfo

from extender.queueconfig.document import ListValue, MapValue, Value
from extender.simulator.scenario.fields import (
    Found,
    Named,
    Placed,
    a_mapping,
    amount,
    amounts,
    is_true,
    object_name,
    refuse,
    text,
    tried,
    wrong,
)
from extender.simulator.scenario.rest_subsets import unknown_members
from extender.simulator.scenario.scalars import (
    LONGEST_NAME,
    RESOURCE,
    is_label,
    milliseconds_of,
    plain,
    whole_number,
)

API_VERSION = "paddock.dev/v1"
KIND = "Scenario"
MOST_OBJECTS = 100_000
"""Pods, or nodes, that one scenario may name."""

SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

_NODE_AMOUNTS = {"cpu": "0", "memory": "0", "pods": "110"}
TOP_KEYS = ("apiVersion", "kind", "config")
NODE_KEYS = ("name", "count", *_NODE_AMOUNTS)
POD_KEYS = ("count", "cpu", "memory", "resources", "priorityClass")
"""Keys of a pod that are read into one field together."""
_BOUND = re.compile(r"[0-9]{1,6}|(100|[0-9]{1,2})%", re.ASCII)


class ConfigText(NamedTuple):
    """Queue document as the loader takes it."""

    #: Text of the document.
    text: str
    #: Line of the key that holds it or its path.
    line: int


class Resize(NamedTuple):
    """Change of a pod's requests in place."""

    #: Pod that changes.
    pod: Named
    #: New requests: quantity by Kubernetes resource name.
    requests: Mapping[str, str]


@dataclass(slots=True)
class ObjectAllowance:
    """The number of objects that a scenario may still name, so that a short file cannot ask for millions."""

    #: Number that is left.
    left: int = MOST_OBJECTS
    #: True if the mistake was reported, which is done once.
    refused: bool = False


@dataclass(slots=True)
class Reading:
    """Context in which a file is read."""

    #: Name of the file.
    file: str
    #: Names of its PriorityClasses.
    classes: frozenset[str]
    #: Function that makes the text of a ``config`` value.
    config: Callable[[Value], str]
    #: Nodes that it may still name.
    nodes: ObjectAllowance = field(default_factory=ObjectAllowance)
    #: Pods that it may still name.
    pods: ObjectAllowance = field(default_factory=ObjectAllowance)


def file_of(value: Placed, info: ValidationInfo[Reading]) -> str:
    """The file's name, if it says that it is a scenario."""
    found: list[Found] = []
    for key, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if key not in value:
            found.append(((), f"{key} is missing; it must be {wanted}"))
        elif tried(text, value[key], key, found) != wanted:
            found.append(((key,), f"must be {wanted}"))
    refuse(found)
    return str(info.context.file)


def config_of(value: Placed, info: ValidationInfo[Reading]) -> ConfigText | None:
    """The queue document of an entry; None if it names none."""
    if "config" not in value:
        return None
    found: list[Found] = []
    made = tried(info.context.config, value["config"], "config", found)
    refuse(found)
    return ConfigText(made or "", value.lines["config"])


def required_config(value: Placed, info: ValidationInfo[Reading]) -> ConfigText | None:
    """The queue document of an entry that must have one."""
    refuse([((), "config is missing")] if "config" not in value else ())
    return config_of(value, info)


# -- names ---------------------------------------------------------------------------------------------------


def raw_name(value: Placed) -> str:
    """The ``name`` of an entry as written; empty if it is no text."""
    return str(value["name"]) if isinstance(value.get("name"), str) else ""


def names_of(value: Placed, allowance: ObjectAllowance) -> tuple[str, ...]:
    """``name``, or ``name-0`` to ``name-(count-1)`` if ``count`` is given."""
    found: list[Found] = []
    name = raw_name(value)
    if "name" in value:
        tried(object_name, value["name"], "name", found)
    else:
        found.append(((), "name is missing"))
    count = _count(value, found)
    value.names = (name,)
    if not _is_allowed(allowance, count or 1, found) or count is None:
        refuse(found)
        return value.names
    if len(f"{name}-{count - 1}") > LONGEST_NAME >= len(name):
        message = f"too long to be counted: with its number at most {LONGEST_NAME} characters"
        found.append((("name",), message))
    value.names = tuple(f"{name}-{at}" for at in range(count)) if name else ("",)
    refuse(found)
    return value.names


def _count(value: Placed, found: list[Found]) -> int | None:
    if "count" not in value:
        return None
    count = whole_number(value["count"])
    if count is None or not 1 <= count <= MOST_OBJECTS:
        found.append((("count",), f"must be a whole number from 1 to {MOST_OBJECTS}"))
        return 1
    return count


def _is_allowed(allowance: ObjectAllowance, count: int, found: list[Found]) -> bool:
    """True if ``count`` more objects are allowed. The first entry beyond the bound is a mistake."""
    if count <= allowance.left:
        allowance.left -= count
        return True
    if not allowance.refused:
        found.append(((), f"more than {MOST_OBJECTS} pods or nodes in one scenario"))
    allowance.refused = True
    return False


def node_names(value: Placed, info: ValidationInfo[Reading]) -> tuple[str, ...]:
    """The names of the nodes that an entry stands for."""
    return names_of(value, info.context.nodes)


def pod_names(value: Placed, info: ValidationInfo[Reading]) -> tuple[str, ...]:
    """The names of the pods that an entry stands for."""
    return names_of(value, info.context.pods)


def once(said: str, *, by_namespace: bool = False) -> Callable[[ListValue], Iterator[Found]]:
    """Check that each name is given once. ``said``: the mistake, with ``{}`` for the name."""

    def check(items: ListValue) -> Iterator[Found]:
        seen: set[tuple[str, str]] = set()
        for at, item in enumerate(items):
            if isinstance(item, Placed):
                given = {
                    (_space(item) if by_namespace else "", name) for name in item.names or (raw_name(item),)
                }
                given = {each for each in given if each[1]}
                taken = sorted(given & seen)
                if taken:
                    yield (at, "name"), said.format(taken[0][1])
                seen |= given

    return check


def _space(value: Placed) -> str:
    found = value.get("namespace", "default")
    return str(found) if isinstance(found, str) else "default"


def class_name(value: Any) -> str:
    """The name of a PriorityClass that is not built in."""
    found = object_name(value)
    if found in SYSTEM_CLASSES:
        raise wrong(f"{found} is built in")
    return found


def namespace_name(value: Any) -> str:
    """The name of a namespace."""
    found = object_name(value)
    if not is_label(found):
        raise wrong("the name of a namespace has no dot and at most 63 characters")
    return found


# -- entries -------------------------------------------------------------------------------------------------


def node_amounts(value: Placed) -> Mapping[str, str]:
    """The allocatable amounts of a node, with the defaults."""
    found: list[Found] = []
    made = {
        name: tried(amount, value[name], name, found) or default if name in value else default
        for name, default in _NODE_AMOUNTS.items()
    }
    for name in value:
        if is_extra(name):
            made[name] = tried(amount, value[name], name, found) or "0"
    refuse(found)
    return made


def is_extra(name: str) -> bool:
    """True if a key of a node is the amount of another resource."""
    return name not in _NODE_AMOUNTS and RESOURCE.fullmatch(name) is not None


def requests_of(value: Placed) -> Mapping[str, str]:
    """The requests of a pod, from ``cpu``, ``memory`` and ``resources``."""
    found: list[Found] = []
    made = (tried(amounts, value["resources"], "resources", found) or {}) if "resources" in value else {}
    for key in ("cpu", "memory"):
        quantity = tried(amount, value[key], key, found) if key in value else None
        if quantity is not None:
            if key in made:
                found.append(((key,), "is given in resources too"))
            made[key] = quantity
    refuse(found)
    return made


def bound(value: Any) -> str:
    """A bound of a PodDisruptionBudget: a number or a percentage."""
    found = text(value)
    if not _BOUND.fullmatch(found):
        raise wrong("must be a number or a percentage up to 100%")
    return found


def one_bound(value: Placed) -> Iterator[Found]:
    """Mistakes of a budget that has not exactly one bound."""
    if ("maxUnavailable" in value) == ("minAvailable" in value):
        yield (), "needs exactly one of maxUnavailable and minAvailable"


def priority_class(value: Placed, info: ValidationInfo[Reading]) -> str | None:
    """The PriorityClass of a pod, which the file or Kubernetes must define."""
    if "priorityClass" not in value:
        return None
    found: list[Found] = []
    name = tried(text, value["priorityClass"], "priorityClass", found)
    if name is not None and "priority" in value:
        found.append((("priorityClass",), "comes together with priority; give one of them"))
    if name is not None and name not in info.context.classes and name not in SYSTEM_CLASSES:
        found.append((("priorityClass",), f"there is no priority class {name} in cluster.priorityClasses"))
    refuse(found)
    return name


def tolerates_something(value: Placed) -> Iterator[Found]:
    """Mistakes of a toleration that tolerates nothing."""
    if not value.get("key") and value.get("operator") != "Exists":
        yield (), "a toleration needs a key, or operator: Exists"


def pod_spec(value: Any) -> Mapping[str, Any]:
    """The ``spec`` of a pod, without keys that an entry spells itself."""
    own = ("nodeName", "schedulerName", "priority", "priorityClassName")
    refuse(((key,), "has a key of its own in a submit entry") for key in own if key in a_mapping(value))
    return dict(plain(value))


def daemon_set(value: Placed) -> Iterator[Found]:
    """Mistakes of a DaemonSet's pod without a required node."""
    is_daemon_set = is_true(value.get("daemonSet"))
    is_bound = isinstance(value.get("requiredNode"), str)
    if is_daemon_set and not is_bound:
        yield (), "daemonSet needs requiredNode"
    if is_bound and not is_daemon_set:
        yield ("requiredNode",), "needs daemonSet: true"


# -- steps ---------------------------------------------------------------------------------------------------


def in_order(steps: ListValue) -> Iterator[Found]:
    """Mistakes of steps that are not in the order of time."""
    last = 0
    for at, step in enumerate(steps):
        if not isinstance(step, Placed):
            continue
        given = step.get("at")
        found = milliseconds_of(given) if isinstance(given, str) else None
        if "at" not in step:
            yield (at,), "at is missing"
        elif found is not None and found < last:
            yield (at, "at"), "steps must be in ascending order"
        last = last if found is None else found


def resized(value: Any) -> tuple[Resize, ...]:
    """The resizes of a step."""
    found: list[Found] = []
    made = [
        Resize(Named(str(name), value.lines[name]), tried(_some_amounts, below, name, found) or {})
        for name, below in a_mapping(value).items()
    ]
    refuse(found)
    return tuple(made)


def _some_amounts(value: Any) -> Mapping[str, str]:
    if value == {}:
        raise wrong("must name at least one resource")
    return amounts(value)


def rest_objects(kind: str) -> PlainValidator:
    """Subsets of REST objects by name. ``kind``: that of the objects."""

    def read(value: Any) -> Mapping[str, Mapping[str, Any]]:
        found: list[Found] = []
        made = {}
        for name, below in a_mapping(value).items():
            if not isinstance(below, MapValue):
                found.append(((name,), "must be a mapping"))
                continue
            made[name] = plain(below)
            members = unknown_members(kind, made[name])
            found += (((name,), f"the {kind} object has no member {member}") for member in members)
        refuse(found)
        return made

    return PlainValidator(read)


def rejection(value: Placed) -> Iterator[Found]:
    """Mistakes of a ``message`` without a rejected configuration."""
    if "message" in value and not is_true(value.get("configRejected")):
        yield ("message",), "needs configRejected: true"


def lines_of(value: Placed) -> Mapping[str, int]:
    """The lines of every key and of every name below one."""
    lines: dict[str, int] = {}
    for key, below in value.items():
        lines[key] = value.lines[key]
        if isinstance(below, MapValue):
            lines |= {f"{key}.{name}": below.lines[name] for name in below}
    return lines
