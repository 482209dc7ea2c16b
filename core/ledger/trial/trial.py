"""Trial cycle: turns in the order of a real cycle, over an overlay, until one ask is placed or left out.

The steps are those of `core.ledger.admission.cycle`. Nothing is woken, written or reported. A step that
releases a reserved node requests a further cycle. The trial begins anew if that can change its result.
"""

from collections.abc import Collection, Generator
from heapq import heappop, heappush

from core.ids import NO_NODE, AppId, NodeName, PodUid, QueuePath
from core.instants import has_come
from core.ledger.admission.order.application_queue import ApplicationQueue, Line
from core.ledger.admission.order.branch import Branch
from core.ledger.admission.turns import FORGIVEN, count_turn
from core.ledger.node_reservation.reservation import node_for, reserved_node_could_take
from core.ledger.podgroups.admission import fits_quota, needs_node
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import Seat, WaitingKey
from core.ledger.state.state import State
from core.ledger.trial.change import Change
from core.ledger.trial.changed_queues import ChangedQueues, tree_after
from core.ledger.trial.evidence import Bound, Evidence
from core.ledger.trial.groups import GroupTrial
from core.ledger.trial.ordering import TrialOrdering, indexes_below, lets_in_later
from core.ledger.trial.overlay import overlay_of
from core.ledger.trial.reserved import ReservationTrial
from core.ledger.trial.turns import SharedCounters
from core.workload.ask import Rank
from core.workload.nodes.free_capacity import LIGHT, Undecided
from core.workload.pending_index import Kind, PendingIndex

Steps = Generator[int, None, None]

