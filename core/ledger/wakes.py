"""Who is to be woken when room has appeared (design section 3, "Waking")."""

from heapq import heapify, heappop, heapreplace

from core.ids import PodUid
from core.instants import earliest, has_come
from core.ledger.effects import OpenGate, WakePod
from core.ledger.record import PodRecord
from core.ledger.state import Seat, State, WaitingKey
from core.queues.limits import Claimant
from core.queues.queue import Queue
from core.queues.room import Extra
from core.workload.ask import Rank
from core.workload.pod import OWN_GATE

CHECKS_PER_SLICE = 400
"""Asks looked at in one slice: about 2 ms, so that no verb waits longer for a pass."""

WAKES_APART = 1.0
"""Seconds between two wake-ups of one ask, at least; twice as many for each one that it did not answer."""

LONGEST_REST = 60.0
"""Seconds, at most, between two wake-ups of an ask that does not answer any."""

_MOST_DOUBLINGS = 6


class WakePass:
    """One walk over the refused asks, best rank first, waking as many as the room now left would take.

    Room given to an ask counts as used for those behind it, also while it has been woken and has not come
    back yet; an ask that was woken in vain is woken again, ever more rarely, but holds nothing. An ask that
    waits at our own gate is woken by opening it. Equal asks of one application fit alike, so the first that
    does not fit ends its group: the cost is the number of groups plus the number woken, not the length of the
    backlog.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._given = Extra()
        self._given_to: dict[PodUid, tuple[Seat, tuple[Queue, ...], Claimant]] = {}
        # The number keeps sizes, which have no order, from being compared.
        self._heads: list[tuple[Rank, int, WaitingKey]] = [
            (group.first(), number, key) for number, (key, group) in enumerate(state.waiting.items())
        ]
        heapify(self._heads)

    @property
    def done(self) -> bool:
        return not self._heads

    def slice(self, *, now: float) -> tuple[WakePod | OpenGate, ...]:
        """Go on for a bounded number of asks; what the ledger learned meanwhile is respected."""
        self._take_back()
        wakes: list[WakePod | OpenGate] = []
        for _ in range(CHECKS_PER_SLICE):
            if not self._heads:
                break
            wakes += self._look_at(*self._heads[0], now=now)
        return tuple(wakes)

    def _look_at(
        self, rank: Rank, number: int, key: WaitingKey, *, now: float
    ) -> tuple[WakePod | OpenGate, ...]:
        record, seat = self._state.pods.get(rank[-1]), Seat(key, rank)
        if record is None or self._state.waits_at.get(record.uid) != seat:
            self._advance(rank, number, key)
            return ()
        if not self._fits(key):
            heappop(self._heads)
            return ()
        if not record.overlooked:
            self._give(record.uid, seat)
        self._advance(rank, number, key)
        return self._wake(record, now)

    def _advance(self, rank: Rank, number: int, key: WaitingKey) -> None:
        group = self._state.waiting.get(key)
        following = group.after(rank) if group else None
        if following is None:
            heappop(self._heads)
        else:
            heapreplace(self._heads, (following, number, key))

    def _fits(self, key: WaitingKey) -> bool:
        path, size, app_id = key
        leaf, application = self._state.tree.get(path), self._state.applications.get(app_id)
        if leaf is None or application is None:
            return False
        return self._state.room.refusal(leaf.chain, application.claimant, size, extra=self._given) is None

    def _give(self, uid: PodUid, seat: Seat) -> None:
        path, size, app_id = seat.key
        leaf = self._state.tree.get(path)
        if leaf is not None:
            claimant = self._state.applications[app_id].claimant
            self._given_to[uid] = seat, leaf.chain, claimant
            self._given.add(leaf.chain, claimant, size)

    def _take_back(self) -> None:
        """What an ask that waits no longer holds is in the queues' own counters by now, or free."""
        waits_at = self._state.waits_at
        for uid in [uid for uid, (seat, _, _) in self._given_to.items() if waits_at.get(uid) != seat]:
            seat, chain, claimant = self._given_to.pop(uid)
            self._given.take_back(chain, claimant, seat.key[1])

    def _wake(self, record: PodRecord, now: float) -> tuple[WakePod | OpenGate, ...]:
        state, facts = self._state, record.facts
        if facts.uid in state.woken:
            return ()
        if record.woken_at is not None and not has_come(rested := record.woken_at + _rest(record), now=now):
            state.deferred = earliest(state.deferred, rested)
            return ()
        record.woken_at = state.woken[facts.uid] = now
        if OWN_GATE in facts.gates:
            return (OpenGate(facts.uid, facts.namespace, facts.name),)
        return (WakePod(facts.uid, facts.namespace, facts.name, token=str(int(now * 1000))),)


def _rest(record: PodRecord) -> float:
    return min(LONGEST_REST, WAKES_APART * 2.0 ** min(record.overlooked, _MOST_DOUBLINGS))
