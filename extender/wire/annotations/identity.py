"""The user and groups that a pod's annotation names (ID-1). Input is hostile: the unreadable is nobody."""

import json

from core.queues.users.identity import UNKNOWN_IDENTITY, Identity

LONGEST = 256 * 1024


def identity_from(annotation: str | None) -> Identity:
    """``{"user": text, "groups": [text]}``. Without a user it is nobody, with the groups listed."""
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
