"""User and user groups of a pod, from its annotation (ID-1). Input may be hostile."""

import json
from typing import Final

from core.queues.users.identity import UNKNOWN_IDENTITY, Identity

LONGEST: Final = 256 * 1024


def identity_from(annotation: str | None) -> Identity:
    """Parse ``{"user": text, "groups": [text]}``.

    Without a user, the identity is that of ``nobody`` with the groups listed. An invalid annotation gives
    ``nobody`` without groups.
    """
    if not annotation or len(annotation) > LONGEST:
        return UNKNOWN_IDENTITY
    try:
        read = json.loads(annotation)
    except (ValueError, RecursionError):
        return UNKNOWN_IDENTITY
    if not isinstance(read, dict):
        return UNKNOWN_IDENTITY
    user, groups = read.get("user"), read.get("groups")
    if not isinstance(user, str | None) or not _are_texts(groups):
        return UNKNOWN_IDENTITY
    return Identity(user or UNKNOWN_IDENTITY.user, tuple(groups or ()))


def _are_texts(groups: object) -> bool:
    return groups is None or (isinstance(groups, list) and all(isinstance(each, str) for each in groups))
