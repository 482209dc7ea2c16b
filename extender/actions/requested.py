"""Requests of administrators and their results, as the resource ``actions`` has them (ACT-1)."""

from typing import Annotated

import msgspec

from core.ids import QueuePath
from core.queues.queue import Closure
from extender.actions.stored import (
    LONGEST_NAME,
    LONGEST_REASON,
    Actions,
    Moment,
    whole_second,
    without_ended,
)

_Queue = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
_Reason = Annotated[str, msgspec.Meta(max_length=LONGEST_REASON)]


class _Request(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    tag_field="action",
):
    """Request for an action. ``dry_run``: True to be told the result, and to change nothing."""

    queue: _Queue
    dry_run: bool = False


class CloseQueue(_Request, frozen=True, kw_only=True, tag="close"):
    """Close a queue."""

    reason: _Reason = ""
    until: Moment | None = None


class OpenQueue(_Request, frozen=True, kw_only=True, tag="open"):
    """Open a queue."""


Request = CloseQueue | OpenQueue


class NotValid(Exception):
    """A request that is never carried out. Its text names no value of the request."""


def request_from(body: bytes) -> Request:
    """Read a request. Raises `NotValid`."""
    try:
        found: Request = msgspec.json.decode(body, type=Request)
    except (msgspec.MsgspecError, UnicodeError):
        raise NotValid("the body is not an action that this version knows") from None
    return found


def action_of(request: Request) -> str:
    """Name of the action."""
    return str(request.__struct_config__.tag)


def check_request(request: Request, *, now: float) -> None:
    """Check what a request says by itself. Raises `NotValid`. ``now``: seconds since the epoch."""
    if isinstance(request, CloseQueue) and request.until is not None and request.until.timestamp() <= now:
        raise NotValid("until must lie in the future")


def changed(actions: Actions, request: Request, path: QueuePath, *, by: str, now: float) -> Actions:
    """Actions after a request. Equal to those before if it changes nothing (ACT-7). Pure.

    ``path``: the queue that the request names, as the tree has it.
    """
    closed = dict(without_ended(actions, now=now).closed)
    match request:
        case CloseQueue(reason=reason, until=until):
            end = whole_second(until.timestamp()) if until is not None else None
            known = closed.get(path)
            if known is None or (known.reason, known.until) != (reason, end):
                since = known.since if known is not None else whole_second(now)
                closed[path] = Closure(by[:LONGEST_NAME], since, reason, end)
        case OpenQueue():
            closed.pop(path, None)
    return Actions(closed)


class Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Answer to a request that was carried out, or that would be."""

    kind: str = "Action"
    api_version: str
    #: Name of the action.
    action: str
    #: Path of the queue.
    queue: str
    #: True if something changes by it.
    changed: bool
    dry_run: bool
    #: Sentence for the user.
    message: str
