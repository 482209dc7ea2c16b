"""Who submits: a user, and the groups that the pod names for him (ID-1)."""

from dataclasses import dataclass

_UNKNOWN_USER = "nobody"


@dataclass(frozen=True, slots=True)
class Identity:
    """``groups``: as the pod gave them; empty when it gave none."""

    user: str = _UNKNOWN_USER
    groups: tuple[str, ...] = ()


NO_GROUP = "nogroup"
"""The group of one whose groups are not known, and who runs already (ID-6)."""

UNKNOWN_IDENTITY = Identity()
"""Whoever says nothing of himself."""
