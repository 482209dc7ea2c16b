"""Event records as values, one for each change (REST-38)."""

from functools import lru_cache
from typing import Final

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.resource import Limit, Resource
from core.workload.states import AppState
from extender.rest.model.events import (
    Change,
    Detail,
    EventAmount,
    EventRecord,
    EventResource,
    EventType,
)
from extender.rest.projection.units import limits, nanoseconds

MESSAGE_BYTES: Final = 1024

_REQUEST: Final = int(EventType.REQUEST)
_APPLICATION: Final = int(EventType.APPLICATION)
_NODE: Final = int(EventType.NODE)
_QUEUE: Final = int(EventType.QUEUE)
_USER_GROUP: Final = int(EventType.USER_GROUP)

STATES: Final = {
    AppState.REJECTED: Detail.APP_REJECTED,
    AppState.ACCEPTED: Detail.APP_ACCEPTED,
    AppState.STARTING: Detail.APP_STARTING,
    AppState.RUNNING: Detail.APP_RUNNING,
    AppState.COMPLETING: Detail.APP_COMPLETING,
    AppState.COMPLETED: Detail.APP_COMPLETED,
    AppState.FAILING: Detail.APP_FAILING,
    AppState.FAILED: Detail.APP_FAILED,
    AppState.RESUMING: Detail.APP_RESUMING,
}


def record(
    kind: int,
    key: str,
    change: Change,
    detail: Detail,
    *,
    now: float,
    about: str = "",
    message: str = "",
    size: Resource | Limit | None = None,
) -> EventRecord:
    """Make a record. ``kind``: number of an `EventType`.

    ``about``: key of a second object that is involved; ``size``: amounts, or None.
    """
    return EventRecord(
        type=kind,
        object_id=key,
        message=cut(message) if message else "",
        timestamp_nano=nanoseconds(now),
        # A plain 0, since msgspec compares with the default by identity. Others are not converted.
        event_change_type=change or 0,
        event_change_detail=detail or 0,
        reference_id=about,
        resource=resource_of(size),
    )


@lru_cache(maxsize=4096)
def resource_of(size: Resource | Limit | None) -> EventResource:
    """Return the amounts of a record. Records of one size share an object, to save memory."""
    return EventResource(
        resources={name: EventAmount(value=each) for name, each in limits(size).items() if each}
    )


def cut(message: str) -> str:
    """Shorten to at most `MESSAGE_BYTES` bytes of UTF-8, without splitting a character."""
    if 4 * len(message) <= MESSAGE_BYTES:
        return message
    encoded = message.encode("utf-8", "replace")
    return encoded[:MESSAGE_BYTES].decode("utf-8", "ignore") if len(encoded) > MESSAGE_BYTES else message


def of_application(
    app: AppId,
    change: Change,
    detail: Detail,
    *,
    now: float,
    pod: PodUid | str = "",
    message: str = "",
    size: Resource | None = None,
) -> EventRecord:
    """Make a record about an application. ``pod``: the pod that it concerns."""
    return record(_APPLICATION, app.name, change, detail, now=now, about=pod, message=message, size=size)


def of_node(
    node: NodeName,
    change: Change,
    detail: Detail,
    *,
    now: float,
    pod: str = "",
    message: str = "",
    size: Resource | None = None,
) -> EventRecord:
    """Make a record about a node. ``pod``: the pod that it concerns."""
    return record(_NODE, node, change, detail, now=now, about=pod, message=message, size=size)


def of_queue(
    queue: QueuePath,
    change: Change,
    detail: Detail,
    *,
    now: float,
    app: str = "",
    size: Resource | Limit | None = None,
) -> EventRecord:
    """Make a record about a queue. ``app``: the application that it concerns."""
    return record(_QUEUE, queue, change, detail, now=now, about=app, size=size)


def of_person(
    name: str, change: Change, detail: Detail, *, now: float, about: str, size: Resource | Limit | None = None
) -> EventRecord:
    """Make a record about a user or group. ``about``: path of a queue, or id of an application."""
    return record(_USER_GROUP, name, change, detail, now=now, about=about, size=size)


def of_request(uid: PodUid, app: AppId, message: str, *, now: float) -> EventRecord:
    """Make a record with the reason why a pod waits."""
    return record(_REQUEST, uid, Change.NONE, Detail.PLAIN, now=now, about=app.name, message=message)
