"""Rights that the API server refused to this account, read from its answers. No I/O.

A missing right is named by verb, resource and API group, whichever part of the program sent the request.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from extender.kube.connection.api import ApiError, Forbidden

REPORTED_FOR = 300.0
"""Seconds for which a refused right is reported. Every request that needs a right is repeated sooner."""

MOST = 64
"""Rights that are kept at most, since other parties write the texts of admission."""

_NAME = r"[a-z][a-z0-9./-]{0,127}"
# forbiddenMessage of the API server's responsewriters/errors.go.
_ROLE = re.compile(rf'cannot ({_NAME}) resource "({_NAME})" in API group "({_NAME}|)"')
# Messages of the shipped policies, which ask for verbs that Paddock defines.
_POLICY = re.compile(r"only with the verb ([a-z-]{1,64}) on (pods)\b")
# The admission plugin OwnerReferencesPermissionEnforcement names no right. Placeholders belong to pods.
_OWNERS = "cannot set blockOwnerDeletion"


class Right(NamedTuple):
    """A right as a rule of a role has it. ``resource``: with its subresource, such as ``pods/eviction``.

    ``group``: empty for the core group.
    """

    verb: str
    resource: str
    group: str

    def __str__(self) -> str:
        return f'{self.verb} {self.resource} in API group "{self.group}"'


OWNERS_RIGHT = Right("update", "pods/finalizers", "")


def right_refused(error: ApiError) -> Right | None:
    """The right that an answer says is missing. None for other refusals, such as one of a ResourceQuota."""
    if not isinstance(error, Forbidden):
        return None
    if found := _ROLE.search(error.message):
        return Right(*found.groups())
    if found := _POLICY.search(error.message):
        return Right(found[1], found[2], "")
    return OWNERS_RIGHT if _OWNERS in error.message else None


class MissingRights:
    """Rights that were refused within the last `REPORTED_FOR` seconds.

    ``clock``: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._refused: dict[Right, float] = {}

    def note(self, error: ApiError) -> None:
        """Keep the right that an answer says is missing."""
        right = right_refused(error)
        if right is not None and (right in self._refused or len(self._refused) < MOST):
            self._refused[right] = self._clock()

    def current(self) -> tuple[Right, ...]:
        """The rights, sorted."""
        now = self._clock()
        self._refused = {right: at for right, at in self._refused.items() if now - at < REPORTED_FOR}
        return tuple(sorted(self._refused))
