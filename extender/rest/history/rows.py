"""Amounts of all queues at one moment, copied in steps (REST-45)."""

from array import array
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from core.ids import QueuePath
from core.ledger.view import LedgerView
from core.queues.queue import Queue
from core.resource import Resource
from extender.rest.history.band import UNSET, Packed

AT_ONCE = 10
"""Number of queues that are copied in one step."""

LAST = 50
"""Changed queues that may be left when a moment is taken. They are copied together with it."""

ROUNDS = 20
"""Most searches for changed queues, so that a busy cluster gets its sample, too."""

MOST_QUEUES = 5_000
"""Most queues that are recorded, in the order of their creation. This bounds the cost of one sample."""

MOST_RESOURCES = 64
"""Resources of one queue that are recorded, by name."""

PART = 4
"""Divisor of the bound: the names in rows may use one such part of it."""

_ROW, _NAME = 600, 56
"""Bytes of a row, and of each of its resources, rounded up."""


class Row(NamedTuple):
    """A queue at one moment."""

    queue: Queue
    #: The queue's own count of its changes, by which the row is known to be up to date.
    changes: int
    #: Resources that it uses, asks for or limits, in order of their names.
    names: tuple[str, ...]
    #: Used, pending, guaranteed and max of each.
    amounts: Packed
    #: Number of resources that are left out.
    left_out: int = 0

    @property
    def size(self) -> int:
        """Bytes of the row."""
        return _ROW + self.size_of_names

    @property
    def size_of_names(self) -> int:
        """Bytes of its names and amounts."""
        return _NAME * len(self.names)


Rows = Mapping[QueuePath, Row]


class MomentRows:
    """Rows that are stored between samples. Only those of changed queues are made anew."""

    def __init__(self) -> None:
        self._rows: dict[QueuePath, Row] = {}
        #: Bytes of all names in rows.
        self._size = 0

    def clear(self) -> None:
        """Drop all rows."""
        self._rows, self._size = {}, 0

    def freshen(self, view: LedgerView, *, bound: int) -> Iterator[None]:
        """Copy changed queues in steps until few are left. `taken` must follow before any other event.

        ``bound``: bytes of the whole past.
        """
        for _ in range(ROUNDS):
            changed = self._changed(view)
            if len(changed) <= LAST:
                return
            for place, queue in enumerate(changed):
                if place % AT_ONCE == 0:
                    yield
                self._copy(queue, bound)

    def taken(self, view: LedgerView, *, bound: int) -> Rows:
        """Return the rows of this moment. Cost: O(queues), and a copy of each that has changed."""
        for queue in self._changed(view):
            self._copy(queue, bound)
        if len(self._rows) != min(len(view.tree), MOST_QUEUES):
            self._rows = {queue.path: self._rows[queue.path] for queue in _recorded(view)}
            self._size = _NAME * sum(len(row.names) for row in self._rows.values())
        return dict(self._rows)

    def _changed(self, view: LedgerView) -> list[Queue]:
        rows = self._rows
        return [
            queue
            for queue in _recorded(view)
            if (row := rows.get(queue.path)) is None or row.changes != queue.changes or row.queue is not queue
        ]

    def _copy(self, queue: Queue, bound: int) -> None:
        row, old = row_of(queue), self._rows.get(queue.path)
        self._size -= old.size_of_names if old is not None else 0
        if self._size + row.size_of_names > bound // PART:
            row = row._replace(names=(), amounts=array("q"), left_out=row.left_out + len(row.names))
        self._size += row.size_of_names
        self._rows[queue.path] = row


def _recorded(view: LedgerView) -> Iterator[Queue]:
    return islice(view.tree, MOST_QUEUES)


def row_of(queue: Queue) -> Row:
    """Copy what a queue uses, asks for and limits now."""
    used, pending = Resource.sum_of(queue.allocated, queue.reserved), queue.pending.as_resource()
    guaranteed, cap = queue.guaranteed or Resource({}), queue.max
    found = {name for amounts in (used, pending) for name, amount in amounts.items() if amount}
    names = sorted({*found, *guaranteed.names(), *(cap.names() if cap is not None else ())})
    shown, amounts = tuple(names[:MOST_RESOURCES]), array("q")
    for name in shown:
        limit = cap.get(name) if cap is not None else None
        amounts.append(_stored(used.get(name)))
        amounts.append(_stored(pending.get(name)))
        amounts.append(_stored(guaranteed.get(name)) if name in guaranteed else UNSET)
        amounts.append(_stored(limit) if limit is not None else UNSET)
    return Row(queue, queue.changes, shown, amounts, len(names) - len(shown))


def _stored(amount: int) -> int:
    """Return the amount, or the next one that marks neither a gap nor a limit that is not set."""
    return max(amount, UNSET + 1)
