"""Text of the ConfigMap that stores the actions of administrators, and its bounds (ACT-3 to ACT-5).

The text is read strictly. An action that is not understood must not be dropped, so nothing is then in force.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec

from core.errors import PaddockError
from core.ids import ROOT, QueuePath
from core.queues.closing import Closures, in_force
from core.queues.queue import Closure

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


class ClosedQueue(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """Entry for a closed queue."""

    queue: _Name
    by: _Name
    since: Moment
    reason: Annotated[str, msgspec.Meta(max_length=LONGEST_REASON)] = ""
    until: Moment | None = None


class _Text(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    version: Literal[1]
    closed_queues: tuple[ClosedQueue, ...] = ()


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
    if len(closed) < len(found.closed_queues):
        raise Unreadable(f"{KEY}: a queue is named twice")
    if len(closed) > MOST_ENTRIES:
        raise Unreadable(f"{KEY} has more than {MOST_ENTRIES} entries")
    wrong = next((path for path in closed if not _is_path(path)), None)
    if wrong is not None:
        raise Unreadable(f"{KEY}: {wrong[:64]!r} is not the path of a queue in lower case")
    return Actions(closed)


def text_of(actions: Actions) -> str:
    """Text to store, sorted by path. Raises `StoreFull`."""
    entries = tuple(_entry_of(path, actions.closed[path]) for path in sorted(actions.closed))
    text = msgspec.json.encode(_Text(1, entries))
    if len(entries) > MOST_ENTRIES or len(text) > MOST_BYTES:
        raise StoreFull(f"there are {MOST_ENTRIES} actions, or {MOST_BYTES} bytes of them, already")
    return text.decode()


def without_ended(actions: Actions, *, now: float) -> Actions:
    """Actions that still have an effect. ``now``: seconds since the epoch."""
    return Actions(in_force(actions.closed, now=now))


def whole_second(seconds: float) -> float:
    """Time with the precision of the store."""
    return float(int(seconds))


def _is_path(path: str) -> bool:
    return path == path.lower() and (path == ROOT or path.startswith(f"{ROOT}."))


def _closure_from(entry: ClosedQueue) -> Closure:
    until = entry.until.timestamp() if entry.until is not None else None
    return Closure(entry.by, entry.since.timestamp(), entry.reason, until)


def _entry_of(path: QueuePath, closure: Closure) -> ClosedQueue:
    until = _moment(closure.until) if closure.until is not None else None
    return ClosedQueue(path, closure.by, _moment(closure.since), closure.reason, until)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
