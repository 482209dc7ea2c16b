"""Trial cycle: turns in the order of a real cycle, over an overlay, until one ask is placed or left out.

The steps are those of `core.ledger.admission.cycle`. Nothing is woken, written or reported.
"""

from collections.abc import Collection, Generator
from heapq import heappop, heappush

from core.ids import NO_NODE, NodeName, PodUid, QueuePath
from core.instants import has_come
from core.ledger.admission.backoff import is_left_out
from core.ledger.admission.cycle import SEARCHES
from core.ledger.admission.order.application_queue import ApplicationQueue, Line
from core.ledger.admission.order.branch import Branch
from core.ledger.admission.order.state_aware import lets_in
from core.ledger.admission.reserved_first import comes_together
from core.ledger.admission.turns import FORGIVEN, count_turn
from core.ledger.node_reservation.reservation import node_for, reserved_node_could_take, still_helps
from core.ledger.node_reservation.search import best_node, may_search, surely_spares
from core.ledger.podgroups.admission import fits_quota
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import Seat, WaitingKey
from core.ledger.state.state import State
from core.ledger.trial.change import Change
from core.ledger.trial.changed_queues import tree_after
from core.ledger.trial.evidence import Bound, Evidence
from core.ledger.trial.groups import GroupTrial
from core.ledger.trial.ordering import TrialOrdering
from core.ledger.trial.overlay import overlay_of
from core.ledger.trial.turns import SharedCounters
from core.workload.ask import Rank
from core.workload.nodes.affinity import admits
from core.workload.nodes.free_capacity import LIGHT, Undecided
from core.workload.pending_index import Kind, PendingIndex

Steps = Generator[int, None, None]

_TURN = 5
_CHECKS_PER_UNIT = 25
_RESERVED = 40


