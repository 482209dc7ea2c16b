"""AdmissionReview: request of an API server to a webhook, and the answer. Input may be hostile."""

from collections.abc import Sequence
from typing import Any

import msgspec

from core.errors import PaddockError

API_VERSION, KIND = "admission.k8s.io/v1", "AdmissionReview"


class BadReview(PaddockError):
    """A body that is no AdmissionReview of a known version, or has an object of another shape."""


class Caller(msgspec.Struct, frozen=True):
    """User of the request."""

    username: str = ""
    groups: tuple[str, ...] | None = None


class _Resource(msgspec.Struct, frozen=True):
    resource: str = ""


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """Request under review. ``old_object``: the object before an update, otherwise null."""

    uid: str
    resource: _Resource = _Resource()
    namespace: str = ""
    user_info: Caller = Caller()
    object: msgspec.Raw = msgspec.Raw(b"null")
    old_object: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def plural(self) -> str:
        """Plural name of the object's kind."""
        return self.resource.resource


class _Review(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    request: Request


class Change(msgspec.Struct, frozen=True):
    """Addition or replacement of one value. ``path``: a JSON pointer."""

    path: str
    value: Any
    op: str = "add"


_REVIEW = msgspec.json.Decoder(_Review)


def request_from(body: bytes) -> Request:
    """Read a body. Raises `BadReview`."""
    try:
        review = _REVIEW.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        # The text of the error is left out, since it may repeat parts of the body.
        raise BadReview("the body is no AdmissionReview") from None
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        raise BadReview(f"only {KIND} of {API_VERSION} is answered")
    return review.request


def answer_to(request: Request, changes: Sequence[Change]) -> bytes:
    """Allow a request with these changes."""
    response: dict[str, Any] = {"uid": request.uid, "allowed": True}
    if changes:
        # Bytes are written in base64, as an API server reads a patch.
        response |= {"patchType": "JSONPatch", "patch": msgspec.json.encode(changes)}
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def escaped(key: str) -> str:
    """Escape a key for a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
