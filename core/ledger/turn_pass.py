"""A pass: walk the queues in their order and hand out turns until nothing that is pending fits (CYC-4).

After each turn everything is ordered anew, as YuniKorn does after each allocation: queues by priority and
share, applications by their leaf's policy, asks by priority and age. Whatever does not fit is passed over,
and nothing waits behind it (CYC-7). It runs in slices between the verbs; a check reads the ledger as it is.
"""

from collections.abc import Iterator
from heapq import heapify, heappop

from core.ids import NodeName
from core.instants import has_come
from core.ledger.backoff import back_off
from core.ledger.effects import OpenGate, WakePod
from core.ledger.lanes import Lane, Line
from core.ledger.record import PodRecord
from core.ledger.state import Seat, State, WaitingKey
from core.ledger.turns import FORGIVEN, clear_fresh, give_turn, wake_deferred
from core.ledger.walk import Branch, Walk
from core.workload.ask import Rank
from core.workload.lineup import Kind, Lineup

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
        self._nowhere: set[Kind] = set()
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
                key = seat.key
                lineup = lineups.setdefault(key.queue, Lineup())
                lineup.add(key.app, (key.size, key.constraints), seat.rank)
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
        size, constraints = line.kind
        seat = Seat(WaitingKey(leaf.queue.path, size, lane.app_id, constraints), line.head)
        if walk.is_dead(leaf, size):
            lane.drop()
            return 1, []
        record = self._ask(seat, late)
        if record is None:
            lane.advance()
            return 1, []
        node = self._node_for(seat.key)
        if node is None:
            self._leave_out(leaf, lane, line)
            return 1, []
        lane.advance()
        woken = give_turn(self._state, record, seat, node)
        leaf.took(lane, seat)
        return _TURN, list(woken)

    def _leave_out(self, leaf: Branch, lane: Lane, line: Line) -> None:
        """The application's first line; and all others, when so many asks found no node that it rests."""
        lane.drop()
        application = self._state.applications.get(lane.app_id)
        if line.kind not in self._nowhere or application is None:
            return
        before, lane.unplaced = lane.unplaced, lane.unplaced + len(line)
        threshold = leaf.queue.properties.unscheduled_backoff
        more = bool(lane.lines) or before + len(line) > threshold
        if back_off(self._state, application, leaf.queue, unplaced=lane.unplaced, more=more):
            lane.lines.clear()

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

    def _node_for(self, key: WaitingKey) -> NodeName | None:
        """A node with room for such an ask; None when there is none, or no room in queues or limits."""
        state = self._state
        leaf, application = state.tree.get(key.queue), state.applications.get(key.app)
        kind = key.size, key.constraints
        if leaf is None or application is None or kind in self._nowhere:
            return None
        if state.room.refusal(leaf.chain, application.claimant, key.size, extra=state.given) is not None:
            return None
        node = state.node_room.tightest(key.size, key.constraints, state.nodes)
        if node is None:
            self._nowhere.add(kind)
        return node

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
            node = self._node_for(seat.key) if waits else None
            if record is not None and node is not None:
                yield _TURN, list(give_turn(self._state, record, seat, node))
            else:
                yield 1, []
