"""Answers of routes, before anything is encoded or sent."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from extender.rest.model.answer import Answer, Fault, fault


@dataclass(frozen=True, slots=True)
class Ask:
    """A request as it came. ``path``: still escaped; ``query``: decoded, the first of each name."""

    path: str
    method: str = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    accept: str = ""
    #: Body of a POST.
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Plain:
    """An answer that is no JSON."""

    status: int
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Big:
    """JSON that is made in steps, each well under a millisecond long.

    ``steps``: pieces of it in order, empty for a step that only prepares others. It is one moment's answer
    however many steps are between. Called once for each time that it is made.
    """

    steps: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that takes long and needs nothing of the ledger, so that another thread can make it."""

    make: Callable[[], "Reply"]


@dataclass(frozen=True, slots=True)
class Follow:
    """Events from now on, one a line, until the client goes (REST-13)."""

    ask: Ask


Reply = Answer | tuple[Answer, ...] | Fault | Plain | Big | Later | Follow
"""JSON, a list of it, a fault with its own status, or something else."""


class Refused(Exception):
    """A request that is answered by a fault."""

    def __init__(self, status: int, message: str, *, cause: str = "") -> None:
        super().__init__(message)
        self.fault = fault(status, message, cause=cause)


def not_found(what: str) -> Refused:
    """``what``: the kind of object, such as Queue."""
    return Refused(HTTPStatus.NOT_FOUND, f"{what} not found")


def bad_request(message: str, *, cause: str = "") -> Refused:
    """Make the refusal of a request that is wrong in itself."""
    return Refused(HTTPStatus.BAD_REQUEST, message, cause=cause)
