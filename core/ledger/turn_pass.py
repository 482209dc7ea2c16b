"""A pass: walk the queues in their order and hand out turns until nothing that is pending fits (CYC-4).

After each turn everything is ordered anew, as YuniKorn does after each allocation: queues by priority and
share, applications by their leaf's policy, asks by priority and age. Whatever does not fit is passed over,
and nothing waits behind it (CYC-7). It runs in slices between the verbs; a check reads the ledger as it is.
"""

from heapq import heapify, heappop

from core.ids import NO_NODE, NodeName, PodUid, QueuePath
from core.instants import has_come
from core.ledger.backoff import back_off, look_again
from core.ledger.effects import NominateNode, OpenGate, WakePod
from core.ledger.keeping import kept_could_take, node_for, nominate, still_helps
from core.ledger.lanes import Lane, Line
from core.ledger.marks import undo
from core.ledger.muster import TURN, Effects, Muster, Steps, has_leave
from core.ledger.pod_groups import unopened
from core.ledger.record import PodRecord
from core.ledger.seeking import come_of_age, may_seek, seek
from core.ledger.state import Seat, State, WaitingKey
from core.ledger.turns import FORGIVEN, clear_fresh, give_turn, wake_deferred
from core.ledger.walk import Branch, Walk
from core.workload.ask import Rank
from core.workload.lineup import Kind, Lineup

WORK_PER_SLICE = 75
"""Units of about ten microseconds, so that no verb waits longer than a millisecond or two for a pass."""

SEARCHES = 4
"""Asks, at most, for which one pass looks for a node to keep."""

_KEPT, _BRANCH = 4, 2
_FILED_PER_UNIT = 4


