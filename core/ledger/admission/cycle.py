"""The scheduling cycle: give turns in the order of queues until nothing pending fits (CYC-4).

After each turn everything is ordered anew, as YuniKorn does after each allocation. Queues go by priority and
share, applications by their leaf's policy, and asks by priority and age. An ask that does not fit is skipped,
and nothing waits behind it (CYC-7).

A cycle runs in slices between the verbs. Each turn is given by the ledger as it is then, and the order
follows the counters. A cycle that new asks or freed capacity have overtaken begins anew, as far as
`OVER_AGAIN` allows. Later changes are for the next cycle.
"""

from collections.abc import Generator
from heapq import heapify, heappop, heappush

from core.ids import NO_NODE, NodeName, PodUid, QueuePath
from core.instants import has_come
from core.ledger.admission.backoff import back_off, is_left_out
from core.ledger.admission.gate_opening import charge_opened
from core.ledger.admission.order.application_queue import ApplicationQueue
from core.ledger.admission.order.branch import Branch
from core.ledger.admission.order.fresh_index import file_fresh
from core.ledger.admission.order.ordering import Ordering
from core.ledger.admission.order.state_aware import lets_in
from core.ledger.admission.requests import extend_cycle, note_requeue, request_recheck
from core.ledger.admission.reserved_first import serve_reserved
from core.ledger.admission.turns import FORGIVEN, clear_fresh, end_passing_over, give_turn, wake_postponed
from core.ledger.effects import NominateNode, OpenGate, WakePod
from core.ledger.gangs.lifecycle import retry_members_elsewhere
from core.ledger.node_reservation.reservation import node_for, reserved_node_could_take
from core.ledger.node_reservation.search import come_of_age, may_search, search_node, take_aged
from core.ledger.podgroups.admission import TURN, Effects, PodGroupAdmission, Steps, fits_quota, needs_node
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import RequeueReason, Seat, WaitingKey
from core.ledger.state.state import State
from core.workload.ask import Rank
from core.workload.nodes.free_capacity import Undecided
from core.workload.pending_index import Kind, PendingIndex

WORK_PER_SLICE = 75
"""Units of about ten microseconds in one slice, so that no verb waits longer than two milliseconds."""

SEARCHES = 4
"""Asks, at most, for which one cycle searches for a node to reserve."""

OVER_AGAIN = 8 * WORK_PER_SLICE
"""Units of work, at most, that one cycle repeats because it was overtaken.

Without a bound, a busy cluster would restart a long cycle again and again, and get no turns.
"""

PassedOver = list[tuple[Rank, Seat]]

_BRANCH = 2
_LINES_PER_UNIT = 4
_CHECKS_PER_UNIT = 25


