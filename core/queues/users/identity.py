"""Identity of the submitter: a user, and the groups that the pod names (ID-1)."""

from dataclasses import dataclass

_UNKNOWN_USER = "nobody"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user with groups. ``groups``: as the pod gave them; empty if it gave none."""

    user: str = _UNKNOWN_USER
    groups: tuple[str, ...] = ()


NO_GROUP = "nogroup"
"""Group of a running user whose groups are not known (ID-6)."""

UNKNOWN_IDENTITY = Identity()
"""Identity of a pod that names no user."""
