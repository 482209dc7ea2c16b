"""Errors of a queue document, as values."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.errors import PaddockError

Location = tuple[str | int, ...]
"""Keys and list positions from the top of the document: ``("partitions", 0, "queues", 2, "name")``."""

MAX_REPORTED = 1_000
"""Errors of a document, at most. A file that is no queue document could have a million."""

_SHOWN_CHARACTERS = 80
# Escaped, a character takes up to twelve. What is right must fit behind it.
_ESCAPED = 20
_MESSAGE_CHARACTERS = 500
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a document, or a warning about it."""

    #: Such as ``partitions[0].queues[2].resources.max.vcore``. Empty for the whole document.
    path: str
    #: Rule id of the specification. CFG-2 also stands for broken YAML and for limits of size and depth.
    rule: str
    #: The error, and how to correct it.
    message: str
    #: Line number from 1, None if it is unknown.
    line: int | None = None

    def __str__(self) -> str:
        where = self.path or "document"
        line = f" (line {self.line})" if self.line is not None else ""
        return f"{where}{line}: {self.message} [{self.rule}]"


class ConfigError(PaddockError):
    """An invalid configuration. ``problems``: all errors, in YuniKorn's order of checks (CFG 2.2)."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        more = len(self.problems) - 1
        super().__init__(f"{self.problems[0]}{f'; and {more} more' if more else ''}")


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """An error as a rule reports it, without path text and line."""

    at: Location
    rule: str
    message: str


def reported(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The first `MAX_REPORTED` errors. If there are more, a last one says so."""
    # It has the rule of the last error, so that a filter by rules treats both alike.
    first = tuple(islice(problems, MAX_REPORTED + 1))
    if len(first) <= MAX_REPORTED:
        return first
    message = f"more than {MAX_REPORTED} problems, the others are not listed; solve these and check again"
    return (*first[:MAX_REPORTED], Problem("", first[MAX_REPORTED - 1].rule, message))


def path_text(at: Location) -> str:
    """A location as text, such as ``queues[2]["nvidia.com/gpu"]``."""
    return "".join(_step_text(step) for step in at).removeprefix(".")


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    is_bare = len(step) <= _SHOWN_CHARACTERS and _BARE_KEY.fullmatch(step)
    return f".{step}" if is_bare else f"[{shown(step)}]"


def shown(text: str) -> str:
    """A text of the document, quoted and shortened, for one line of a message."""
    short = cut(text, _SHOWN_CHARACTERS)
    return json.dumps(short, ensure_ascii=False) if short.isprintable() else json.dumps(cut(text, _ESCAPED))


def one_line(text: str) -> str:
    """A shortened message, with unprintable characters escaped."""
    short = cut(text)
    if short.isprintable():
        return short
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in short)


def cut(text: str, most: int = _MESSAGE_CHARACTERS) -> str:
    """A text of at most ``most`` characters and an ellipsis. Names in a document may be megabytes long."""
    return text if len(text) <= most else text[:most] + "…"
