"""Errors as Kubernetes reports them, for clients of the aggregated API."""

import msgspec
from aiohttp import web

_REASONS = {
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}


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
    return web.Response(status=code, body=msgspec.json.encode(status), content_type="application/json")
