"""Applications of a race: their asks that have no turn, and their places in the order of a leaf."""

from core.ledger.state.admission import Seat
from core.ledger.state.state import State
from core.queues.properties import SortPolicy
from core.queues.queue import NO_PRIORITY, Queue
from core.resource import Resource
from core.workload.application import Application
from core.workload.ask import Rank
from core.workload.ordering import OrderKey, key_from, usage_shares
from core.workload.promises import NO_PROMISES, NO_TURNS

_NONE = Resource({})


class Runner:
    """An application of a leaf, with the asks that it may still have turns for."""

    __slots__ = (
        "_asked",
        "_is_fair",
        "_leaf",
        "_priority",
        "_promised",
        "_used",
        "application",
        "asks",
        "at",
        "filed",
        "key",
    )

    def __init__(self, state: State, application: Application, leaf: Queue, asks: list[Seat]) -> None:
        self.application = application
        self._leaf = leaf
        if len(asks) > 1:
            asks.sort(key=_rank_of)
        #: Asks in their order, and the number of those behind it.
        self.asks = asks
        self.at = 0
        #: Number of the valid place in the order.
        self.filed = 0
        promises = state.turns.promised.get(leaf.path, NO_PROMISES)
        promised = promises.applications.get(application.id, NO_TURNS)
        self._promised = promised.asked
        #: Numbers of asks without a turn by priority. None before a turn is counted, as for most of them.
        self._asked: dict[int, int] | None = None
        self._is_fair = leaf.properties.sort_policy is SortPolicy.FAIR
        self._used = application.used.as_resource() + promised.used.as_resource() if self._is_fair else _NONE
        self._priority = _best_without(application.asked, promised.asked)
        self.key = self._key()

    @property
    def has_more(self) -> bool:
        """True if it has asks left."""
        return self.at < len(self.asks)

    def note_turn(self, priority: int, size: Resource) -> bool:
        """Count a turn. True if it may have changed the place of the application (SORT-5)."""
        asked = self._asked
        if asked is None:
            asked = self._asked = without(self.application.asked, self._promised)
        count_down(asked, priority)
        best = self._priority if self._priority in asked else max(asked, default=NO_PRIORITY)
        if self._is_fair:
            self._used = self._used + size
        elif best == self._priority:
            return False
        self._priority = best
        self.key = self._key()
        return True

    def _key(self) -> OrderKey:
        of, leaf = self.application, self._leaf
        own = usage_shares(self._used, leaf.guaranteed) if self._is_fair else of.submitted
        by_priority = leaf.properties.sort_by_priority
        return key_from(self._priority, own, of.submitted, of.id, by_priority=by_priority)


def _rank_of(seat: Seat) -> Rank:
    return seat.rank


def _best_without(asked: dict[int, int], promised: dict[int, int]) -> int:
    """Best priority of the asks that have no turn."""
    best = NO_PRIORITY
    for priority, count in asked.items():
        if priority > best and (not promised or count > promised.get(priority, 0)):
            best = priority
    return best


def without(asked: dict[int, int], promised: dict[int, int]) -> dict[int, int]:
    """Numbers of asks by priority that have no turn."""
    if not promised:
        return asked.copy()
    left: dict[int, int] = {}
    for priority, count in asked.items():
        less = count - promised.get(priority, 0)
        if less > 0:
            left[priority] = less
    return left


def count_down(asked: dict[int, int], priority: int) -> None:
    """Count an ask out, if there is one of that priority."""
    left = asked.get(priority, 0) - 1
    if left > 0:
        asked[priority] = left
    else:
        asked.pop(priority, None)
