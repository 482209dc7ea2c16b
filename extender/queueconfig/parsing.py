"""Parsing of a queue document: reads the YAML and validates it against the schema."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from extender.queueconfig import schema
from extender.queueconfig.document import ListValue, MapValue, QuotedText, Value, line_of, read_document
from extender.queueconfig.problems import (
    MAX_REPORTED,
    ConfigError,
    DocumentFinding,
    Location,
    Problem,
    one_line,
    path_text,
    reported,
    shown,
)

MAX_QUEUES = 100_000
"""Queues of a document, far more than any real one has."""

MAX_PATHS = 16 * 1024 * 1024
"""Characters of all queue paths together. The path of a queue repeats the names of all queues above it."""

MAX_MISTAKES = 20_000
"""Schema errors that are reported separately. Each costs a kilobyte."""

MAX_LEFT_OUT = 100
"""Values of a wrong type that do not hide other errors. Each finding is compared with all of them."""

SECTIONS: dict[str, type[schema.Section]] = {
    "partitions": schema.PartitionSection,
    "queues": schema.QueueSection,
    "placementrules": schema.PlacementRule,
    "parent": schema.PlacementRule,
    "filter": schema.RuleFilter,
    "limits": schema.LimitEntry,
    "resources": schema.Resources,
    "childtemplate": schema.ChildTemplate,
    "preemption": schema.PreemptionSection,
    "nodesortpolicy": schema.NodeSortPolicy,
    "usergroupresolver": schema.UserGroupResolver,
}
_LONGEST_NAME = 64
_AMOUNT_MAPS = frozenset(("guaranteed", "max", "maxresources"))
_SHAPES = {
    "list_type": "a list; write [a, b], or lines that begin with a dash",
    "dict_type": "a mapping; write {key: value}, or lines with key: value",
    "model_type": "a mapping; write {key: value}, or lines with key: value",
    "string_type": "text; write one value",
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document that matches the schema, with errors that do not prevent further checks.

    ``left_out``: places of values of a wrong type, which were removed from ``document``.
    """

    document: schema.QueuesDocument
    problems: tuple[Problem, ...]
    top: Value
    left_out: tuple[Location, ...] = ()

    def located(self, findings: Iterable[DocumentFinding]) -> Iterator[Problem]:
        """Add the paths and lines of the document to findings of rules.

        Findings that may be due to a removed value are left out.
        """
        return (_problem(finding, self.top) for finding in findings if not self._follows(finding.at))

    def _follows(self, at: Location) -> bool:
        return any(place[: len(at)] == at[: len(place)] for place in self.left_out)


def parse(text: str | bytes) -> Parsed:
    """Parse a document (CFG-1 to CFG-3). An empty one has no partitions.

    Unknown and duplicate keys and values of a wrong type are removed and reported in the result, so that they
    do not hide other errors. Raises `ConfigError` if an item of a list has the wrong type.
    """
    read = read_document(text)
    top = MapValue() if read.top is None else read.top
    _drop_null_items(top)
    _refuse_too_many_queues(top)
    document, mistakes, left_out = _without_mistakes(top, read.repeated)
    return Parsed(document, (*read.repeated, *mistakes), top, left_out)


def _drop_null_items(top: Value) -> None:
    """Remove null items from lists, as YuniKorn's parser does."""
    waiting, seen = [top], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, (str, NoneType)) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ListValue):
            places = [place for place, item in enumerate(node) if item is not None]
            node.lines[:] = [node.lines[place] for place in places]
            node[:] = [node[place] for place in places]
        waiting.extend(node.values() if isinstance(node, MapValue) else node)


def _refuse_too_many_queues(top: Value) -> None:
    """Raise `ConfigError` for more than `MAX_QUEUES` queues, or more than `MAX_PATHS` characters of paths."""
    # Later steps cost 2 KB for each queue.
    queues, paths = 0, 0
    waiting = [(top, 0)]
    while waiting:
        node, above = waiting.pop()
        below: Iterable[Value] = ()
        if isinstance(node, ListValue):
            below = node
        elif isinstance(node, MapValue):
            below, listed = node.values(), node.get("queues")
            above += 1 + min(len(node.get("name") or ""), _LONGEST_NAME)
            count = len(listed) if isinstance(listed, ListValue) else 0
            queues, paths = queues + count, paths + count * above
        waiting.extend((each, above) for each in below)
    if queues > MAX_QUEUES:
        raise _refusal(f"{queues} queues; at most {MAX_QUEUES} are allowed")
    if paths > MAX_PATHS:
        raise _refusal(f"all queue paths together have {paths} characters; at most {MAX_PATHS} are allowed")


