"""Right to act on a queue: by RBAC on the queue or one above it, or by its admin ACLs (ACT-2)."""

import re
from collections.abc import Iterable

from core.ids import ROOT, QueuePath
from core.queues.users.access import may_act
from extender.identity.caller import AuthenticatedUser, ResourceAccess
from extender.identity.delegation import Delegation
from extender.identity.refusals import NotAllowed

VERB, GROUP, RESOURCE = "administer", "paddock.dev", "queues"

DEEPEST = 32
"""Levels of a path, at most, since each may cost a review."""

_PATH = re.compile(rf"{ROOT}(\.[a-z0-9_:#/@-]{{1,64}}){{0,{DEEPEST}}}", re.ASCII)


def queue_path_from(text: str) -> QueuePath | None:
    """Path as a caller writes it, in any case of letters. None if no queue can have it."""
    path = text.lower() if text.isascii() else ""
    return QueuePath(path) if _PATH.fullmatch(path) else None


def upwards(path: QueuePath) -> Iterable[QueuePath]:
    """The path, then that of each queue above it up to the root."""
    while path:
        yield path
        path = QueuePath(path.rpartition(".")[0])


async def authorize_action(
    delegation: Delegation, user: AuthenticatedUser, path: QueuePath, acls: Iterable[tuple[str, str]]
) -> None:
    """Return if a user may act on a queue.

    Raises `NotAllowed`, `TooManyReviews` or `ReviewFailed`.

    ``path``: need not exist, so that a refusal does not tell. ``acls``: submit and admin ACL of the queue and
    of each above it; none where admin ACLs do not count.
    """
    if may_act(acls, user.name, user.groups):
        return
    for each in upwards(path):
        try:
            await delegation.authorize(user, ResourceAccess(VERB, GROUP, RESOURCE, name=each))
        except NotAllowed:
            continue
        return
    raise NotAllowed
