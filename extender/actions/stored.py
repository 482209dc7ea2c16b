"""Text of the ConfigMap that stores the actions of administrators, and its bounds (ACT-3 to ACT-5).

The text is read strictly. An action that is not understood must not be dropped, so nothing is then in force.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

import msgspec

from core.errors import PaddockError
from core.ids import ROOT, AppId, QueuePath
from core.instants import has_come
from core.queues.closing import Closures, in_force
from core.queues.queue import Closure
from core.workload.ending import Ending, Endings
from core.workload.moving import MoveOrder, Moves

CONFIG_MAP = "paddock-actions"
KEY = "actions.json"
"""Key of the text in the ConfigMap."""

MOST_ENTRIES = 1_000
MOST_BYTES = 256 * 2**10
"""Bytes of the text, at most."""

LONGEST_NAME = 512
"""Characters of a queue's path and of a user's name, at most."""

LONGEST_REASON = 256

_WITH_MOVES: Final = 3
"""Version of a text that has moves."""

Moment = Annotated[datetime, msgspec.Meta(tz=True)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]


class Unreadable(PaddockError):
    """A text that this version does not understand, or that exceeds the bounds."""


class StoreFull(PaddockError):
    """An action for which there is no place."""


@dataclass(frozen=True, slots=True)
class Actions:
    """All actions in force."""

    #: Closed queues.
    closed: Closures = field(default_factory=dict)
    #: Ended applications.
    ended: Endings = field(default_factory=dict)
    #: Moved applications.
    moved: Moves = field(default_factory=dict)


class ClosedQueue(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """Entry for a closed queue."""

    queue: _Name
    by: _Name
    since: Moment
    reason: Annotated[str, msgspec.Meta(max_length=LONGEST_REASON)] = ""
    until: Moment | None = None


class StoredEnding(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """Entry for an ended application."""

    namespace: _Name
    application: _Name
    by: _Name
    since: Moment
    #: End of the bar.
    until: Moment
    #: Creation of the youngest pod that the order is about.
    through: Moment
    #: Path of the queue whose right the order needed.
    queue: _Name
    reason: Annotated[str, msgspec.Meta(max_length=LONGEST_REASON)] = ""
    force: bool = False


class StoredMove(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """Entry for a moved application."""

    namespace: _Name
    application: _Name
    by: _Name
    since: Moment
    #: Path of the leaf in which it belongs.
    queue: _Name
    #: Path of the queue in which it was before.
    source: _Name
    #: User of the application.
    user: Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)] = ""
    reason: Annotated[str, msgspec.Meta(max_length=LONGEST_REASON)] = ""


class _Text(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    #: 1: as written before applications could be ended. 2: without moved applications.
    version: Literal[1, 2, 3]
    closed_queues: tuple[ClosedQueue, ...] = ()
    ended_applications: tuple[StoredEnding, ...] = ()
    moved_applications: tuple[StoredMove, ...] | msgspec.UnsetType = msgspec.UNSET


def actions_from(text: str | None) -> Actions:
    """Read the stored text. None: nothing was ever stored. Raises `Unreadable`."""
    if text is None:
        return Actions()
    if len(text.encode(errors="surrogatepass")) > MOST_BYTES:
        raise Unreadable(f"{KEY} has more than {MOST_BYTES} bytes")
    try:
        found = msgspec.json.decode(text, type=_Text)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise Unreadable(f"{KEY}: {error}") from None
    closed = {QueuePath(each.queue): _closure_from(each) for each in found.closed_queues}
    ended = {AppId(each.application, each.namespace): _ending_from(each) for each in found.ended_applications}
    moves = found.moved_applications or ()
    moved = {AppId(each.application, each.namespace): _move_from(each) for each in moves}
    if (found.version == 1 and ended) or (found.version < _WITH_MOVES and moved):
        raise Unreadable(f"{KEY} has entries that version {found.version} does not know")
    listed = (found.closed_queues, found.ended_applications, moves)
    if [len(closed), len(ended), len(moved)] != [len(each) for each in listed]:
        raise Unreadable(f"{KEY}: a queue or an application is named twice")
    if len(closed) + len(ended) + len(moved) > MOST_ENTRIES:
        raise Unreadable(f"{KEY} has more than {MOST_ENTRIES} entries")
    queues = (
        *closed,
        *(each.queue for each in ended.values()),
        *(path for each in moved.values() for path in (each.queue, each.source)),
    )
    wrong = next((path for path in queues if not _is_path(path)), None)
    if wrong is not None:
        raise Unreadable(f"{KEY}: {wrong[:64]!r} is not the path of a queue in lower case")
    return Actions(closed, ended, moved)


def text_of(actions: Actions) -> str:
    """Text to store, sorted by path, and by id and namespace. Raises `StoreFull`.

    Without moves it has the version that releases without moves read, too.
    """
    closed = tuple(_entry_of(path, actions.closed[path]) for path in sorted(actions.closed))
    ended = tuple(_stored(app_id, actions.ended[app_id]) for app_id in sorted(actions.ended))
    moved = tuple(_stored_move(app_id, actions.moved[app_id]) for app_id in sorted(actions.moved))
    text = msgspec.json.encode(_Text(_WITH_MOVES, closed, ended, moved) if moved else _Text(2, closed, ended))
    if len(closed) + len(ended) + len(moved) > MOST_ENTRIES or len(text) > MOST_BYTES:
        raise StoreFull(f"there are {MOST_ENTRIES} actions, or {MOST_BYTES} bytes of them, already")
    return text.decode()


def without_past(
    actions: Actions, *, now: float, ends: Callable[[AppId], bool], is_move_over: Callable[[AppId], bool]
) -> Actions:
    """Actions that still have an effect.

    ``now``: seconds since the epoch. ``ends(app_id)``: True while an application of that id is being ended.
    ``is_move_over(app_id)``: True if the application that was moved has ended.
    """
    moved = {app_id: each for app_id, each in actions.moved.items() if not is_move_over(app_id)}
    ended = {
        app_id: each
        for app_id, each in actions.ended.items()
        if ends(app_id) or not has_come(each.until, now=now)
    }
    return Actions(in_force(actions.closed, now=now), ended, moved)


def whole_second(seconds: float) -> float:
    """Time with the precision of the store."""
    return float(int(seconds))


def _is_path(path: str) -> bool:
    return path == path.lower() and (path == ROOT or path.startswith(f"{ROOT}."))


def _closure_from(entry: ClosedQueue) -> Closure:
    until = entry.until.timestamp() if entry.until is not None else None
    return Closure(entry.by, entry.since.timestamp(), entry.reason, until)


def _ending_from(entry: StoredEnding) -> Ending:
    return Ending(
        entry.by,
        entry.since.timestamp(),
        entry.until.timestamp(),
        entry.through.timestamp(),
        entry.queue,
        entry.reason,
        entry.force,
    )


def _stored(app_id: AppId, ending: Ending) -> StoredEnding:
    return StoredEnding(
        app_id.namespace,
        app_id.name,
        ending.by,
        _moment(ending.since),
        _moment(ending.until),
        _moment(ending.through),
        ending.queue,
        ending.reason,
        ending.force,
    )


def _move_from(entry: StoredMove) -> MoveOrder:
    queue, source = QueuePath(entry.queue), QueuePath(entry.source)
    return MoveOrder(entry.by, entry.since.timestamp(), queue, source, entry.user, entry.reason)


def _stored_move(app_id: AppId, order: MoveOrder) -> StoredMove:
    return StoredMove(
        app_id.namespace,
        app_id.name,
        order.by,
        _moment(order.since),
        order.queue,
        order.source,
        order.user,
        order.reason,
    )


def _entry_of(path: QueuePath, closure: Closure) -> ClosedQueue:
    until = _moment(closure.until) if closure.until is not None else None
    return ClosedQueue(path, closure.by, _moment(closure.since), closure.reason, until)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
