"""Who submits: a user and the groups that count for him (ID-1 to ID-4)."""

from dataclasses import dataclass

_NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Identity:
    """``groups``: as the pod gave them; empty when it gave none."""

    user: str = _NOBODY
    groups: tuple[str, ...] = ()

    @property
    def effective_groups(self) -> tuple[str, ...]:
        """Without groups the default resolver answers: the group that is named like the user (ID-4)."""
        return self.groups or (self.user,)


NOBODY = Identity()
"""Whoever says nothing of himself."""
