"""Requests and replies of routes as values, before anything is encoded or sent."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from extender.rest.model.answer import Answer, Fault, fault

JSON = "application/json; charset=UTF-8"
"""Content type of JSON."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Request. ``path``: still escaped; ``query``: decoded, with the first value of each parameter."""

    path: str
    method: str = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = ""
    #: Body of a POST.
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Plain:
    """Reply that is not JSON."""

    status: int
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/plain; charset=utf-8"

    def below(self, prefix: str) -> "Plain":
        """Return the reply for a listener with a prefix before its paths. ``prefix``: empty for none.

        The API server turns every redirect of such a listener into an error, so a redirect becomes 404.
        The text names the right path. The listener has only paths below ``/ws/``.
        """
        to = self.headers.get("Location", "")
        if not prefix or not to:
            return self
        return Plain(404, f"404 page not found; see {prefix}{to}\n") if to.startswith("/ws/") else NO_PAGE


NO_PAGE = Plain(404, "404 page not found\n")
"""Reply to a path without a route."""


def redirect(to: str, status: int = 301) -> Plain:
    """Make a redirect with a link as its body."""
    link = f'<a href="{to}">Moved Permanently</a>.\n\n' if status == 301 else ""
    return Plain(status, link, {"Location": to}, "text/html; charset=utf-8")


@dataclass(frozen=True, slots=True)
class Big:
    """Text that is made in steps, each of which takes well under a millisecond.

    ``steps()``: yields the pieces in order, or an empty piece for a step of preparation. All pieces show the
    same moment. Each call makes the text anew.
    """

    steps: Callable[[], Iterator[bytes]]
    #: True for an answer that is made for one request at a time, and anew for each.
    alone: bool = False
    content_type: str = JSON


@dataclass(frozen=True, slots=True)
class Later:
    """Reply that takes long and needs no ledger, so another thread makes it."""

    make: Callable[[], "Reply"]


@dataclass(frozen=True, slots=True)
class Follow:
    """Stream of events, one in each line, until the client disconnects (REST-13)."""

    ask: Ask


Reply = Answer | tuple[Answer, ...] | Fault | Plain | Big | Later | Follow
"""Any reply. A `Fault` brings its own HTTP status."""


class Refused(Exception):
    """Request that is answered by a fault."""

    def __init__(self, status: int, message: str, *, cause: str = "") -> None:
        super().__init__(message)
        self.fault = fault(status, message, cause=cause)


def not_found(what: str) -> Refused:
    """Make the refusal for an object that does not exist. ``what``: its kind, such as Queue."""
    return Refused(HTTPStatus.NOT_FOUND, f"{what} not found")


def bad_request(message: str, *, cause: str = "") -> Refused:
    """Make the refusal for an invalid request."""
    return Refused(HTTPStatus.BAD_REQUEST, message, cause=cause)
