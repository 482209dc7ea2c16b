"""Values for requests to the API server and their answers. No I/O.

Contains the errors, their translation from a ``Status``, object metadata, content types, and the protocol of
the HTTP client.
"""

from collections.abc import AsyncGenerator, Mapping
from typing import NamedTuple, Protocol

import msgspec

from core.errors import PaddockError
from extender.wire.names import is_object_name

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

REQUEST_TIMEOUT = 10.0
"""Default limit in seconds for one request, including the connection and the whole answer."""

IDLE_TIMEOUT = 90.0
"""Seconds without a byte after which a watch counts as broken. Bookmarks arrive about once a minute."""

_MESSAGE_LENGTH = 1024
_BODY_LENGTH = 64 * 1024
_SHOWN = 64


class KubeError(PaddockError):
    """Base of all failures of a request to the API server."""


class CredentialsError(KubeError):
    """The kubeconfig or the service account cannot be used. Not the server's fault."""


class MalformedAnswer(KubeError):
    """The server broke the protocol: invalid JSON, a missing version, or a line without an end."""


class Unreachable(KubeError):
    """The server did not answer.

    ``sent``: True if the request may have reached the server, which may then have carried it out.
    """

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class BadName(KubeError):
    """A name that no Kubernetes object can have. Nothing was sent."""


class ApiError(KubeError):
    """The server refused the request.

    ``status``: HTTP status, or the code of an ERROR event in a watch.
    ``reason``: machine-readable, such as ``Expired``.
    ``message``: for people, cut to 1024 characters.
    ``body``: the answer, cut to 64 KiB.
    ``causes``: the reasons in ``details.causes``, such as ``DisruptionBudget``.
    ``retry_after``: seconds to wait before a retry, or None.
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
    """401: the server does not accept our credentials."""


class Forbidden(ApiError):
    """403: our role lacks the permission, or admission control refused the request."""


class NotFound(ApiError):
    """404."""


class Conflict(ApiError):
    """409: the object has changed, already exists, or is already bound."""


class Expired(ApiError):
    """410: the resource version or continue token is too old, so the kind must be listed again."""


class TooMany(ApiError):
    """429: the server is overloaded, or a disruption budget does not allow an eviction now."""


class ServerError(ApiError):
    """5xx: the server failed."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    429: TooMany,
}


class ObjectMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The part of ``metadata`` that a reflector needs even from an object that it cannot read."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""

    @property
    def full_name(self) -> str:
        """``namespace/name``, or the name alone for an object without a namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def namespace_and_name(full_name: str) -> tuple[str, str]:
    """Split an `ObjectMeta.full_name`. The namespace is empty for an object without one."""
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
    """The part of the HTTP client that a reflector uses."""

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, *, timeout: float = REQUEST_TIMEOUT
    ) -> bytes:
        """Return the body of a GET request. Raises `KubeError`."""
        ...

    def stream(
        self, path: str, params: Mapping[str, str] | None = None, *, idle_timeout: float = IDLE_TIMEOUT
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a watch. Raises `KubeError`."""
        ...


def segment(name: str) -> str:
    """A name as one segment of a path. Raises `BadName` if no Kubernetes object can have the name."""
    # Such a name needs no quotes. Quotes would not be enough: ".." would lead to the parent path (F-18).
    if not is_object_name(name):
        raise BadName(f"{name[:_SHOWN]!r} is no name of a Kubernetes object")
    return name


def error_from(status: int, body: bytes, *, retry_after: str = "", secret: str = "") -> ApiError:
    """The error for a refusing answer.

    ``status``: HTTP status, or 0 for an ERROR event, whose object names the code.
    ``retry_after``: the header of that name, in seconds.
    ``secret``: removed from the message in case the server echoes it.
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
    """The text with each occurrence of the secret replaced."""
    return text.replace(secret, "[redacted]") if secret else text


def _status_from(body: bytes) -> _Status:
    """The ``Status`` in an answer. Any other body, such as a proxy's page, becomes the message of one."""
    try:
        return msgspec.json.decode(body, type=_Status)
    except msgspec.MsgspecError:
        text = body[:_BODY_LENGTH].decode(errors="replace")
        return _Status(message=" ".join(text.split()))


_BUDGET_CAUSE = "DisruptionBudget"
# The API server gives no reason and no cause for this refusal, only the text (eviction.go, Create).
_SEVERAL_BUDGETS = "more than one PodDisruptionBudget"


def is_about_budgets(error: KubeError) -> bool:
    """True if a PodDisruptionBudget refused an eviction. False for the 429 of an overloaded server."""
    if isinstance(error, TooMany):
        return _BUDGET_CAUSE in error.causes
    return isinstance(error, ServerError) and _SEVERAL_BUDGETS in error.message


class Failure(NamedTuple):
    """A failed request, without the exception, whose traceback refers to all that was running.

    ``reached``: the API server may have carried it out although its answer does not say so.
    ``unanswered``: there was no answer, so the request may still be under way.
    """

    text: str
    reached: bool
    unanswered: bool


def failure_of(error: KubeError) -> Failure:
    """Facts of an error that are still needed once it was caught."""
    unanswered = isinstance(error, Unreachable)
    reached = error.sent if isinstance(error, Unreachable) else isinstance(error, ServerError)
    return Failure(str(error), reached, unanswered)
