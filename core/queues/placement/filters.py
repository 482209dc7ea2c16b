"""Whom a placement rule is for (PL-5)."""

import re
from dataclasses import dataclass
from functools import lru_cache

from core.queues.pattern import PatternError, compiled
from core.queues.spec import FilterSpec

SPECIAL = frozenset("^$*+?()[{}|")
"""A single entry with one of these is a regular expression (CFG-30)."""

USER_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9:#/_.@-]*[$]?", re.ASCII)
GROUP_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Names:
    """One list of a filter: exact names, or one regular expression."""

    exact: frozenset[str]
    pattern: str = ""

    def match(self, name: str) -> bool:
        return name in self.exact or (bool(self.pattern) and compiled(self.pattern).search(name))


def passes(spec: FilterSpec, user: str, groups: tuple[str, ...]) -> bool:
    """Whether a rule with this filter looks at an application of that user.

    Without users and groups an allow filter passes all and a deny filter none.
    """
    if not (spec.users or spec.groups):
        return spec.allow
    users, named = _read(spec)
    return (users.match(user) or any(named.match(group) for group in groups)) == spec.allow


@lru_cache(maxsize=1024)
def _read(spec: FilterSpec) -> tuple[_Names, _Names]:
    return _names(spec.users, USER_NAME), _names(spec.groups, GROUP_NAME)


def _names(entries: tuple[str, ...], valid: re.Pattern[str]) -> _Names:
    """Of two or more entries those that are no names are dropped."""
    if len(entries) == 1 and SPECIAL & set(entries[0]):
        try:
            compiled(entries[0])
        except PatternError:
            return _Names(frozenset())
        return _Names(frozenset(), entries[0])
    return _Names(frozenset(entry for entry in entries if valid.fullmatch(entry)))
