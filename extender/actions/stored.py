"""Text of the ConfigMap that stores the actions of administrators, and its bounds (ACT-3 to ACT-5).

The text is read strictly. An action that is not understood must not be dropped, so nothing is then in force.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec

from core.errors import PaddockError
from core.ids import ROOT, AppId, QueuePath
from core.instants import has_come
from core.queues.closing import Closures, in_force
from core.queues.queue import Closure
from core.workload.ending import Ending, Endings

CONFIG_MAP = "paddock-actions"
KEY = "actions.json"
"""Key of the text in the ConfigMap."""

MOST_ENTRIES = 1_000
MOST_BYTES = 256 * 2**10
"""Bytes of the text, at most."""

LONGEST_NAME = 512
"""Characters of a queue's path and of a user's name, at most."""

LONGEST_REASON = 256

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


class _Text(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    #: 1: as written before applications could be ended.
    version: Literal[1, 2]
    closed_queues: tuple[ClosedQueue, ...] = ()
    ended_applications: tuple[StoredEnding, ...] = ()


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
    if found.version == 1 and ended:
        raise Unreadable(f"{KEY} has ended applications, which version 1 does not know")
    if len(closed) < len(found.closed_queues) or len(ended) < len(found.ended_applications):
        raise Unreadable(f"{KEY}: a queue or an application is named twice")
    if len(closed) + len(ended) > MOST_ENTRIES:
        raise Unreadable(f"{KEY} has more than {MOST_ENTRIES} entries")
    queues = (*closed, *(each.queue for each in ended.values()))
    wrong = next((path for path in queues if not _is_path(path)), None)
    if wrong is not None:
        raise Unreadable(f"{KEY}: {wrong[:64]!r} is not the path of a queue in lower case")
    return Actions(closed, ended)


def text_of(actions: Actions) -> str:
    """Text to store, sorted by path, and by id and namespace. Raises `StoreFull`."""
    closed = tuple(_entry_of(path, actions.closed[path]) for path in sorted(actions.closed))
    ended = tuple(_stored(app_id, actions.ended[app_id]) for app_id in sorted(actions.ended))
    text = msgspec.json.encode(_Text(2, closed, ended))
    if len(closed) + len(ended) > MOST_ENTRIES or len(text) > MOST_BYTES:
        raise StoreFull(f"there are {MOST_ENTRIES} actions, or {MOST_BYTES} bytes of them, already")
    return text.decode()


def without_past(actions: Actions, *, now: float, ends: Callable[[AppId], bool]) -> Actions:
    """Actions that still have an effect.

    ``now``: seconds since the epoch. ``ends(app_id)``: True while an application of that id is being ended.
    """
    ended = {
        app_id: each
        for app_id, each in actions.ended.items()
        if ends(app_id) or not has_come(each.until, now=now)
    }
    return Actions(in_force(actions.closed, now=now), ended)


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


def _entry_of(path: QueuePath, closure: Closure) -> ClosedQueue:
    until = _moment(closure.until) if closure.until is not None else None
    return ClosedQueue(path, closure.by, _moment(closure.since), closure.reason, until)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
