"""TokenReview and SubjectAccessReview: single questions to the API server, without a cache.

A token appears in the body of its review and nowhere else. No error includes the text of another error, since
a server may echo a token.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from core.errors import PaddockError
from extender.identity.caller import Access, AuthenticatedUser, PathAccess
from extender.identity.refusals import ReviewFailed

AUTHENTICATION = "/apis/authentication.k8s.io/v1/tokenreviews"
AUTHORIZATION = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
REVIEWED_WITHIN = 5.0
"""Most seconds for one review."""

Failed = Callable[[str, str], None]
"""Function that is called for a review without a verdict, with its kind and the class of the error."""

T = TypeVar("T", bound=msgspec.Struct)


class Poster(Protocol):
    """Part of a client that reviews need."""

    async def post(self, path: str, body: bytes, *, timeout: float) -> bytes:
        """Send a POST and return the body of its answer. Raises PaddockError."""
        ...


class _User(msgspec.Struct):
    username: str | None = None
    uid: str | None = None
    groups: list[str] | None = None
    extra: dict[str, list[str]] | None = None


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _User | None = None
    audiences: list[str] | None = None


class _TokenReview(msgspec.Struct):
    status: _TokenStatus


class _AccessStatus(msgspec.Struct):
    allowed: bool
    denied: bool = False


class _AccessReview(msgspec.Struct):
    status: _AccessStatus


class Reviews:
    """Reviews by one API server. ``failed``: see `Failed`."""

    def __init__(self, client: Poster, failed: Failed = lambda _kind, _error: None) -> None:
        self._client = client
        self._failed = failed

    async def user_of(self, token: str, audience: str) -> AuthenticatedUser | None:
        """Return the user of a token; None if the audience does not accept it. Raises `ReviewFailed`.

        ``audience``: empty for the API server's own audience.
        """
        spec: dict[str, Any] = {"token": token, "audiences": [audience]} if audience else {"token": token}
        body = _body("authentication.k8s.io/v1", "TokenReview", spec)
        status = (await self._asked(AUTHENTICATION, body, _TokenReview)).status
        # A server without support for audiences accepts tokens for any, and names none in its answer.
        if not status.authenticated or (audience and audience not in (status.audiences or ())):
            return None
        return _user_from(status.user or _User())

    async def allows(self, user: AuthenticatedUser, access: Access) -> bool:
        """True if the user has the right. Raises `ReviewFailed`."""
        spec = {
            "user": user.name,
            "uid": user.uid,
            "groups": user.groups,
            "extra": dict(user.extra),
            **_attributes_of(access),
        }
        body = _body("authorization.k8s.io/v1", "SubjectAccessReview", spec)
        status = (await self._asked(AUTHORIZATION, body, _AccessReview)).status
        return status.allowed and not status.denied

    async def _asked(self, path: str, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(
                await self._client.post(path, body, timeout=REVIEWED_WITHIN), type=kind
            )
        except (PaddockError, msgspec.MsgspecError, UnicodeError) as error:
            self._failed(path.rpartition("/")[2], type(error).__name__)
            raise ReviewFailed from None


def _body(version: str, kind: str, spec: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"apiVersion": version, "kind": kind, "spec": spec})


def _attributes_of(access: Access) -> dict[str, Any]:
    if isinstance(access, PathAccess):
        return {"nonResourceAttributes": {"path": access.path, "verb": access.verb}}
    attributes = {
        "verb": access.verb,
        "group": access.group,
        "resource": access.resource,
        "subresource": access.subresource,
        "namespace": access.namespace,
        "name": access.name,
    }
    return {"resourceAttributes": {name: value for name, value in attributes.items() if value}}


def _user_from(user: _User) -> AuthenticatedUser | None:
    if not user.username:
        return None
    extra = tuple(sorted((name, tuple(values)) for name, values in (user.extra or {}).items()))
    return AuthenticatedUser(user.username, tuple(user.groups or ()), user.uid or "", extra)
