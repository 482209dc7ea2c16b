"""Errors as Kubernetes reports them, for clients of the aggregated API."""

import msgspec
from aiohttp import web

_REASONS = {
    400: "BadRequest",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    413: "RequestEntityTooLarge",
    429: "TooManyRequests",
    500: "InternalError",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}


RETRY_AFTER = "1"
"""Seconds after which a client may repeat a request that came too early, as a header."""


def status_response(code: int, message: str) -> web.Response:
    """Make an answer with a Status object. ``message``: must repeat nothing of a request."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": _REASONS[code],
        "code": code,
    }
    response = web.Response(status=code, body=msgspec.json.encode(status), content_type="application/json")
    if code in (429, 503):
        response.headers["Retry-After"] = RETRY_AFTER
    return response
