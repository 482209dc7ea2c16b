"""Requests of administrators and their results, as the resource ``actions`` has them (ACT-1)."""

from dataclasses import replace
from typing import Annotated

import msgspec

from core.ids import QueuePath
from core.queues.closing import in_force
from core.queues.queue import Closure
from extender.actions.stored import (
    LONGEST_NAME,
    LONGEST_REASON,
    Actions,
    Moment,
    whole_second,
)

LONGEST_BAR = 30 * 24 * 3600
"""Seconds for which an id is barred, at most."""

_Queue = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
_Namespace = Annotated[str, msgspec.Meta(pattern="^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
_Bar = Annotated[int, msgspec.Meta(ge=0, le=LONGEST_BAR)]
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

    dry_run: bool = False


class CloseQueue(_Request, frozen=True, kw_only=True, tag="close"):
    """Close a queue."""

    queue: _Queue

    reason: _Reason = ""
    until: Moment | None = None


class OpenQueue(_Request, frozen=True, kw_only=True, tag="open"):
    """Open a queue."""

    queue: _Queue


class EndApplication(_Request, frozen=True, kw_only=True, tag="end"):
    """End an application (ACT-20)."""

    application: _Id
    namespace: _Namespace
    reason: _Reason = ""
    #: Seconds for which further pods of the id wait.
    bar: _Bar = 600
    #: True if pods are deleted, whatever budgets say.
    force: bool = False
    #: True if the application may be the one of all pods of a namespace that name none (POD-4).
    generated: bool = False


class LiftBar(_Request, frozen=True, kw_only=True, tag="lift"):
    """End the bar of an application's id (ACT-22)."""

    application: _Id
    namespace: _Namespace


class MoveApplication(_Request, frozen=True, kw_only=True, tag="move"):
    """Move an application to another leaf (ACT-30)."""

    application: _Id
    namespace: _Namespace
    #: Leaf to which it is moved.
    queue: _Queue
    reason: _Reason = ""
    #: True if the application may be the one of all pods of a namespace that name none (POD-4).
    generated: bool = False


QueueRequest = CloseQueue | OpenQueue
ApplicationRequest = EndApplication | LiftBar
Request = QueueRequest | ApplicationRequest | MoveApplication


class NotValid(Exception):
    """A request that is never carried out. Its text names no value of the request."""


def request_from(body: bytes) -> Request:
    """Read a request. Raises `NotValid`."""
    try:
        found: Request = msgspec.json.decode(body, type=Request)
    except (msgspec.MsgspecError, UnicodeError):
        raise NotValid("the body is not an action that this version knows") from None
    return found


def target_of(request: Request) -> str:
    """Queue, or namespace and id of the application, as the caller wrote them. For a move, both."""
    if isinstance(request, QueueRequest):
        return request.queue
    name = f"{request.namespace}/{request.application}"
    return f"{name} to {request.queue}" if isinstance(request, MoveApplication) else name


def reason_of(request: Request) -> str:
    """Reason in the words of the caller; empty for none."""
    return "" if isinstance(request, OpenQueue | LiftBar) else request.reason


def action_of(request: Request) -> str:
    """Name of the action."""
    return str(request.__struct_config__.tag)


def check_request(request: Request, *, now: float) -> None:
    """Check what a request says by itself. Raises `NotValid`. ``now``: seconds since the epoch."""
    if isinstance(request, CloseQueue) and request.until is not None and request.until.timestamp() <= now:
        raise NotValid("until must lie in the future")


def changed(actions: Actions, request: QueueRequest, path: QueuePath, *, by: str, now: float) -> Actions:
    """Actions after a request. Equal to those before if it changes nothing (ACT-7). Pure.

    ``path``: the queue that the request names, as the tree has it.
    """
    closed = dict(in_force(actions.closed, now=now))
    match request:
        case CloseQueue(reason=reason, until=until):
            end = whole_second(until.timestamp()) if until is not None else None
            known = closed.get(path)
            if known is None or (known.reason, known.until) != (reason, end):
                since = known.since if known is not None else whole_second(now)
                closed[path] = Closure(by[:LONGEST_NAME], since, reason, end)
        case OpenQueue():
            closed.pop(path, None)
    return replace(actions, closed=closed)


class Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Answer to a request that was carried out, or that would be."""

    kind: str = "Action"
    api_version: str
    #: Name of the action.
    action: str
    #: Path of the queue; for an application, that of its queue.
    queue: str
    #: Application; absent for an action on a queue.
    namespace: str | msgspec.UnsetType = msgspec.UNSET
    application: str | msgspec.UnsetType = msgspec.UNSET
    #: Controllers of its pods, which create new ones.
    controllers: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    #: Queue that an application is moved from.
    source: str | msgspec.UnsetType = msgspec.UNSET
    #: Changes of guarantees, fences and priority by a move, one sentence each.
    changes: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    #: Pods that are ended or moved, and pods that stay, as ``namespace/name``: the first `PODS_SHOWN`.
    pods: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    left: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    #: True if something changes by it.
    changed: bool
    dry_run: bool
    #: Sentence for the user.
    message: str
