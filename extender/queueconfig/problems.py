"""Problems of a document as values: where, by which rule, and what would be right."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.errors import PaddockError

Location = tuple[str | int, ...]
"""Keys and list positions from the top of the document: ``("partitions", 0, "queues", 2, "name")``."""

MAX_REPORTED = 1_000
"""Problems kept of one document; a file that is not a queue document at all could have a million."""

_SHOWN_CHARACTERS = 80
_MESSAGE_CHARACTERS = 500
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong. ``path`` as in ``partitions[0].queues[2].resources.max.vcore``, "" for the whole text.

    ``rule`` is a rule id of the specification. Broken YAML and the limits on size, depth and nodes have none
    of their own and count as CFG-2, the rule for YAML itself. ``line`` starts at 1, None when unknown.
    """

    path: str
    rule: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = self.path or "document"
        line = f" (line {self.line})" if self.line is not None else ""
        return f"{where}{line}: {self.message} [{self.rule}]"


class ConfigError(PaddockError):
    """A configuration that cannot be used: every problem found, in YuniKorn's order of checks (CFG 2.2)."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        more = len(self.problems) - 1
        super().__init__(f"{self.problems[0]}{f'; and {more} more' if more else ''}")


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """A problem as a rule states it: its place still in steps, its line not looked up yet."""

    at: Location
    rule: str
    message: str


def reported(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The first `MAX_REPORTED` problems, and after them one that says so when there are more.

    That one has the rule of the last, so that leaving out a kind of rules leaves it out as well.
    """
    first = tuple(islice(problems, MAX_REPORTED + 1))
    if len(first) <= MAX_REPORTED:
        return first
    message = f"more than {MAX_REPORTED} problems, the others are not listed; solve these and check again"
    return (*first[:MAX_REPORTED], Problem("", first[MAX_REPORTED - 1].rule, message))


def path_text(at: Location) -> str:
    """``("queues", 2, "nvidia.com/gpu")`` as ``queues[2]["nvidia.com/gpu"]``."""
    return "".join(_step_text(step) for step in at).removeprefix(".")


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    is_bare = len(step) <= _SHOWN_CHARACTERS and _BARE_KEY.fullmatch(step)
    return f".{step}" if is_bare else f"[{shown(step)}]"


def shown(text: str) -> str:
    """A text from the document, quoted and cut short, fit for one line of a message."""
    short = cut(text, _SHOWN_CHARACTERS)
    return json.dumps(short, ensure_ascii=not short.isprintable())


def one_line(text: str) -> str:
    """A message, cut short, with whatever cannot be printed written out."""
    short = cut(text)
    if short.isprintable():
        return short
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in short)


def cut(text: str, most: int = _MESSAGE_CHARACTERS) -> str:
    """``text``, cut to ``most`` characters and a mark; names in a document may be megabytes long."""
    return text if len(text) <= most else text[:most] + "…"
