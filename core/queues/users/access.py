"""Access lists: who may submit to a queue, and who may administer it."""

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
    """Access list. ``everybody``: True if it contains a wildcard (ACL-2)."""

    everybody: bool
    users: frozenset[str]
    groups: frozenset[str]

    def allows(self, user: str, groups: Iterable[str]) -> bool:
        """True if the ACL admits the user or one of the groups (ACL-4). Case-sensitive."""
        return self.everybody or self.names(user, groups)

    def names(self, user: str, groups: Iterable[str]) -> bool:
        """True if the ACL contains the user or one of the groups by name. A wildcard names nobody."""
        return user in self.users or any(group in self.groups for group in groups)


@lru_cache(maxsize=4096)
def acl_from(text: str) -> Acl:
    """ACL from ``users groups``, each a list with commas. A leading blank means groups only (ACL-1).

    Invalid names are dropped (ACL-3). The text has passed APPLY-2: two parts at most.
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
    """True if a user may submit (ACL-5). Grants only add up.

    ``texts``: submit and admin ACL of a queue and of each of its ancestors.
    """
    return any(
        acl_from(submit).allows(user, groups) or acl_from(admin).allows(user, groups)
        for submit, admin in texts
    )


def may_administer(texts: Iterable[tuple[str, str]], user: str, groups: tuple[str, ...]) -> bool:
    """True if a user may administer (ACL-5). ``texts``: as in `may_submit`."""
    return any(acl_from(admin).allows(user, groups) for _, admin in texts)


def may_act(texts: Iterable[tuple[str, str]], user: str, groups: tuple[str, ...]) -> bool:
    """True if an admin ACL names a user who may therefore act on a queue (ACT-2). A wildcard gives nothing.

    ``texts``: as in `may_submit`. Names that ACL-3 drops are never found.
    """
    return any(acl_from(admin).names(user, groups) for _, admin in texts)
