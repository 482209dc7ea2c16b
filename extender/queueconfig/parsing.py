"""Text to checked shape: reads YAML, holds it against the schema, and says what does not match and why."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from extender.queueconfig import schema
from extender.queueconfig.document import ListValue, MapValue, Value, line_of, read_document
from extender.queueconfig.problems import (
    MAX_REPORTED,
    ConfigError,
    Finding,
    Location,
    Problem,
    cut,
    path_text,
    shown,
)

MAX_QUEUES = 100_000
"""Queues of one document, far above any real one."""

SECTIONS: dict[str, type[schema.Section]] = {
    "partitions": schema.PartitionSection,
    "queues": schema.QueueSection,
    "placementrules": schema.PlacementRule,
    "parent": schema.PlacementRule,
    "filter": schema.RuleFilter,
    "limits": schema.LimitEntry,
    "resources": schema.Resources,
    "childtemplate": schema.ChildTemplate,
    "preemption": schema.Preemption,
    "nodesortpolicy": schema.NodeSortPolicy,
    "usergroupresolver": schema.UserGroupResolver,
}
_AMOUNT_MAPS = frozenset(("guaranteed", "max", "maxresources"))
_SHAPES = {"list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping", "string_type": "text"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document of the right shape, and what was wrong that does not stop further checks."""

    document: schema.QueuesDocument
    problems: tuple[Problem, ...]
    top: Value

    def located(self, findings: Sequence[Finding]) -> tuple[Problem, ...]:
        """What the rules found, with the paths and lines of this document."""
        return tuple(_problem(finding, self.top) for finding in findings)


def parse(text: str | bytes) -> Parsed:
    """Read ``text`` by CFG-1 to CFG-3; an empty document has no partitions.

    Unknown and repeated keys are reported in the result and left out of it, so that one misspelt key does
    not hide the other problems. Raises `ConfigError` when a value has the wrong type: rules cannot judge
    what could not be read.
    """
    read = read_document(text)
    top = MapValue() if read.top is None else read.top
    _refuse_too_many_queues(top)
    document, unknown = _without_unknown_keys(top, read.repeated)
    return Parsed(document, (*read.repeated, *unknown), top)


def _refuse_too_many_queues(top: Value) -> None:
    """Before the models are built: a queue costs 2 KB and more there."""
    queues, waiting = 0, [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ListValue):
            waiting.extend(node)
        elif isinstance(node, MapValue):
            waiting.extend(node.values())
            listed = node.get("queues")
            queues += len(listed) if isinstance(listed, ListValue) else 0
    if queues > MAX_QUEUES:
        raise ConfigError((Problem("", "CFG-2", f"{queues} queues; at most {MAX_QUEUES} are allowed"),))


def _without_unknown_keys(
    top: Value, repeated: Sequence[Problem]
) -> tuple[schema.QueuesDocument, tuple[Problem, ...]]:
    try:
        return schema.QueuesDocument.model_validate(top), ()
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
    problems = tuple(_problem(_finding(detail), top) for detail in details[:MAX_REPORTED])
    for detail in details:
        if detail["type"] != "extra_forbidden":
            raise ConfigError((*repeated, *problems))
    for detail in details:
        _remove(top, detail["loc"])
    return schema.QueuesDocument.model_validate(top), problems


def _remove(top: Any, at: Location) -> None:
    *path, key = at
    for step in path:
        top = top[step]
    # An anchored mapping is reported once per alias and is one object.
    top.pop(key, None)


def _problem(finding: Finding, top: Value) -> Problem:
    return Problem(path_text(finding.at), finding.rule, cut(finding.message), line_of(top, finding.at))


def _finding(detail: ErrorDetails) -> Finding:
    at = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return Finding(at, "CFG-1", _unknown_key(at))
    is_amount = len(at) > 1 and at[-2] in _AMOUNT_MAPS
    wanted = _SHAPES.get(detail["type"])
    message = (
        f"must be {wanted}, not {_kind(detail['input'])}" if wanted else f"{detail['msg']}: {_given(detail)}"
    )
    return Finding(at, "CFG-3" if is_amount else "CFG-2", message)


def _unknown_key(at: Location) -> str:
    key = str(at[-1])
    known = sorted(_section(at[:-1]).model_fields)
    close = difflib.get_close_matches(key[:80].lower(), known, n=1)
    hint = f"did you mean {close[0]}" if close else f"known here: {', '.join(known)}"
    return f"unknown key {shown(key)}; {hint}"


def _section(at: Location) -> type[schema.Section]:
    keys = [step for step in at if isinstance(step, str)]
    return SECTIONS[keys[-1]] if keys else schema.QueuesDocument


def _given(detail: ErrorDetails) -> str:
    given = detail["input"]
    return f"{shown(given)} is not" if isinstance(given, str) else f"it is {_kind(given)}"


def _kind(value: Any) -> str:
    match value:
        case MapValue():
            return "a mapping"
        case ListValue():
            return "a list"
        case None:
            return "null"
        case _:
            return shown(str(value))
