"""Who may submit to a queue and who may administer it: ACL texts, read once, and the walk up to the root."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from core.white_space import trimmed

ANYBODY = "*"
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9_.@-]*[$]?", re.ASCII)
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Acl:
    """One ACL. ``everybody``: a wildcard stands in it (ACL-2)."""

    everybody: bool
    users: frozenset[str]
    groups: frozenset[str]

    def allows(self, user: str, groups: Iterable[str]) -> bool:
        """ACL-4; case-sensitive."""
        return self.everybody or user in self.users or any(group in self.groups for group in groups)


@lru_cache(maxsize=4096)
def acl_from(text: str) -> Acl:
    """``users groups``, each a list with commas; a text that begins with a blank names groups only (ACL-1).

    Names that are none are dropped (ACL-3). The text has passed APPLY-2: two parts at most.
    """
    if trimmed(text) == ANYBODY:
        return Acl(True, frozenset(), frozenset())
    users, _, groups = text.partition(" ")
    return Acl(
        ANYBODY in (users, groups),
        frozenset(name for name in users.split(",") if _USER.fullmatch(name)),
        frozenset(name for name in groups.split(",") if _GROUP.fullmatch(name)),
    )


def may_submit(texts: Iterable[tuple[str, str]], user: str, groups: tuple[str, ...]) -> bool:
    """ACL-5. ``texts``: submit and admin ACL of a queue and of each of its ancestors. Grants only add up."""
    return any(
        acl_from(submit).allows(user, groups) or acl_from(admin).allows(user, groups)
        for submit, admin in texts
    )


def may_administer(texts: Iterable[tuple[str, str]], user: str, groups: tuple[str, ...]) -> bool:
    """ACL-5, the administrators alone."""
    return any(acl_from(admin).allows(user, groups) for _, admin in texts)
