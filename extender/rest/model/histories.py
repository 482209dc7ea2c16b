"""Samples of the past day (REST-28, REST-29), and the past of queues (REST-50)."""

from extender.rest.model.answer import Answer, Count, Nanoseconds, NanosecondSpan


class ApplicationSample(Answer, frozen=True, kw_only=True):
    """Number of running applications at one minute."""

    #: Time of the sample.
    timestamp: Nanoseconds = 0
    #: Number of running applications.
    total_applications: Count = ""


class ContainerSample(Answer, frozen=True, kw_only=True):
    """Number of managed pods on nodes at one minute."""

    #: Time of the sample.
    timestamp: Nanoseconds = 0
    #: Number of pods.
    total_containers: Count = ""


class ResourcePast(Answer, frozen=True, kw_only=True):
    """Past of one resource of a queue. Each list has one amount for each sample, oldest first.

    All four amounts of a sample that was not taken are null.
    """

    #: Amounts allocated and reserved.
    used: tuple[int | None, ...]
    #: Amounts of asks that wait.
    pending: tuple[int | None, ...]
    #: Guaranteed amounts; null for none.
    guaranteed: tuple[int | None, ...]
    #: Most that the queue might use by its own max; null for unlimited.
    max: tuple[int | None, ...]


class HistoryMemory(Answer, frozen=True, kw_only=True):
    """Memory of the past of all queues."""

    #: Bound in bytes, from `paddock.history.maxMemory`.
    limit: int
    #: Bytes in use, rounded up.
    used: int
    #: Number of resources of queues that are not recorded, for lack of memory.
    unrecorded: int
    #: Number of series that were dropped within a day, for lack of memory.
    dropped: int


class QueuePast(Answer, frozen=True, kw_only=True):
    """Past of one queue, with samples at equal steps."""

    #: Path of the queue.
    queue: str
    #: Time of the first sample.
    start: Nanoseconds
    #: Time between two samples.
    step: NanosecondSpan
    #: Number of samples.
    count: int
    #: True if the step is longer than usual, for lack of memory.
    thinned: bool = False
    #: Bound and use of memory.
    memory: HistoryMemory
    #: Past by resource, in the order of their names.
    resources: dict[str, ResourcePast]
