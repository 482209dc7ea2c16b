"""Ring buffer of the newest event records, which are numbered (REST-12)."""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice

from extender.rest.model.events import EventBatch, EventRecord

CAPACITY = 100_000
"""Number of stored records, unless ``event.ringBufferCapacity`` says otherwise."""

BATCH = 10_000
"""Most records in one answer, unless ``event.RESTResponseSize`` says otherwise."""


def _ignore() -> None:
    return


class EventRing:
    """Ring of records. They are numbered from 0 in order of arrival; a record does not contain its number."""

    def __init__(self, instance: str, *, capacity: int = CAPACITY) -> None:
        self.instance = instance
        #: True while somebody reads a stream. `on_added` is called only then.
        self.streamed = False
        #: Called after each record.
        self.on_added: Callable[[], None] = _ignore
        self._records: deque[EventRecord] = deque(maxlen=capacity)
        self._next = 0

    @property
    def following(self) -> int:
        """Number of the next record."""
        return self._next

    @property
    def lowest(self) -> int:
        """Number of the oldest stored record; 0 before the first."""
        return self._next - len(self._records)

    def add(self, record: EventRecord) -> None:
        """Store a record under the next number."""
        self._records.append(record)
        self._next += 1
        if self.streamed:
            self.on_added()

    def resize(self, capacity: int) -> None:
        """Change the number of records that are stored; the newest stay."""
        if capacity != self._records.maxlen:
            self._records = deque(self._records, maxlen=capacity)

    def since(self, start: int, *, most: int) -> tuple[EventRecord, ...]:
        """Return up to ``most`` records, beginning with number ``start``.

        ``start`` must be stored or be the next number. Cost: O(distance to the nearer end).
        """
        offset, length = start - self.lowest, len(self._records)
        count = min(most, length - offset)
        if offset <= length // 2:
            return tuple(islice(self._records, offset, offset + count))
        behind: Iterable[EventRecord] = islice(
            reversed(self._records), length - offset - count, length - offset
        )
        return tuple(behind)[::-1]

    def batch(self, start: int, count: int) -> EventBatch:
        """Return records from number ``start``; null if it is not stored. The range says which ones are."""
        highest = max(0, self._next - 1)
        present = self.lowest <= start <= highest and bool(self._records)
        return EventBatch(
            instance_uuid=self.instance,
            lowest_id=self.lowest,
            highest_id=highest,
            event_records=self.since(start, most=count) if present else None,
        )