class Trial:
    """Cycle over an overlay. ``placed``: True once the ask has its turn.

    ``below``: queues whose asks may gain by the change; None for all. ``over``: True once nothing can change
    the result any more.
    ``measure``: change by which shares are measured instead, if limits are lifted beyond demand.
    ``exact``: True to search all nodes for one to reserve. Else a trial in which that counts is ``unsure``.
    """

    def __init__(
        self,
        base: State,
        uid: PodUid,
        change: Change,
        below: Collection[QueuePath] | None,
        *,
        measure: Change | None = None,
        exact: bool = False,
    ) -> None:
        self._measures = tree_after(base.config.tree, measure) if measure is not None else None
        self._copying = overlay_of(base, change)
        #: State of the ledger at first, and the overlay once the trial runs.
        self.state = state = base
        self.uid = uid
        self._below = None if below is None else tuple(below)
        self._seat = state.pending.waits_at.get(uid)
        self._besides: dict[NodeName, PodUid] = dict(state.reservations.of)
        self._unreserved: set[PodUid] = set()
        self._nowhere: set[Kind] = set()
        self._passed_over: list[tuple[Rank, Seat]] = []
        self._exact = exact
        #: Asks whose search for a node to reserve is left open, each with the nodes that were taken since.
        self._open_searches: list[tuple[PodRecord, set[NodeName]]] = []
        #: True if an ask took a node that may have been reserved. The trial then has no result.
        self.unsure = False
        self._searches = 0
        self._searching_for: PodRecord | None = None
        self._counters = SharedCounters(state.turns)
        self._evidence = Evidence(base, change)
        #: True if the amounts that the asks took suffice, and nothing less; see `Evidence`.
        self.is_tight = False
        #: True if they suffice, provided that shares are measured by them.
        self.is_plain = False
        #: Bounds of which one unit less leaves the ask out if it used them up; see `Evidence`.
        self.inert: frozenset[Bound] = frozenset()
        self._groups = GroupTrial(state, self._node_of_member, self._give)
        record = state.pods.records.get(uid)
        #: True for an ask that no pod group admits.
        self._alone = record is not None and unopened(state, record) is None
        self.over = self._seat is None
        self.placed = uid in state.turns.of

    def run(self) -> Steps:
        """Copy what the cycle changes, then run it, in steps of some units of work."""
        self.state = yield from self._copying
        self._counters = SharedCounters(self.state.turns)
        self._groups = GroupTrial(self.state, self._node_of_member, self._give)
        yield from self._serve_reserved()
        yield from self._groups.under_way()
        self._conclude()
        if self.over:
            return
        ordering = TrialOrdering(self.state, self._indexes(), self._measures)
        yield from ordering.build()
        self._check_headroom(ordering)
        yield from self._hand_out(ordering)
        yield from self._serve_passed_over()
        if not self.over:
            yield from self._groups.timed_out()
        self._conclude()
        if self.placed and not self._groups.tried:
            self.is_plain = self._evidence.is_plain
            self.is_tight = self.is_plain and (yield from self._evidence.is_fixed(ordering.compared()))
            if not self.is_tight and self._measures is None:
                self.inert = yield from self._evidence.inert(ordering.compared())
        ordering.dismantle()

    def _conclude(self) -> None:
        self.placed = self.uid in self.state.turns.of and not self.unsure
        self.over = self.over or self.placed

    def _fail(self) -> None:
        """Note that no turn of others can help the ask. Only its pod group might."""
        self.over = self.over or self._alone

    def _indexes(self) -> dict[QueuePath, PendingIndex]:
        waiting, below = self.state.pending.waiting, self._below
        if below is None:
            return dict(waiting)
        prefixes = tuple(f"{path}." for path in below)
        return {path: index for path, index in waiting.items() if f"{path}.".startswith(prefixes)}

    # -- asks with a reserved node ---------------------------------------------------------------------------

    def _serve_reserved(self) -> Steps:
        """Give turns to asks with a node reservation, as `serve_reserved` does (CYC-2)."""
        state, records = self.state, self.state.pods.records
        reserved = ((records.get(uid), name) for name, uid in state.reservations.of.items())
        for rank, name in sorted((each.rank, name) for each, name in reserved if each is not None):
            record, seat = records.get(rank[-1]), state.pending.waits_at.get(rank[-1])
            waits = record is not None and record.node_reservation.node == name
            if record is None or seat is None or not waits or record.uid in state.turns.of:
                continue
            self._serve_on(record, seat, name)
            self._conclude()
            yield _RESERVED

    def _serve_on(self, record: PodRecord, seat: Seat, name: NodeName) -> None:
        state, offered = self.state, record.uid in self.state.preemption.offers
        if unopened(state, record) is not None:
            self._release(record, name, offered=offered)
            return
        fits, there = fits_quota(state, seat.key), state.cluster.nodes.get(name)
        takes = there is not None and admits(there, seat.key.constraints)
        if fits and takes and state.usage.free_capacity.has(name, seat.key.size):
            self._count(record, seat, name)
        elif fits and (elsewhere := self._decided_node_for(seat.key)):
            self._release(record, name, offered=offered)
            self._give(record, seat, elsewhere)
        elif not (still_helps(state, record) and comes_together(state, record, seat)):
            self._release(record, name, offered=offered)

    def _release(self, record: PodRecord, name: NodeName, *, offered: bool) -> None:
        if not offered:
            self._unreserved.add(record.uid)
            self._besides.pop(name, None)

    # -- the order -----------------------------------------------------------------------------------------

    def _hand_out(self, ordering: TrialOrdering) -> Steps:
        leaf: Branch | None = None
        while not self.over:
            if self.state.turns.moved:
                yield from ordering.catch_up()
                leaf = None
            if leaf is None or not leaf.open:
                leaf = ordering.next_leaf()
            if leaf is None:
                return
            if not leaf.expanded:
                yield from ordering.expand(leaf)
                leaf = None
            elif leaf.is_dead():
                leaf.close()
                self._check_headroom(ordering)
                yield 1
            elif not leaf.built:
                yield from (1 for _ in leaf.build())
                self._check_headroom(ordering)
            else:
                capacity = self.state.usage.free_capacity
                before = capacity.work
                work = self._step(leaf)
                if self._searching_for is not None:
                    yield from self._reserve(self._searching_for)
                yield work + (capacity.work - before) // _CHECKS_PER_UNIT
                yield from self._groups.admit_wanted()
                self._conclude()

    def _check_headroom(self, ordering: TrialOrdering) -> None:
        """End the trial if the ask has no headroom, which it does not get back before the end of a cycle."""
        if self._seat is not None and ordering.lacks(self._seat.key.queue, self._seat.key.size):
            self._fail()

    def _step(self, leaf: Branch) -> int:
        """Check the next ask of a leaf: give it a turn, or skip all that are like it."""
        app_queue = leaf.next_application_queue()
        line = app_queue.first() if app_queue is not None else None
        if app_queue is None or line is None:
            leaf.close()
            return 1
        if app_queue.passes(self.state.turns.of):
            return 1
        size, constraints = line.kind
        key = WaitingKey(leaf.queue.path, size, app_queue.app_id, constraints)
        if self._begins_back_off(leaf, app_queue, line):
            return 1
        if leaf.is_dead_for(size):
            self._drop(app_queue, key)
            return 1
        record = self._ask(Seat(key, line.head))
        if record is not None and record.node_reservation.node and record.uid not in self._unreserved:
            app_queue.reserved += 1
            record = None
        if record is None or self._groups.takes(record):
            app_queue.advance()
            return 1
        return self._place(leaf, app_queue, record, Seat(key, line.head))

    def _place(self, leaf: Branch, app_queue: ApplicationQueue, record: PodRecord, seat: Seat) -> int:
        try:
            node = self._node_for(seat.key, own=record.daemon.required_node)
        except Undecided:
            return 1
        if node is None:
            self._leave_out(leaf, app_queue, record, seat.key)
            return 1
        app_queue.advance()
        if record.facts.asks_filter or not reserved_node_could_take(self.state, record):
            self._give(record, seat, node)
        return _TURN

    def _give(self, record: PodRecord, seat: Seat, node: NodeName) -> bool:
        if self._open_searches and node and not self._is_free(node):
            self.unsure = self.over = True
        self._evidence.note_turn(node)
        return self._count(record, seat, node)

    def _count(self, record: PodRecord, seat: Seat, node: NodeName) -> bool:
        leaf = self.state.config.tree.get(seat.key.queue)
        application = self.state.applications.known.get(seat.key.app)
        if leaf is not None and application is not None:
            self._counters.copy(leaf, application.claimant)
        return count_turn(self.state, record, seat, node)

    def _is_free(self, node: NodeName) -> bool:
        """True if surely no ask has reserved a node by a search that is left open."""
        for others, (record, taken) in enumerate(self._open_searches):
            if node not in taken and not surely_spares(
                self.state, record, node, besides=self._besides, changed=taken, others=others
            ):
                return False
            taken.add(node)
        return True

    def _ask(self, seat: Seat) -> PodRecord | None:
        """Ask at a seat. None for one that is not checked now."""
        state, uid = self.state, seat.rank[-1]
        record = state.pods.records.get(uid)
        if record is None or state.pending.waits_at.get(uid) != seat or uid in state.turns.of:
            return None
        until = record.admission.backs_off_until
        if until is not None and not has_come(until, now=state.now):
            self.over = self.over or uid == self.uid
            return None
        if record.admission.passed_over or record.admission.overlooked > FORGIVEN:
            heappush(self._passed_over, (seat.rank, seat))
            return None
        return record

    # -- asks that do not fit --------------------------------------------------------------------------------

    def _begins_back_off(self, leaf: Branch, app_queue: ApplicationQueue, line: Line) -> bool:
        """True if so many asks before this one found no node that the application backs off (CYC-4)."""
        threshold = leaf.queue.properties.unscheduled_backoff
        if not threshold or not app_queue.are_unplaced(threshold, before=line.head):
            return False
        self._back_off(app_queue)
        return True

    def _back_off(self, app_queue: ApplicationQueue) -> None:
        app_queue.lines.clear()
        self.over = self.over or (self._seat is not None and self._seat.key.app == app_queue.app_id)

    def _drop(self, app_queue: ApplicationQueue, key: WaitingKey) -> None:
        app_queue.drop()
        self.over = self.over or (self._seat is not None and self._seat.key == key)

    def _leave_out(
        self, leaf: Branch, app_queue: ApplicationQueue, record: PodRecord, key: WaitingKey
    ) -> None:
        """Skip all asks of the application's first line."""
        threshold = leaf.queue.properties.unscheduled_backoff
        if (key.size, key.constraints) not in self._nowhere:
            self._drop(app_queue, key)
            return
        # An open search is no disturbance: no turn takes a node that it may have reserved.
        self._evidence.left_out |= self._exact or threshold > 0 or self._searches == SEARCHES
        if self._searches < SEARCHES and may_search(self.state, record):
            self._searches += 1
            self._searching_for = record
        if not threshold:
            self._drop(app_queue, key)
            return
        app_queue.drop_unplaced()
        self.over = self.over or (self._seat is not None and self._seat.key == key)
        if not app_queue.lines and app_queue.more_are_unplaced(threshold):
            self._back_off(app_queue)

    def _reserve(self, record: PodRecord) -> Steps:
        """Hold the node that the search of a real cycle would reserve (CYC-6)."""
        self._searching_for = None
        if not self._exact:
            self._open_searches.append((record, set()))
            return
        name = yield from best_node(self.state, record, self._besides)
        if name is not None and name not in self._besides:
            self._besides[name] = record.uid

    # -- nodes ---------------------------------------------------------------------------------------------

    def _node_for(self, key: WaitingKey, *, own: NodeName = NO_NODE) -> NodeName | None:
        """Node with capacity for such an ask. None if no node, no queue or no limit has capacity.

        Raises `Undecided`.
        """
        kind = key.size, key.constraints
        if kind in self._nowhere or not fits_quota(self.state, key):
            return None
        node = node_for(self.state, key, own=own, besides=self._besides)
        if node is None:
            self._nowhere.add(kind)
            self._check_nodes()
        return node

    def _check_nodes(self) -> None:
        """End the trial if no node takes the ask, since turns only take capacity."""
        if self._seat is None or not self._alone:
            return
        size, constraints = self._seat.key.size, self._seat.key.constraints
        if (size, constraints) in self._nowhere:
            self.over = True
        elif constraints.weight <= LIGHT and size.get("vcore"):
            state = self.state
            free = state.usage.free_capacity
            found = free.tightest(size, constraints, state.cluster.nodes, besides=self._besides)
            self.over = self.over or found is None

    def _node_of_member(self, key: WaitingKey, *, own: NodeName) -> NodeName | None:
        """Node for a member of a group, of which nothing is remembered: its turns may be taken back."""
        fits = fits_quota(self.state, key)
        return node_for(self.state, key, own=own, besides=self._besides) if fits else None

    def _decided_node_for(self, key: WaitingKey) -> NodeName | None:
        """Node as from `_node_for`, but None while that is undecided."""
        try:
            return self._node_for(key)
        except Undecided:
            return None

    # -- asks whose last turn came to nothing ----------------------------------------------------------------

    def _serve_passed_over(self) -> Steps:
        while self._passed_over and not self.over:
            rank, seat = heappop(self._passed_over)
            uid = seat.rank[-1]
            record = self.state.pods.records.get(uid)
            yield 1
            if record is None or uid in self.state.turns.of or not self._lets_in(seat.key):
                continue
            if unopened(self.state, record) is not None:
                continue
            try:
                node = self._node_for(seat.key, own=record.daemon.required_node)
            except Undecided:
                heappush(self._passed_over, (rank, seat))
                continue
            if node is not None:
                self._give(record, seat, node)
                yield _TURN
                self._conclude()

    def _lets_in(self, key: WaitingKey) -> bool:
        application, leaf = self.state.applications.known.get(key.app), self.state.config.tree.get(key.queue)
        if application is None or leaf is None or is_left_out(self.state, application):
            return False
        return lets_in(self.state, application, leaf)
