"""A pass: walk the queues in their order and hand out turns until nothing that is pending fits (CYC-4).

After each turn everything is ordered anew, as YuniKorn does after each allocation: queues by priority and
share, applications by their leaf's policy, asks by priority and age. Whatever does not fit is passed over,
and nothing waits behind it (CYC-7). It runs in slices between the verbs; a check reads the ledger as it is.
"""

from collections.abc import Iterator
from heapq import heapify, heappop

from core.instants import has_come
from core.ledger.effects import OpenGate, WakePod
from core.ledger.record import PodRecord
from core.ledger.state import Seat, State, WaitingKey
from core.ledger.turns import FORGIVEN, clear_fresh, give_turn, wake_deferred
from core.ledger.walk import Branch, Walk
from core.workload.ask import Rank
from core.workload.lineup import Lineup

WORK_PER_SLICE = 150
"""Units of about ten microseconds, so that no verb waits longer than some milliseconds for a pass."""

_TURN = 8
_FILED_PER_UNIT = 4

Effects = list[WakePod | OpenGate]


class TurnPass:
    """One walk over the pending asks: over all of them when room has appeared, else over the fresh ones.

    The others did not fit when they were last looked at, and since then there is only less room.
    """

    def __init__(self, state: State, *, fresh_only: bool) -> None:
        self._state = state
        self._fresh = dict(state.fresh)
        self._steps = self._walk(fresh_only=fresh_only)
        self.done = False
        clear_fresh(state)

    def slice(self) -> tuple[WakePod | OpenGate, ...]:
        """Go on for a bounded amount of work."""
        effects: Effects = []
        left = WORK_PER_SLICE
        while left > 0:
            step = next(self._steps, None)
            if step is None:
                self.done = True
                break
            work, woken = step
            effects += woken
            left -= work
        return tuple(effects)

    # -- steps: units of work done, and who is to be woken ---------------------------------------------------

    def _walk(self, *, fresh_only: bool) -> Iterator[tuple[int, Effects]]:
        yield 1, wake_deferred(self._state)
        lineups = self._state.waiting
        if fresh_only:
            lineups = {}
            for number, seat in enumerate(self._fresh.values()):
                path, size, app_id = seat.key
                lineups.setdefault(path, Lineup()).add(app_id, size, seat.rank)
                if number % _FILED_PER_UNIT == 0:
                    yield 1, []
        walk = Walk(self._state)
        for _ in walk.build(lineups):
            yield 1, []
        yield from self._hand_out(walk)

    def _hand_out(self, walk: Walk) -> Iterator[tuple[int, Effects]]:
        """The order is found anew only where something has changed in it."""
        late: list[tuple[Rank, Seat]] = []
        leaf = walk.next_leaf()
        while leaf is not None:
            if not leaf.built:
                for number, _ in enumerate(walk.build_leaf(leaf)):
                    if number % _FILED_PER_UNIT == 0:
                        yield 1, []
            work, woken = self._step(walk, leaf, late)
            yield work, woken
            if work == _TURN or not leaf.open:
                leaf = walk.next_leaf()
        yield from self._late(late)

    def _step(self, walk: Walk, leaf: Branch, late: list[tuple[Rank, Seat]]) -> tuple[int, Effects]:
        """Look at the next ask of a leaf: give it a turn, or leave out all that are like it."""
        lane = leaf.next_lane()
        line = lane.first() if lane is not None else None
        if lane is None or line is None:
            leaf.close()
            return 1, []
        seat = Seat((leaf.queue.path, line.size, lane.app_id), line.head)
        if walk.is_dead(leaf, line.size):
            lane.drop()
            return 1, []
        record = self._ask(seat, late)
        if record is None:
            lane.advance()
            return 1, []
        if not self._fits(seat.key):
            lane.drop()
            return 1, []
        lane.advance()
        woken = give_turn(self._state, record, seat)
        leaf.took(lane, seat)
        return _TURN, list(woken)

    def _ask(self, seat: Seat, late: list[tuple[Rank, Seat]]) -> PodRecord | None:
        """The ask that waits there, None for one that is not to be looked at now."""
        state, uid = self._state, seat.rank[-1]
        record = state.pods.get(uid)
        if record is None or state.waits_at.get(uid) != seat or uid in state.turns:
            return None
        if record.rests_until is not None and not has_come(record.rests_until, now=state.now):
            return None
        if record.passed_over or record.overlooked > FORGIVEN:
            record.passed_over = False
            late.append((seat.rank, seat))
            return None
        return record

    def _fits(self, key: WaitingKey) -> bool:
        path, size, app_id = key
        state = self._state
        leaf, application = state.tree.get(path), state.applications.get(app_id)
        if leaf is None or application is None:
            return False
        return state.room.refusal(leaf.chain, application.claimant, size, extra=state.given) is None

    def _late(self, late: list[tuple[Rank, Seat]]) -> Iterator[tuple[int, Effects]]:
        """Those whose turn came to nothing before: behind everybody else, in their own order."""
        heapify(late)
        while late:
            _, seat = heappop(late)
            uid = seat.rank[-1]
            record = self._state.pods.get(uid)
            waits = (
                record is not None and self._state.waits_at.get(uid) == seat and uid not in self._state.turns
            )
            if record is not None and waits and self._fits(seat.key):
                yield _TURN, list(give_turn(self._state, record, seat))
            else:
                yield 1, []