_TURN = 5
_CHECKS_PER_UNIT = 25


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
        self._tree = base.config.tree
        self._measures = tree_after(self._tree, measure) if measure is not None else None
        self._copying = overlay_of(base, change)
        #: State of the ledger at first, and the overlay once the trial runs.
        self.state = state = base
        self.uid = uid
        self._below = None if below is None else tuple(below)
        self._cycle = state.cycle
        self._seat = state.pending.waits_at.get(uid)
        self._nowhere: set[Kind] = set()
        self._passed_over: list[tuple[Rank, Seat]] = []
        self._exact = exact
        self._ordering: TrialOrdering | None = None
        #: True if an ask took a node that may have been reserved. The trial then has no result.
        self.unsure = False
        #: Applications that began a back-off in this trial.
        self._backing_off: set[AppId] = set()
        #: True if a turn is left to the cycle that begins anew.
        self._overtaken = False
        self._counters = SharedCounters(state.turns)
        self._evidence = Evidence(base, change)
        self._reserved = ReservationTrial(self.state, self._evidence, exact=self._exact)
        #: True if the amounts that the asks took suffice, and nothing less; see `Evidence`.
        self.is_tight = False
        #: True if they suffice, provided that shares are measured by them.
        self.is_plain = False
        #: Bounds of which one unit less leaves the ask out if it used them up; see `Evidence`.
        self.inert: frozenset[Bound] = frozenset()
        self._groups = GroupTrial(state)
        record = state.pods.records.get(uid)
        #: True for an ask that no pod group admits.
        self._alone = record is not None and unopened(state, record) is None
        self.over = self._seat is None
        self.placed = uid in state.turns.of

    def run(self) -> Steps:
        """Copy what the cycle changes, then run it, in steps of some units of work."""
        self.state = yield from self._copying
        self._counters = SharedCounters(self.state.turns)
        self._groups = GroupTrial(self.state)
        self._reserved = ReservationTrial(self.state, self._evidence, exact=self._exact)
        while True:
            ordering = yield from self._run_once()
            if self.over or not self._reserved.again:
                break
            self.dismantle()
            self._begin_anew()
        if ordering is None:
            return
        if self.placed and not self._groups.tried:
            self.is_plain = self._evidence.is_plain
            self.is_tight = self.is_plain and (yield from self._evidence.is_fixed(ordering.compared()))
            if not self.is_tight and self._measures is None:
                self.inert = yield from self._evidence.inert(ordering.compared())

    def dismantle(self) -> None:
        """Drop the order, whose parts refer to each other. Must be called when the trial has ended."""
        if self._ordering is not None:
            self._ordering.dismantle()
        self._ordering = None

    @property
    def copies(self) -> list[ChangedQueues]:
        """Queues that the trial copied. Who has read its figures must dismantle them."""
        # The tree that it began with may be that of an arrival.
        trees = self.state.config.tree, self._measures
        return [each for each in trees if isinstance(each, ChangedQueues) and each is not self._tree]

    def _run_once(self) -> Generator[int, None, TrialOrdering | None]:
        """Run the steps of a cycle until a turn is left to the next one. None if no order was needed."""
        for units in self._reserved.serve(self):
            self._conclude()
            yield units
            if self.over:
                return None
        yield from self._groups.under_way(self)
        self._conclude()
        # An ask that keeps its reserved node has been served.
        self._skip(self._alone and self._reserved.holds(self.uid))
        if self._nowhere:
            self._check_nodes()
        if self.over:
            return None
        ordering = self._ordering = TrialOrdering(self.state, self._indexes(), self._measures)
        yield from ordering.build()
        self._check_headroom(ordering)
        yield from self._hand_out(ordering)
        yield from self._serve_passed_over()
        if not (self.over or self._overtaken):
            yield from self._groups.timed_out(self)
        self._conclude()
        return ordering

    def _begin_anew(self) -> None:
        """Begin the steps anew with a released node. If no turn was left, the next cycle does so."""
        # Which asks are served first is unknown then.
        self.unsure = self.over = self._reserved.is_open
        self._reserved.begin_anew(in_next_cycle=not self._overtaken)
        self._overtaken = False
        self._nowhere.clear()
        self._passed_over.clear()
        self._groups.begin_anew()

    def _is_overtaken(self) -> bool:
        """True if a released node must be offered again. A cycle does so unless it is long (`OVER_AGAIN`)."""
        self._overtaken = self._reserved.again
        return self._overtaken

    def _conclude(self) -> None:
        self.placed = self.uid in self.state.turns.of and not self.unsure
        self.over = self.over or self.placed

    def _skip(self, is_skipped: bool) -> None:
        """Note whether the ask is skipped, which is final unless the trial begins anew."""
        self.over = self.over or (is_skipped and not self._reserved.again)

    def _is_like(self, key: WaitingKey) -> bool:
        """True for the ask's own key."""
        return self._seat is not None and self._seat.key == key

    def _indexes(self) -> dict[QueuePath, PendingIndex]:
        waiting, below = self.state.pending.waiting, self._below
        if below is None or self._reserved.frees_others(self._cycle):
            self._below = None
            return dict(waiting)
        return indexes_below(waiting, below)

    # -- the order -----------------------------------------------------------------------------------------

    def _hand_out(self, ordering: TrialOrdering) -> Steps:
        leaf: Branch | None = None
        while not (self.over or self._overtaken):
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
                yield from self._reserved.search()
                yield work + (capacity.work - before) // _CHECKS_PER_UNIT
                if self._groups.wants and not self._is_overtaken():
                    yield from self._groups.admit_wanted(self)
                self._conclude()

    def _check_headroom(self, ordering: TrialOrdering) -> None:
        """End the trial if the ask has no headroom, which it does not get back before the end of a cycle."""
        if self._seat is not None and ordering.lacks(self._seat.key.queue, self._seat.key.size):
            self.over = self.over or self._alone

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
        if record is not None and self._reserved.holds(record.uid):
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
        if self._is_overtaken():
            return 1
        app_queue.advance()
        if record.facts.asks_filter or not reserved_node_could_take(self.state, record):
            self.give(record, seat, node)
        return _TURN

    def give(self, record: PodRecord, seat: Seat, node: NodeName) -> bool:
        """Give a turn on a node that is not reserved for the ask. False if it cannot have one."""
        if not self._reserved.surely_spares(node):
            self.unsure = self.over = True
        self._evidence.note_turn(node)
        return self.count(record, seat, node)

    def count(self, record: PodRecord, seat: Seat, node: NodeName) -> bool:
        """Count a turn. False if the ask cannot have one."""
        leaf = self.state.config.tree.get(seat.key.queue)
        application = self.state.applications.known.get(seat.key.app)
        if leaf is not None and application is not None:
            self._counters.copy(leaf, application.claimant)
        return count_turn(self.state, record, seat, node)

    def _ask(self, seat: Seat) -> PodRecord | None:
        """Ask at a seat. None for one that is not checked now."""
        state, uid = self.state, seat.rank[-1]
        record = state.pods.records.get(uid)
        if record is None or state.pending.waits_at.get(uid) != seat or uid in state.turns.of:
            return None
        until = record.admission.backs_off_until
        if until is not None and not has_come(until, now=state.now):
            self._skip(uid == self.uid)
            return None
        if record.admission.passed_over or record.admission.overlooked > FORGIVEN:
            heappush(self._passed_over, (seat.rank, seat))
            return None
        return record

    # -- asks that do not fit --------------------------------------------------------------------------------

    def _begins_back_off(self, leaf: Branch, app_queue: ApplicationQueue, line: Line) -> bool:
        """True if so many asks before this one found no node that the application backs off (CYC-4)."""
        threshold = leaf.queue.properties.unscheduled_backoff
        begun = app_queue.app_id in self._backing_off
        if not (begun or (threshold and app_queue.are_unplaced(threshold, before=line.head))):
            return False
        self._back_off(app_queue)
        return True

    def _back_off(self, app_queue: ApplicationQueue) -> None:
        app_queue.lines.clear()
        self._backing_off.add(app_queue.app_id)
        self._skip(self._seat is not None and self._seat.key.app == app_queue.app_id)

    def _drop(self, app_queue: ApplicationQueue, key: WaitingKey) -> None:
        app_queue.drop()
        self._skip(self._is_like(key))

    def _leave_out(
        self, leaf: Branch, app_queue: ApplicationQueue, record: PodRecord, key: WaitingKey
    ) -> None:
        """Skip all asks of the application's first line."""
        threshold = leaf.queue.properties.unscheduled_backoff
        if not needs_node(self.state, key, self._nowhere):
            self._drop(app_queue, key)
            return
        # An open search is no disturbance: no turn takes a node that it may have reserved.
        self._evidence.left_out |= self._exact or threshold > 0 or not self._reserved.may_search_more
        self._reserved.note_search(record)
        if not threshold:
            self._drop(app_queue, key)
            return
        app_queue.drop_unplaced()
        self._skip(self._is_like(key))
        if not app_queue.lines and app_queue.more_are_unplaced(threshold):
            self._back_off(app_queue)

    # -- nodes ---------------------------------------------------------------------------------------------

    def _node_for(self, key: WaitingKey, *, own: NodeName = NO_NODE) -> NodeName | None:
        """Node for such an ask. None if no node, queue or limit has capacity. Raises `Undecided`."""
        node = self._find_node(key, own)
        if node is None:
            self._check_nodes()
        return node

    def _find_node(self, key: WaitingKey, own: NodeName) -> NodeName | None:
        kind = key.size, key.constraints
        if kind in self._nowhere or not fits_quota(self.state, key):
            return None
        node = node_for(self.state, key, own=own)
        if node is None:
            self._nowhere.add(kind)
        return node

    def _check_nodes(self) -> None:
        """End the trial if no node takes the ask, since turns only take capacity."""
        if self._seat is None or not self._alone or self._reserved.again:
            return
        size, constraints = self._seat.key.size, self._seat.key.constraints
        if (size, constraints) in self._nowhere:
            self.over = True
        elif constraints.weight <= LIGHT and size.get("vcore"):
            state = self.state
            free = state.usage.free_capacity
            found = free.tightest(size, constraints, state.cluster.nodes, besides=self._reserved.of)
            self.over = self.over or found is None

    def node_of_member(self, key: WaitingKey, *, own: NodeName) -> NodeName | None:
        """Node for a member of a group, of which nothing is remembered: its turns may be taken back."""
        fits = fits_quota(self.state, key)
        return node_for(self.state, key, own=own) if fits else None

    def node_of_reserved(self, key: WaitingKey) -> NodeName | None:
        """Node for an ask with a reserved one, but None while that is undecided."""
        try:
            return self._find_node(key, NO_NODE)
        except Undecided:
            return None

    # -- asks whose last turn came to nothing ----------------------------------------------------------------

    def _serve_passed_over(self) -> Steps:
        while self._passed_over and not (self.over or self._overtaken):
            rank, seat = heappop(self._passed_over)
            uid = seat.rank[-1]
            record = self.state.pods.records.get(uid)
            yield 1
            if (
                record is None
                or uid in self.state.turns.of
                or not lets_in_later(self.state, seat.key, self._backing_off)
            ):
                continue
            if unopened(self.state, record) is not None:
                continue
            if self._is_overtaken():
                return
            try:
                node = self._node_for(seat.key, own=record.daemon.required_node)
            except Undecided:
                heappush(self._passed_over, (rank, seat))
                continue
            if node is not None:
                self.give(record, seat, node)
                yield _TURN
                self._conclude()