def _refusal(message: str) -> ConfigError:
    return ConfigError((Problem("", "CFG-2", message),))


def _without_mistakes(
    top: Value, repeated: Sequence[Problem]
) -> tuple[schema.QueuesDocument, tuple[Problem, ...], tuple[Location, ...]]:
    """The document, what is wrong with its shape, and where values of a wrong type stood."""
    try:
        return schema.QueuesDocument.model_validate(top), (), ()
    except ValidationError as error:
        if error.error_count() > MAX_MISTAKES:
            what = f"{error.error_count()} keys that are unknown or values of another kind than expected"
            raise _refusal(f"{what}; give a queue document") from None
        details = error.errors(include_url=False, include_context=False)
    problems = tuple(_problem(_finding(detail), top) for detail in details[: MAX_REPORTED + 1])
    unread = tuple(detail["loc"] for detail in details if detail["type"] != "extra_forbidden")
    if len(unread) > MAX_LEFT_OUT or not all(at and isinstance(at[-1], str) for at in unread):
        raise ConfigError(reported((*repeated, *problems)))
    for detail in details:
        _remove(top, detail["loc"])
    try:
        return schema.QueuesDocument.model_validate(top), problems, unread
    except ValidationError:
        raise ConfigError(reported((*repeated, *problems))) from None


def _remove(top: Any, at: Location) -> None:
    *path, key = at
    for step in path:
        # An anchored mapping is reported once per alias and is one object.
        if isinstance(top, MapValue) and isinstance(step, str):
            top = top.get(step)
        elif isinstance(top, ListValue) and isinstance(step, int):
            top = top[step]
    if isinstance(top, MapValue):
        top.pop(str(key), None)


def _problem(finding: DocumentFinding, top: Value) -> Problem:
    line = line_of(top, finding.at)
    return Problem(path_text(finding.at), finding.rule, one_line(finding.message), line)


def _finding(detail: ErrorDetails) -> DocumentFinding:
    at, given = detail["loc"], detail["input"]
    if detail["type"] == "extra_forbidden":
        return DocumentFinding(at, "CFG-1", _unknown_key(at))
    is_amount = len(at) > 1 and at[-2] in _AMOUNT_MAPS
    rule = "CFG-3" if is_amount else "CFG-2"
    wanted = _SHAPES.get(detail["type"])
    if wanted is None:
        return DocumentFinding(at, rule, f"{_kind(given)} is not {detail['msg']}")
    shape, _, how = wanted.partition("; ")
    how = _policy_example(given) if at[-1:] == ("nodesortpolicy",) else how
    return DocumentFinding(at, rule, f"must be {shape}, not {_kind(given)}; {how}")


def _policy_example(given: Any) -> str:
    """Correct way to write the policy that was given, or an example (NODE-4)."""
    policy = given if given in schema.NODE_POLICIES else schema.NODE_POLICIES[0]
    return f"write nodesortpolicy: {{type: {policy}}}"


def _unknown_key(at: Location) -> str:
    key = str(at[-1])
    known = sorted(_section(at[:-1]).model_fields)
    close = difflib.get_close_matches(key[:80].lower(), known, n=1)
    hint = f"did you mean {close[0]}" if close else f"known here: {', '.join(known)}"
    return f"unknown key {shown(key)}; {hint}"


def _section(at: Location) -> type[schema.Section]:
    keys = [step for step in at if isinstance(step, str)]
    return SECTIONS[keys[-1]] if keys else schema.QueuesDocument


def _kind(value: Any) -> str:
    match value:
        case MapValue():
            return "a mapping"
        case ListValue():
            return "a list"
        case None:
            return "null"
        case QuotedText():
            return f"the quoted text {shown(value)}"
        case _:
            return shown(str(value))
