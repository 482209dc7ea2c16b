"""Messages between the cluster side and the API server, as values.

The error tree, the translation of a ``Status`` into it, object metadata, content types and the protocol
that keeps the HTTP client behind one module may live here. No I/O.
"""

from collections.abc import AsyncGenerator, Mapping
from typing import Protocol
from urllib.parse import quote

import msgspec

from core.errors import PaddockError
from extender.wire.names import is_object_name

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

REQUEST_TIMEOUT = 10.0
"""Seconds for one request, connection and answer together, unless the caller knows better."""
IDLE_TIMEOUT = 90.0
"""Seconds without a byte after which a watch is taken for dead; bookmarks come about once a minute."""

_MESSAGE_LENGTH = 1024
_BODY_LENGTH = 64 * 1024
_SHOWN = 64


class KubeError(PaddockError):
    """Anything that kept a request to the API server from being answered as asked."""


class CredentialsError(KubeError):
    """The kubeconfig or the service account cannot be used. Ours to mend, not the server's."""


class MalformedAnswer(KubeError):
    """The server's bytes are not what the protocol promises: no JSON, no version, a line without an end."""


class Unreachable(KubeError):
    """No answer. ``sent``: whether the request may have reached the server, so may have been carried out."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class BadName(KubeError):
    """A name that no object can have; nothing was sent."""


class ApiError(KubeError):
    """The server answered and refused.

    ``status``: HTTP status, or the code of an ERROR event; ``reason``: machine-readable (``Expired``);
    ``message``: for people, cut to 1 KiB; ``body``: the answer, cut to 64 KiB; ``causes``: the reasons in
    ``details.causes`` (``DisruptionBudget``); ``retry_after``: seconds the server asks for, if it does.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        body: bytes = b"",
        *,
        causes: tuple[str, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.body = body
        self.causes = causes
        self.retry_after = retry_after


class Unauthorized(ApiError):
    """401: the server does not know us."""


class Forbidden(ApiError):
    """403: our role lacks a verb, or admission refused."""


class NotFound(ApiError):
    """404."""


class Conflict(ApiError):
    """409: the object changed meanwhile, exists already, or is bound already."""


class Gone(ApiError):
    """410: the resource version or continue token is too old; list anew."""


class TooMany(ApiError):
    """429: overloaded, or an eviction that a disruption budget does not allow now."""


class ServerError(ApiError):
    """5xx."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    429: TooMany,
}


class ObjectMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The part of ``metadata`` that a reflector needs of an object it cannot otherwise read."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""

    @property
    def full_name(self) -> str:
        """``namespace/name``, or the name alone for an object without a namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def namespace_and_name(full_name: str) -> tuple[str, str]:
    """The two parts of an `ObjectMeta.full_name`; the namespace is empty for an object that has none."""
    namespace, _, name = full_name.rpartition("/")
    return namespace, name


class _Cause(msgspec.Struct):
    reason: str | None = None


class _Details(msgspec.Struct):
    causes: list[_Cause] | None = None
    retry_after_seconds: int | None = msgspec.field(default=None, name="retryAfterSeconds")


class _Status(msgspec.Struct):
    code: int | None = None
    reason: str | None = None
    message: str | None = None
    details: _Details | None = None


class Transport(Protocol):
    """What a reflector needs of a client."""

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, *, timeout: float = REQUEST_TIMEOUT
    ) -> bytes: ...

    def stream(
        self, path: str, params: Mapping[str, str] | None = None, *, idle_timeout: float = IDLE_TIMEOUT
    ) -> AsyncGenerator[bytes, None]: ...


def segment(name: str) -> str:
    """A name as one segment of a path, quoted with nothing left safe. Raises `BadName` for anything else.

    Quoting alone is not enough: a segment of two dots climbs (F-18).
    """
    if not is_object_name(name):
        raise BadName(f"{name[:_SHOWN]!r} is no name of a Kubernetes object")
    return quote(name, safe="")


def error_from(status: int, body: bytes, *, retry_after: str = "", secret: str = "") -> ApiError:
    """The error for an answer of ``status`` (0: take the code from the body, an ERROR event's object).

    ``retry_after``: the header, seconds; ``secret``: never part of the message, whatever the server echoes.
    """
    answer = _status_from(body)
    code = status or answer.code or 500
    details = answer.details or _Details()
    kind = _BY_STATUS.get(code, ServerError if code >= 500 else ApiError)
    seconds = float(retry_after) if retry_after.isdecimal() else details.retry_after_seconds
    return kind(
        code,
        answer.reason or kind.__name__,
        redacted(answer.message or "no message", secret)[:_MESSAGE_LENGTH],
        body[:_BODY_LENGTH],
        causes=tuple(cause.reason for cause in details.causes or () if cause.reason),
        retry_after=seconds,
    )


def redacted(text: str, secret: str) -> str:
    """The text without the secret."""
    return text.replace(secret, "[redacted]") if secret else text


def _status_from(body: bytes) -> _Status:
    """A ``Status``, or one made of the first words of whatever a proxy in between has answered."""
    try:
        return msgspec.json.decode(body, type=_Status)
    except msgspec.MsgspecError:
        text = body[:_BODY_LENGTH].decode(errors="replace")
        return _Status(message=" ".join(text.split()))


_BUDGET_CAUSE = "DisruptionBudget"
# The answer has no reason and no cause that would say so (eviction.go, Create).
_SEVERAL_BUDGETS = "more than one PodDisruptionBudget"


def is_about_budgets(error: KubeError) -> bool:
    """A refusal for the sake of a PodDisruptionBudget, not the 429 of a server that has too much to do."""
    if isinstance(error, TooMany):
        return _BUDGET_CAUSE in error.causes
    return isinstance(error, ServerError) and _SEVERAL_BUDGETS in error.message


def may_have_reached(error: KubeError) -> bool:
    """True if the API server may have done what it was asked although no answer says so."""
    return error.sent if isinstance(error, Unreachable) else isinstance(error, ServerError)