class TurnPass:
    """One walk over the pending asks: over all of them when room has appeared, else over the fresh ones.

    The others did not fit when they were last looked at, and since then there is only less room. Where
    applications may rest all are looked at: it matters how many find no node (CYC-4).
    """

    def __init__(self, state: State, *, fresh_only: bool) -> None:
        self._state = state
        come_of_age(state)
        self._fresh: dict[PodUid, Seat] = {}
        if fresh_only:
            self._fresh = {**state.fresh, **{uid: state.waits_at[uid] for uid in sorted(state.aged)}}
        self._nowhere: set[Kind] = set()
        self._nowhere_before = set(state.nowhere) if fresh_only else set()
        self._searches = 0
        self._seeker: PodRecord | None = None
        self._muster = Muster(state)
        self._steps = self._walk(fresh_only=fresh_only)
        self.done = False
        state.aged.clear()
        clear_fresh(state)

    def slice(self) -> tuple[WakePod | OpenGate | NominateNode, ...]:
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

    @property
    def nowhere(self) -> set[Kind]:
        """What no node has room for, as far as this pass has come; a later one over fresh asks adds to it."""
        return self._nowhere_before | self._nowhere

    def _may_rest(self, path: QueuePath) -> bool:
        leaf = self._state.tree.get(path)
        return leaf is not None and leaf.properties.unscheduled_backoff > 0

    # -- steps: units of work done, and who is to be woken ---------------------------------------------------

    def _walk(self, *, fresh_only: bool) -> Steps:
        yield 1, [*wake_deferred(self._state)]
        lineups = self._state.waiting
        if fresh_only:
            lineups = {}
            for number, seat in enumerate(self._fresh.values()):
                key = seat.key
                if self._may_rest(key.queue):
                    lineups[key.queue] = self._state.waiting.get(key.queue) or Lineup()
                else:
                    lineup = lineups.setdefault(key.queue, Lineup())
                    lineup.add(key.app, (key.size, key.constraints), seat.rank)
                if number % _FILED_PER_UNIT == 0:
                    yield 1, []
        yield from self._kept_first()
        yield from self._muster.those_under_way()
        walk = Walk(self._state)
        for _ in walk.build(lineups):
            yield _BRANCH, []
        yield from self._hand_out(walk)
        walk.take_apart()

    def _kept_first(self) -> Steps:
        """Those for whom a node is kept: there, or anywhere else where there is room by now (CYC-2)."""
        state = self._state
        kept = sorted((state.pods[uid].rank, name) for name, uid in state.kept.items())
        for rank, name in kept:
            record, seat = state.pods.get(rank[-1]), state.waits_at.get(rank[-1])
            if record is None or seat is None or record.keeps != name or record.uid in state.turns:
                continue
            # An offer stands: kube-scheduler may be carrying it out, and cannot be told otherwise.
            offered = record.uid in state.offers
            if unopened(state, record) is not None:
                if not offered:
                    undo(state, record)
                continue
            yield _KEPT, []
            leave = has_leave(state, seat.key)
            if leave and state.node_room.has(name, seat.key.size):
                yield TURN, [*nominate(record, name), *give_turn(state, record, seat, name)]
            elif leave and (elsewhere := self._node_for(seat.key)):
                if not offered:
                    undo(state, record)
                yield TURN, list(give_turn(state, record, seat, elsewhere))
            elif not (offered or (still_helps(state, record) and self._comes_together(record, seat))):
                undo(state, record)

    def _comes_together(self, record: PodRecord, seat: Seat) -> bool:
        """Whether the room on a kept node may still be made: by its victims, or by pods that end."""
        if record.triggered:
            return record.uid in self._state.victims
        return has_leave(self._state, seat.key, with_root=False)

    def _hand_out(self, walk: Walk) -> Steps:
        """The order is found anew only where something has changed in it."""
        late: list[tuple[Rank, Seat]] = []
        leaf = walk.next_leaf()
        while leaf is not None:
            if leaf.is_dead():
                leaf.close()
                yield 1, []
                leaf = walk.next_leaf()
                continue
            if not leaf.built:
                for _ in walk.build_leaf(leaf):
                    yield 1, []
            work, woken = self._step(walk, leaf, late)
            yield work, woken
            if self._muster.wanted is not None:
                yield from self._muster.give_turns(leaf)
                leaf = walk.next_leaf()
                continue
            if self._seeker is not None:
                yield from ((1, []) for _ in seek(self._state, self._seeker))
                self._seeker = None
            if work == TURN or not leaf.open:
                leaf = walk.next_leaf()
        yield from self._late(late)
        yield from self._muster.the_late()

    def _step(self, walk: Walk, leaf: Branch, late: list[tuple[Rank, Seat]]) -> tuple[int, Effects]:
        """Look at the next ask of a leaf: give it a turn, or leave out all that are like it."""
        lane = leaf.next_lane()
        line = lane.first() if lane is not None else None
        if lane is None or line is None:
            leaf.close()
            return 1, []
        if lane.passes(self._state.turns):
            return 1, []
        size, constraints = line.kind
        seat = Seat(WaitingKey(leaf.queue.path, size, lane.app_id, constraints), line.head)
        if walk.is_dead(leaf, size):
            lane.drop()
            return 1, []
        record = self._ask(seat, late)
        if record is None or record.keeps or self._muster.takes(record):
            lane.advance()
            return 1, []
        node = self._node_for(seat.key, own=record.facts.required_node)
        if node is None:
            self._note_seeker(record, line.kind)
            self._leave_out(leaf, lane, line)
            return 1, []
        lane.advance()
        if not record.facts.asks_filter and kept_could_take(self._state, record):
            return 1, []
        woken = give_turn(self._state, record, seat, node)
        leaf.took(lane, seat)
        return TURN, list(woken)

    def _note_seeker(self, record: PodRecord, kind: Kind) -> None:
        """No node has room for an ask, nor for any like it: one may be kept for it."""
        if kind in self._nowhere and self._searches < SEARCHES and may_seek(self._state, record):
            self._searches += 1
            self._seeker = record

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
            look_again(state, record.rests_until)
            return None
        if record.passed_over or record.overlooked > FORGIVEN:
            record.passed_over = False
            late.append((seat.rank, seat))
            return None
        return record

    def _node_for(self, key: WaitingKey, *, own: NodeName = NO_NODE) -> NodeName | None:
        """A node with room for such an ask; None when there is none, or no room in queues or limits.

        ``own``: the only node that it may run on, which is not kept from it (RNP-1).
        """
        state = self._state
        kind = key.size, key.constraints
        if kind in self._nowhere or not has_leave(state, key):
            return None
        node = node_for(state, key, own=own)
        if node is None:
            self._nowhere.add(kind)
        return node

    def _late(self, late: list[tuple[Rank, Seat]]) -> Steps:
        """Those whose turn came to nothing before: behind everybody else, in their own order."""
        heapify(late)
        while late:
            _, seat = heappop(late)
            uid = seat.rank[-1]
            record = self._state.pods.get(uid)
            waits = (
                record is not None
                and self._state.waits_at.get(uid) == seat
                and uid not in self._state.turns
                and unopened(self._state, record) is None
            )
            own = record.facts.required_node if record is not None else NO_NODE
            node = self._node_for(seat.key, own=own) if waits else None
            if record is not None and node is not None:
                yield TURN, list(give_turn(self._state, record, seat, node))
            else:
                yield 1, []
