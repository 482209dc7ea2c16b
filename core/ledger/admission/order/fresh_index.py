"""Index of the asks that a cycle over fresh asks checks."""

from collections.abc import Iterable, Iterator

from core.ids import QueuePath
from core.ledger.state.admission import Seat
from core.ledger.state.state import State
from core.workload.pending_index import PendingIndex

_FILED_PER_UNIT = 4


def file_fresh(state: State, seats: Iterable[Seat], indexes: dict[QueuePath, PendingIndex]) -> Iterator[int]:
    """File fresh asks in ``indexes``, by leaf. Yields units of work.

    Where applications may back off, all asks of the leaf are filed, because all count (CYC-4).
    """
    for number, seat in enumerate(list(seats)):
        if state.pending.waits_at.get(seat.rank[-1]) == seat:
            _file(state, seat, indexes)
        if number % _FILED_PER_UNIT == 0:
            yield 1


def _file(state: State, seat: Seat, indexes: dict[QueuePath, PendingIndex]) -> None:
    key, leaf = seat.key, state.config.tree.get(seat.key.queue)
    if leaf is not None and leaf.properties.unscheduled_backoff > 0:
        indexes[key.queue] = state.pending.waiting[key.queue]
    else:
        indexes.setdefault(key.queue, PendingIndex()).add(key.app, (key.size, key.constraints), seat.rank)
