"""Filters of placement rules: the users and groups that a rule is for (PL-5)."""

import re
from dataclasses import dataclass
from functools import lru_cache

from core.queues.spec import FilterSpec, NameMatcher

SPECIAL = frozenset("^$*+?()[{}|")
"""Characters that make a single entry a regular expression (CFG-30)."""

USER_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9:#/_.@-]*[$]?", re.ASCII)
GROUP_NAME = re.compile(r"[_a-zA-Z][a-zA-Z0-9:_.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Names:
    """List of names in a filter."""

    #: Names that match as they are.
    exact: frozenset[str]
    #: Pattern for other names. None unless the list is one regular expression.
    pattern: NameMatcher | None

    def match(self, name: str) -> bool:
        return name in self.exact or (self.pattern is not None and self.pattern(name))


def is_expression(entries: tuple[str, ...]) -> bool:
    """True if the list of a filter is one regular expression (CFG-30)."""
    return len(entries) == 1 and not SPECIAL.isdisjoint(entries[0])


def passes(spec: FilterSpec, user: str, groups: tuple[str, ...]) -> bool:
    """True if a rule with this filter applies to an application of that user.

    Without users and groups, an allow filter passes all and a deny filter none.
    """
    if not (spec.users or spec.groups):
        return spec.allow
    users, named = _read(spec)
    return (users.match(user) or any(named.match(group) for group in groups)) == spec.allow


@lru_cache(maxsize=1024)
def _read(spec: FilterSpec) -> tuple[_Names, _Names]:
    return (
        _names(spec.users, spec.user_pattern, USER_NAME),
        _names(spec.groups, spec.group_pattern, GROUP_NAME),
    )


def _names(entries: tuple[str, ...], pattern: NameMatcher | None, valid: re.Pattern[str]) -> _Names:
    """List from its entries. Of two or more, invalid names are dropped."""
    if is_expression(entries):
        return _Names(frozenset(), pattern)
    return _Names(frozenset(entry for entry in entries if valid.fullmatch(entry)), None)