class Cycle:
    """Scheduling cycle over all pending asks if capacity was freed, else over the fresh ones.

    The other asks did not fit at their last check, and capacity has only shrunk since. Where applications may
    back off, all asks are checked, because the number without a node counts (CYC-4).
    """

    def __init__(self, state: State, *, fresh_only: bool) -> None:
        self._state, self._fresh_only = state, fresh_only
        self._fresh: dict[PodUid, Seat] = {}
        self._nowhere: set[Kind] = set()
        self._nowhere_before = set(state.cycle.nowhere) if fresh_only else set()
        self._searches = self._work = 0
        self._searching_for: PodRecord | None = None
        self._may_repeat = OVER_AGAIN
        self._overtaken = self.done = False
        self._note_fresh()
        self._pod_groups = PodGroupAdmission(state)
        self._steps: Steps | None = self._run()

    def _note_fresh(self) -> None:
        come_of_age(self._state)
        aged = {uid: self._state.pending.waits_at[uid] for uid in take_aged(self._state)}
        if self._fresh_only:
            self._fresh |= {**self._state.turns.fresh, **aged}
        clear_fresh(self._state)

    def slice(self) -> Generator[None, None, tuple[WakePod | OpenGate | NominateNode, ...]]:
        """Do a bounded amount of work. The ledger settles touched pods after each step."""
        effects: Effects = []
        left, touched = WORK_PER_SLICE, self._state.pods.touched
        for work, woken in self._steps or ():
            effects += woken
            left -= work
            self._work += work
            if touched:
                yield
            if left <= 0:
                break
        else:
            self.drop()
        charge_opened(self._state, effects)
        return tuple(effects)

    def drop(self) -> None:
        """End the cycle, whose steps refer to it."""
        self.done, self._steps = True, None

    @property
    def nowhere(self) -> set[Kind]:
        """Kinds of asks that no node takes, as found so far. Cycles over fresh asks add to them."""
        return self._nowhere_before | self._nowhere

    # -- steps: units of work done, and the effects of turns ------------------------------------------------

    def _run(self) -> Steps:
        """Run one scheduling cycle in numbered steps. Repeat from step 2 if it was overtaken."""
        # 1. Wake asks whose wake-up was postponed.
        yield 1, [*wake_postponed(self._state)]
        while True:
            self._work = 0
            # 2. Take the asks to check: all that are pending, or those that no cycle has checked.
            indexes = (yield from self._fresh_indexes()) if self._fresh_only else self._state.pending.waiting
            # 3. Serve asks with a node reservation.
            yield from serve_reserved(self._state, self._decided_node_for)
            # 4. Continue with the pod groups that have begun.
            yield from self._pod_groups.groups_under_way()
            # 5. Order the queues.
            ordering = Ordering(self._state)
            for _ in ordering.build(indexes):
                yield _BRANCH, []
            # 6. Check the first ask in the order, give it a turn or requeue it, and order anew.
            passed_over: PassedOver = []
            yield from self._hand_out(ordering, passed_over)
            # 7. Check the asks whose last turn came to nothing, then pod groups that timed out.
            yield from self._passed_over(passed_over)
            if not self._overtaken:
                yield from self._pod_groups.timed_out_groups()
            ordering.dismantle()
            # 8. Begin anew if capacity or asks have come meanwhile, else end.
            if not self._overtaken:
                return
            yield from self._begin_anew()

    def _begin_anew(self) -> Steps:
        self._overtaken = False
        self._may_repeat -= self._work
        if extend_cycle(self._state):
            # Asks that fitted nowhere may fit now.
            self._fresh_only, self._nowhere_before, self._nowhere = False, set(), set()
            yield from ((0, []) for _ in retry_members_elsewhere(self._state))
        self._note_fresh()
        self._pod_groups = PodGroupAdmission(self._state)

    def _is_overtaken(self) -> bool:
        """True if capacity or asks have appeared that this order does not know.

        It then gives no more turns.
        """
        state = self._state
        self._overtaken = bool(state.cycle.freed or state.turns.fresh) and self._work <= self._may_repeat
        return self._overtaken

    def _fresh_indexes(self) -> Generator[tuple[int, Effects], None, dict[QueuePath, PendingIndex]]:
        indexes: dict[QueuePath, PendingIndex] = {}
        yield from ((work, []) for work in file_fresh(self._state, self._fresh.values(), indexes))
        return indexes

    def _hand_out(self, ordering: Ordering, passed_over: PassedOver) -> Steps:
        """Give turns in order. The order is updated only where something has changed."""
        leaf: Branch | None = None
        while not self._overtaken:
            if self._state.turns.moved:
                yield from ((work, []) for work in ordering.catch_up())
                leaf = None
            if leaf is None or not leaf.open:
                leaf = ordering.next_leaf()
            if leaf is None:
                break
            if leaf.is_dead():
                note_requeue(self._state, leaf.queue.path, RequeueReason.NO_HEADROOM)
                leaf.close()
                yield 1, []
            elif not leaf.built:
                for _ in leaf.build():
                    yield 1, []
            else:
                capacity = self._state.usage.free_capacity
                before = capacity.work
                work, woken = self._step(leaf, passed_over)
                yield work + (capacity.work - before) // _CHECKS_PER_UNIT, woken
                if self._pod_groups.wanted is not None or self._searching_for is not None:
                    yield from self._beside()

    def _search_node(self, record: PodRecord) -> Steps:
        """Search for a node to reserve for an ask."""
        steps = search_node(self._state, record)
        while True:
            before = self._state.usage.free_capacity.work
            if next(steps, True):
                return
            yield 1 + (self._state.usage.free_capacity.work - before) // _CHECKS_PER_UNIT, []

    def _beside(self) -> Steps:
        """Handle the results of the ask checked last: turns for its pod group, or a search for a node."""
        if self._pod_groups.wanted is not None and not self._is_overtaken():
            yield from self._pod_groups.admit_wanted_group()
        if self._searching_for is not None:
            yield from self._search_node(self._searching_for)
            self._searching_for = None

    def _step(self, leaf: Branch, passed_over: PassedOver) -> tuple[int, Effects]:
        """Check the next ask of a leaf: give it a turn, or skip all that are like it."""
        app_queue = leaf.next_application_queue()
        line = app_queue.first() if app_queue is not None else None
        if app_queue is None or line is None:
            leaf.close()
            return 1, []
        if app_queue.passes(self._state.turns.of):
            return 1, []
        size, constraints = line.kind
        seat = Seat(WaitingKey(leaf.queue.path, size, app_queue.app_id, constraints), line.head)
        try:
            found = self._check(leaf, app_queue, seat, passed_over)
        except Undecided:
            return 1, []
        if found is None:
            app_queue.advance()
            return 1, []
        if isinstance(found, RequeueReason):
            note_requeue(self._state, (app_queue.app_id, line.kind), found)
            return self._requeue(leaf, app_queue, found), []
        if self._is_overtaken():
            return 1, []
        app_queue.advance()
        record, node = found
        if not record.facts.asks_filter and reserved_node_could_take(self._state, record):
            note_requeue(self._state, (app_queue.app_id, line.kind), RequeueReason.RESERVED_FOR_ANOTHER)
            return 1, []
        return TURN, list(give_turn(self._state, record, seat, node))

    def _check(
        self, leaf: Branch, app_queue: ApplicationQueue, seat: Seat, passed_over: PassedOver
    ) -> tuple[PodRecord, NodeName] | RequeueReason | None:
        """Return an ask and its node, or the reason to requeue it.

        None for an ask with a turn, or a deleted one.

        Raises `Undecided`.
        """
        if self._begins_back_off(leaf, app_queue, seat.rank):
            return RequeueReason.APPLICATION_BACK_OFF
        if leaf.is_dead_for(seat.key.size):
            return RequeueReason.NO_HEADROOM
        record = self._ask(seat, passed_over)
        if record is None or isinstance(record, RequeueReason):
            return record
        if record.node_reservation.node:
            return RequeueReason.NODE_RESERVATION
        if self._pod_groups.takes(record):
            return RequeueReason.POD_GROUP
        node = self._node_for(seat.key, own=record.daemon.required_node)
        if node is not None:
            return record, node
        reason = self._why_none(seat.key)
        if reason is RequeueReason.NO_NODE:
            self._note_search(record)
        return reason

    def _why_none(self, key: WaitingKey) -> RequeueReason:
        needs_one = needs_node(self._state, key, self._nowhere)
        return RequeueReason.NO_NODE if needs_one else RequeueReason.NO_QUOTA

    def _requeue(self, leaf: Branch, app_queue: ApplicationQueue, reason: RequeueReason) -> int:
        """Skip the first ask of a line, or all that are like it. Return the units of work."""
        match reason:
            case RequeueReason.APPLICATION_BACK_OFF:
                return 1 + len(app_queue.unplaced) // _LINES_PER_UNIT
            case RequeueReason.NO_HEADROOM:
                app_queue.drop()
            case RequeueReason.NO_QUOTA | RequeueReason.NO_NODE:
                self._leave_out(leaf, app_queue, reason)
            case _:
                app_queue.reserved += reason is RequeueReason.NODE_RESERVATION
                app_queue.advance()
        return 1

    def _note_search(self, record: PodRecord) -> None:
        """Note an ask that fits on no node, so that one may be reserved for it."""
        if self._searches < SEARCHES and may_search(self._state, record):
            self._searches += 1
            self._searching_for = record

    def _leave_out(self, leaf: Branch, app_queue: ApplicationQueue, reason: RequeueReason) -> None:
        """Skip all asks of the application's first line."""
        threshold = leaf.queue.properties.unscheduled_backoff
        if reason is not RequeueReason.NO_NODE or not threshold:
            app_queue.drop()
            return
        app_queue.drop_unplaced()
        if not app_queue.lines and app_queue.more_are_unplaced(threshold):
            self._back_off(leaf, app_queue)

    def _begins_back_off(self, leaf: Branch, app_queue: ApplicationQueue, rank: Rank) -> bool:
        """True if so many asks before this one found no node that the application backs off (CYC-4)."""
        threshold = leaf.queue.properties.unscheduled_backoff
        if not threshold or not app_queue.are_unplaced(threshold, before=rank):
            return False
        self._back_off(leaf, app_queue)
        return True

    def _back_off(self, leaf: Branch, app_queue: ApplicationQueue) -> None:
        app_queue.lines.clear()
        application = self._state.applications.known.get(app_queue.app_id)
        if application is not None:
            back_off(self._state, application, leaf.queue)

    def _ask(self, seat: Seat, passed_over: PassedOver) -> PodRecord | RequeueReason | None:
        """Ask at a seat, or the reason why it is not checked now.

        None for an ask with a turn, or a deleted one.
        """
        state, uid = self._state, seat.rank[-1]
        record = state.pods.records.get(uid)
        if record is None or state.pending.waits_at.get(uid) != seat or uid in state.turns.of:
            return None
        if record.admission.backs_off_until is not None and not has_come(
            record.admission.backs_off_until, now=state.now
        ):
            request_recheck(state, record.admission.backs_off_until)
            return RequeueReason.BACK_OFF
        if record.admission.passed_over or record.admission.overlooked > FORGIVEN:
            passed_over.append((seat.rank, seat))
            return RequeueReason.PASSED_OVER
        return record

    def _node_for(self, key: WaitingKey, *, own: NodeName = NO_NODE) -> NodeName | None:
        """Node with capacity for such an ask. None if no node, no queue or no limit has capacity.

        Raises `Undecided`.

        ``own``: the only node that it may run on, which its reservation for others does not bar (RNP-1).
        """
        state = self._state
        kind = key.size, key.constraints
        if kind in self._nowhere or not fits_quota(state, key):
            return None
        node = node_for(state, key, own=own)
        if node is None:
            self._nowhere.add(kind)
        return node

    def _decided_node_for(self, key: WaitingKey) -> NodeName | None:
        """Node as from `_node_for`, but None while that is undecided."""
        try:
            return self._node_for(key)
        except Undecided:
            return None

    def _passed_over(self, passed_over: PassedOver) -> Steps:
        """Check the asks whose last turn came to nothing: behind all others, in their own order."""
        heapify(passed_over)
        while passed_over and not self._overtaken:
            _, seat = heappop(passed_over)
            uid = seat.rank[-1]
            record = self._state.pods.records.get(uid)
            waits = self._state.pending.waits_at.get(uid) == seat and uid not in self._state.turns.of
            waits = waits and self._is_let_in(seat.key)
            if record is None or not waits or unopened(self._state, record) is not None:
                yield 1, []
                continue
            capacity = self._state.usage.free_capacity
            before = capacity.work
            work, woken = self._passed_over_step(passed_over, record, seat)
            yield work + (capacity.work - before) // _CHECKS_PER_UNIT, woken

    def _is_let_in(self, key: WaitingKey) -> bool:
        """True if the application of an ask may have turns now (CYC-4, SORT-8)."""
        application = self._state.applications.known.get(key.app)
        leaf = self._state.config.tree.get(key.queue)
        if application is None or leaf is None or is_left_out(self._state, application):
            return False
        return lets_in(self._state, application, leaf)

    def _passed_over_step(
        self, passed_over: PassedOver, record: PodRecord, seat: Seat
    ) -> tuple[int, Effects]:
        if self._is_overtaken():
            return 1, []
        try:
            node = self._node_for(seat.key, own=record.daemon.required_node)
        except Undecided:
            heappush(passed_over, (seat.rank, seat))
            return 1, []
        end_passing_over(record)
        if node is None:
            kind = seat.key.size, seat.key.constraints
            note_requeue(self._state, (seat.key.app, kind), self._why_none(seat.key))
            return 1, []
        return TURN, list(give_turn(self._state, record, seat, node))
