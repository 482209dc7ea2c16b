"""Event records, single and in batches (REST-12, REST-13, REST-38)."""

from enum import IntEnum

from msgspec import field

from extender.rest.model.answer import Answer, Nanoseconds


class EventType(IntEnum):
    """Kind of object that a record is about."""

    REQUEST = 1
    APPLICATION = 2
    NODE = 3
    QUEUE = 4
    USER_GROUP = 5


class Change(IntEnum):
    """Change of the object."""

    NONE = 0
    SET = 1
    ADD = 2
    REMOVE = 3


class Detail(IntEnum):
    """Details of a change, numbered as in REST-38."""

    PLAIN = 0
    REQUEST_CANCEL = 100
    REQUEST_TIMEOUT = 102
    APP_ALLOCATION = 200
    APP_REQUEST = 201
    APP_REJECTED = 202
    APP_NEW = 203
    APP_ACCEPTED = 204
    APP_STARTING = 205
    APP_RUNNING = 206
    APP_COMPLETING = 207
    APP_COMPLETED = 208
    APP_FAILING = 209
    APP_FAILED = 210
    APP_RESUMING = 211
    APP_EXPIRED = 212
    APP_HELD_BY_QUEUE = 213
    APP_FREE_IN_QUEUE = 214
    APP_HELD_BY_USER = 215
    APP_FREE_OF_USER = 216
    NODE_DECOMMISSION = 300
    NODE_SCHEDULABLE = 302
    NODE_ALLOCATION = 303
    NODE_CAPACITY = 304
    NODE_OCCUPIED = 305
    NODE_RESERVATION = 306
    QUEUE_DYNAMIC = 401
    QUEUE_TYPE = 402
    QUEUE_MAX = 403
    QUEUE_GUARANTEED = 404
    QUEUE_APP = 405
    QUEUE_QUOTA_PREEMPTION = 407
    ALLOCATION_CANCEL = 500
    ALLOCATION_PREEMPTED = 501
    ALLOCATION_TIMEOUT = 502
    ALLOCATION_REPLACED = 503
    ALLOCATION_NODE_REMOVED = 504
    USER_LIMIT = 600
    GROUP_LIMIT = 601
    APP_OF_GROUP = 602
    USER_USAGE = 603
    GROUP_USAGE = 604


class EventAmount(Answer, frozen=True, kw_only=True):
    """Amount in a record."""

    #: Amount, in the units of REST-3.
    value: int = 0


class EventResource(Answer, frozen=True, kw_only=True):
    """Amounts of a record."""

    #: Amounts by resource.
    resources: dict[str, EventAmount] = field(default_factory=dict)


class EventRecord(Answer, frozen=True, kw_only=True):
    """Record of one event (REST-38). Its numbers are values of `EventType`, `Change` and `Detail`."""

    #: Kind of the object.
    type: int = 0
    #: Key of the object.
    object_id: str = field(name="objectID", default="")
    #: Text for people, at most 1024 bytes long.
    message: str = ""
    #: Time of the event.
    timestamp_nano: Nanoseconds = 0
    #: Number of the change.
    event_change_type: int = 0
    #: Number of the detail.
    event_change_detail: int = 0
    #: Key of a second object that is involved.
    reference_id: str = field(name="referenceID", default="")
    #: Amounts; an empty object for none.
    resource: EventResource


class EventBatch(Answer, frozen=True, kw_only=True, rename=None):
    """Consecutive event records (REST-12)."""

    #: Id of this process.
    instance_uuid: str = field(name="InstanceUUID")
    #: Id of the oldest stored record.
    lowest_id: int = field(name="LowestID")
    #: Id of the newest record.
    highest_id: int = field(name="HighestID")
    #: Records in order; null if the requested id is not stored.
    event_records: tuple[EventRecord, ...] | None = field(name="EventRecords")


class StreamHead(Answer, frozen=True, kw_only=True, rename=None):
    """First line of the event stream (REST-13)."""

    #: Id of this process.
    instance_uuid: str = field(name="InstanceUUID")
