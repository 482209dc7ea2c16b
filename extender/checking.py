"""``paddock check``: what is wrong with a queue document, all of it. Pure; the command line prints it.

Takes a plain document or a ConfigMap manifest. Exit codes: 0 right, 1 problems, 2 not readable.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.errors import PaddockError
from extender.queueconfig.document import MapValue, read_document
from extender.queueconfig.load import check_document
from extender.queueconfig.problems import ConfigError, Problem
from extender.queueconfig.sources import ConfigMapData, checksum, flatten
from extender.settings import settings_from


@dataclass(frozen=True, slots=True)
class Verdict:
    """``problems`` in YuniKorn's order of checks."""

    name: str
    problems: tuple[Problem, ...]

    @property
    def right(self) -> bool:
        return not self.problems


def check_text(text: bytes, *, name: str) -> Verdict:
    """Never raises; a text that cannot even be read has that as its problem."""
    try:
        top = read_document(text).top
        if isinstance(top, MapValue) and top.get("kind") == "ConfigMap":
            return Verdict(name, _of_config_map(top))
    except ConfigError as error:
        return Verdict(name, error.problems)
    return Verdict(name, check_document(text))


def _of_config_map(top: MapValue) -> tuple[Problem, ...]:
    try:
        flat = flatten(None, ConfigMapData(_texts(top, "data"), _texts(top, "binaryData")))
    except ConfigError as error:
        return error.problems
    found = list(check_document(flat.queues_text))
    try:
        settings_from(flat.settings, {})
    except PaddockError as error:
        found.append(Problem("data", "SRC-5", str(error)))
    return tuple(found)


def _texts(top: MapValue, key: str) -> dict[str, str]:
    half = top.get(key)
    if not isinstance(half, MapValue):
        return {}
    return {str(name): str(value) for name, value in half.items() if isinstance(value, str)}


def lines_of(verdict: Verdict) -> Iterator[str]:
    """For people: a line per problem, or that there is none."""
    if verdict.right:
        yield f"{verdict.name}: no problems"
    for problem in verdict.problems:
        yield f"{verdict.name}: {problem}"


def validation_of(text: bytes, *, active: str) -> dict[str, Any]:
    """The answer of ``POST /ws/v1/validate-conf`` (REST-10). ``active``: checksum of the document in force.

    As in YuniKorn it does not look for what shows only when a document is applied (SRC-11); the reason is the
    first problem in YuniKorn's order.
    """
    problems = [each for each in check_document(text) if not each.rule.startswith("APPLY")]
    if problems:
        return {"allowed": False, "reason": problems[0].message.partition("; ")[0]}
    own = checksum(text.decode("utf-8", "replace"))
    return {"allowed": True, "checksum": own, "checksumMatch": own == active}


def json_of(verdict: Verdict) -> str:
    problems = [
        {"path": each.path, "rule": each.rule, "message": each.message, "line": each.line}
        for each in verdict.problems
    ]
    return json.dumps({"name": verdict.name, "problems": problems}, indent=2)
