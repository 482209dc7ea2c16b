"""Who is to be woken when room has appeared (design section 3, "Waking")."""

from heapq import heapify, heappop, heapreplace

from core.ids import QueuePath
from core.ledger.effects import WakePod
from core.ledger.record import PodRecord
from core.ledger.state import State, WaitingKey
from core.queues.headroom import shortfall
from core.resource import Tally
from core.workload.ask import Rank

CHECKS_PER_SLICE = 400
"""Asks looked at in one slice: about 2 ms, so that no verb waits longer for a pass."""

WAKES_APART = 1.0
"""Seconds between two wake-ups of one ask, at least."""


class WakePass:
    """One walk over the refused asks, best rank first, waking as many as the room now left would take.

    Room given to an ask counts as used for those behind it, also while it has been woken and has not come
    back yet; an ask that was woken in vain is woken again but holds nothing. Equal asks of one queue fit
    alike, so the first that does not fit ends its group: the cost is the number of groups plus the number
    woken, not the length of the backlog.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._given: dict[QueuePath, Tally] = {}
        self._heads: list[tuple[Rank, WaitingKey]] = [
            (group.first(), key) for key, group in state.waiting.items()
        ]
        heapify(self._heads)

    @property
    def done(self) -> bool:
        return not self._heads

    def slice(self, *, now: float) -> tuple[WakePod, ...]:
        """Go on for a bounded number of asks; what the ledger learned meanwhile is respected."""
        wakes: list[WakePod] = []
        for _ in range(CHECKS_PER_SLICE):
            if not self._heads:
                break
            wakes += self._look_at(*self._heads[0], now=now)
        return tuple(wakes)

    def _look_at(self, rank: Rank, key: WaitingKey, *, now: float) -> tuple[WakePod, ...]:
        record = self._state.pods.get(rank[-1])
        if record is None or record.uid not in self._state.waits_at:
            self._advance(rank, key)
            return ()
        if not self._fits(key):
            heappop(self._heads)
            return ()
        if not record.overlooked:
            self._give(key)
        self._advance(rank, key)
        return self._wake(record, now)

    def _advance(self, rank: Rank, key: WaitingKey) -> None:
        group = self._state.waiting.get(key)
        following = group.after(rank) if group else None
        if following is None:
            heappop(self._heads)
        else:
            heapreplace(self._heads, (following, key))

    def _fits(self, key: WaitingKey) -> bool:
        path, size = key
        leaf = self._state.tree.get(path)
        return leaf is not None and shortfall(leaf.chain, size, extra=self._given) is None

    def _give(self, key: WaitingKey) -> None:
        path, size = key
        leaf = self._state.tree.get(path)
        for queue in leaf.chain if leaf else ():
            self._given.setdefault(queue.path, Tally()).add(size)

    def _wake(self, record: PodRecord, now: float) -> tuple[WakePod, ...]:
        state, facts = self._state, record.facts
        if facts.uid in state.woken:
            return ()
        if record.woken_at is not None and now - record.woken_at < WAKES_APART:
            state.deferred = True
            return ()
        record.woken_at = state.woken[facts.uid] = now
        return (WakePod(facts.uid, facts.namespace, facts.name, token=str(int(now * 1000))),)
