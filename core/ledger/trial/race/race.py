"""Race: turns of the asks that go before one, counted with plain integers.

A new node beyond all demand takes every ask that its queues let in. Then only quotas and the order decide
who has turns, and a race finds these turns many times faster than a trial. Where anything else may count, it
gives up.
"""

import sys
from collections.abc import Collection, Generator, Sequence

from core.ids import ROOT, AppId, QueuePath
from core.instants import has_come
from core.ledger.admission.backoff import backs_off
from core.ledger.admission.turns import FORGIVEN, old_turns
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import Seat
from core.ledger.state.state import State
from core.ledger.trial.figures import Figures
from core.ledger.trial.race.applications import Runner
from core.ledger.trial.race.places import Place
from core.queues.limit_state import LimitKey, LimitKind
from core.queues.properties import SortPolicy
from core.queues.queue import Queue
from core.queues.users.limits import entry_for
from core.resource import Resource
from core.workload.application import Application
from core.workload.ask import Rank
from core.workload.nodes.affinity import admits
from core.workload.nodes.free_capacity import Undecided
from core.workload.nodes.node import NodeFacts
from core.workload.pending_index import Kind

_TURNS_PER_STEP = 8
_UNITS_PER_TURN = 2
_LEAVES_PER_UNIT = 10
_APPLICATIONS_PER_UNIT = 4
_APPLICATIONS_PER_STEP = 32
_ASKS_PER_UNIT = 100
_COMPARED_PER_TURN = 20
_PARTED_PER_UNIT = 10
_UNITS_PER_STEP = 8


class _Unusual(Exception):
    """Signal that something else than quotas and the order may count."""


class Race:
    """Turns in the order of a cycle, until one ask has its own. Changes nothing.

    ``lifted``: limits of queues on resources that are lifted. ``node``: new node without bound, as far as
    its resources go. ``figures``: amounts up to the turn of the ask; None if the ask gets none, or the race
    gave up. With exactly these amounts a cycle goes the same way, and with one unit less it leaves the
    ask out; see `Evidence`.
    """

    def __init__(
        self, state: State, record: PodRecord, lifted: Collection[LimitKey], node: NodeFacts
    ) -> None:
        self.figures: Figures | None = None
        self._state = state
        self._record = record
        self._node = node
        self._plain = all(each.kind is LimitKind.QUEUE and each.resource for each in lifted)
        self._lifted = _by_queue(lifted, node)
        self._free = state.usage.free_capacity.reading()
        self._taken: set[Kind] = set()
        self._asking: set[QueuePath] = set()
        #: Asks that were served first, by application.
        self._served: dict[AppId, list[Seat]] = {}
        #: Leaf of the ask, once it has its turn.
        self._at: Place | None = None
        self._places: list[Place] = []
        self._root = self._place(state.config.tree.root, None)

    def run(self) -> Generator[int, None, None]:
        """Run the race, in steps of some units of work."""
        state = self._state
        if not self._plain or state.podgroups.watched or old_turns(state):
            return
        try:
            yield from self._find_asking()
            yield from self._serve_reserved()
            yield from self._hand_out()
        except (_Unusual, Undecided):
            return
        if self._at is not None and (yield from self._is_fixed(self._root)):
            self.figures = self._figures(self._at)

    def _find_asking(self) -> Generator[int, None, None]:
        state = self._state
        for number, path in enumerate(list(state.turns.awaiting), 1):
            self._asking.update(state.config.tree.paths_of(path))
            if number % _LEAVES_PER_UNIT == 0:
                yield 1

    def _figures(self, leaf: Place) -> Figures:
        used = {
            LimitKey(
                LimitKind.CLUSTER if each.queue.is_root else LimitKind.QUEUE, each.queue.path, "", name
            ): (amount)
            for each in leaf.chain
            for name, amount in each.held.items()
        }
        return Figures(used, dict(self._root.taken))

    # -- asks with a reserved node ---------------------------------------------------------------------------

    def _serve_reserved(self) -> Generator[int, None, None]:
        """Give turns first to asks with a node reservation, which take the new node (CYC-2)."""
        state, records = self._state, self._state.pods.records
        reserved = ((records.get(uid), name) for name, uid in state.reservations.of.items())
        for rank, name in sorted((each.rank, name) for each, name in reserved if each is not None):
            record, seat = records.get(rank[-1]), state.pending.waits_at.get(rank[-1])
            if record is None or seat is None or record.uid in state.turns.of:
                continue
            leaf = yield from self._reach(seat.key.queue)
            application = state.applications.known.get(seat.key.app)
            if leaf is None or application is None or record.node_reservation.node != name:
                raise _Unusual
            if leaf.lacks(seat.key.size) or unopened(state, record) is not None:
                raise _Unusual
            self._check_start(application, leaf.queue, _are_counted(leaf.queue))
            self._check_node((seat.key.size, seat.key.constraints), record)
            self._served.setdefault(seat.key.app, []).append(seat)
            self._count(leaf, record, seat.rank, seat.key.size)
            if self._at is not None:
                return
            yield _UNITS_PER_TURN

    def _reach(self, path: QueuePath) -> Generator[int, None, Place | None]:
        """Place of a leaf, with those above it expanded. None if it has none."""
        leaf, place = self._state.config.tree.get(path), self._root
        for queue in reversed(leaf.chain[:-1] if leaf is not None else ()):
            yield from self._expand(place)
            below = {each.queue.path: each for each in place.children}
            if queue.path not in below:
                return None
            place = below[queue.path]
        return place

    def _place(self, queue: Queue, above: Place | None) -> Place:
        place = Place(self._state, queue, above, self._lifted)
        self._places.append(place)
        return place

    # -- the order -------------------------------------------------------------------------------------------

    def _hand_out(self) -> Generator[int, None, None]:
        turns = 0
        while self._at is None and self._root.open:
            place: Place | None = self._root
            while place is not None and place.expanded and place.children:
                above, place = place, place.first_child()
                turns += above.compared // _COMPARED_PER_TURN
            if place is None:
                return
            if not place.expanded:
                yield from self._expand(place)
                continue
            if not place.built:
                yield from self._build(place)
            turns += self._step(place)
            if turns >= _TURNS_PER_STEP:
                yield turns * _UNITS_PER_TURN
                turns = 0

    def _expand(self, place: Place) -> Generator[int, None, None]:
        """Make the places of the children that may have headroom."""
        if place.expanded:
            return
        children, units = [], 0
        for path in [each for each in place.queue.children if each in self._asking]:
            queue = self._state.config.tree.get(path)
            if queue is None:
                raise _Unusual
            child = self._place(queue, place)
            if not child.expanded or self._has_headroom(child):
                children.append(child)
            units += 1
            if units == _UNITS_PER_STEP:
                yield units
                units = 0
        place.set_children(children)
        if units:
            yield units

    def _has_headroom(self, leaf: Place) -> bool:
        """True if a leaf has headroom for the size of some ask in it."""
        index = self._state.pending.waiting.get(leaf.queue.path)
        return index is not None and not all(leaf.lacks(size) for size in index.sizes)

    def _build(self, leaf: Place) -> Generator[int, None, None]:
        """File the applications of a leaf whose asks may have headroom."""
        leaf.built = True
        if leaf.queue.properties.sort_policy is SortPolicy.STATE_AWARE:
            raise _Unusual
        state, path = self._state, leaf.queue.path
        index, awaiting = state.pending.waiting.get(path), state.turns.awaiting.get(path)
        units = 1 + (len(index.by_application) // _APPLICATIONS_PER_UNIT if index is not None else 0)
        asks: dict[AppId, list[Seat]] = {}
        for number, seat in enumerate(list(awaiting.values()) if awaiting is not None else (), 1):
            if not leaf.lacks(seat.key.size):
                asks.setdefault(seat.key.app, []).append(seat)
            if number % _ASKS_PER_UNIT == 0:
                yield 1
        are_counted = _are_counted(leaf.queue)
        for number, (app_id, seats) in enumerate(asks.items(), 1):
            application = state.applications.known.get(app_id)
            if application is not None and not backs_off(state, application):
                self._file(leaf, application, seats, are_counted)
            if number % _APPLICATIONS_PER_STEP == 0:
                yield units
                units = 0
        if units:
            yield units

    def _file(self, leaf: Place, application: Application, asks: list[Seat], are_counted: bool) -> None:
        """File an application at its place, with its asks that have no turn and may have headroom."""
        served = self._served.get(application.id, ()) if self._served else ()
        if served:
            asks = [each for each in asks if each not in served]
        if asks:
            self._check_start(application, leaf.queue, are_counted)
            leaf.file(self._runner(application, leaf.queue, asks, served))

    def _runner(
        self, application: Application, leaf: Queue, asks: list[Seat], served: Sequence[Seat]
    ) -> Runner:
        runner = Runner(self._state, application, leaf, asks)
        for seat in served:
            runner.note_turn(-seat.rank[0], seat.key.size)
        return runner

    def _check_start(self, application: Application, leaf: Queue, are_counted: bool) -> None:
        """Give up where users, groups or numbers of applications are limited, which is not counted here."""
        limits = self._state.config.limits
        if limits:
            claimant = application.claimant
            for path in leaf.paths:
                for tracked in claimant.tracked(path):
                    if entry_for(limits, tracked) is not None:
                        raise _Unusual
        if are_counted and not (application.started and application.let_in):
            raise _Unusual

    def _step(self, leaf: Place) -> int:
        """Check the next ask of a leaf. Return 1."""
        runner = leaf.first_runner()
        if runner is None:
            leaf.close()
            return 1
        seat, state = runner.asks[runner.at], self._state
        key, rank = seat.key, seat.rank
        uid, size = rank[-1], key.size
        runner.at += 1
        if leaf.lacks(size):
            if uid == self._record.uid:
                raise _Unusual
            return 1
        record, at = state.pods.records.get(uid), state.pending.waits_at.get(uid)
        if record is None or not (at is seat or at == seat):
            return 1
        if uid not in state.turns.of and self._is_checked(record):
            self._check_node((size, key.constraints), record)
            self._count(leaf, record, rank, size, runner)
        return 1

    def _is_checked(self, record: PodRecord) -> bool:
        """True for an ask that is checked in its order. Others are checked later, or not at all."""
        admission = record.admission
        until = admission.backs_off_until
        waits = until is not None and not has_come(until, now=self._state.now)
        if waits or admission.passed_over or admission.overlooked > FORGIVEN:
            if record.uid == self._record.uid:
                raise _Unusual
            return False
        if record.node_reservation.node or unopened(self._state, record) is not None:
            raise _Unusual
        return True

    def _check_node(self, kind: Kind, record: PodRecord) -> None:
        """Give up if an ask does not take the new node, or might take another one."""
        if record.daemon.required_node or not (record.facts.asks_filter or not self._state.reservations.of):
            raise _Unusual
        if kind in self._taken:
            return
        size, constraints = kind
        new = self._node.allocatable
        if constraints.unread or any(amount > 0 and name not in new for name, amount in size.items()):
            raise _Unusual
        if not admits(self._node, constraints):
            raise _Unusual
        if self._free.tightest(size, constraints, self._state.cluster.nodes) is not None:
            raise _Unusual
        self._taken.add(kind)

    def _count(
        self, leaf: Place, record: PodRecord, rank: Rank, size: Resource, runner: Runner | None = None
    ) -> None:
        leaf.count(-rank[0], size)
        if record.uid == self._record.uid:
            self._at = leaf
        elif runner is not None and runner.has_more and runner.note_turn(-rank[0], size):
            leaf.file(runner)

    def dismantle(self) -> Generator[int, None, None]:
        """Drop all references between places, in steps: the garbage collector must not find any cycle."""
        while self._places:
            yield 1
            self.dismantle_now(at_most=_PARTED_PER_UNIT)

    def dismantle_now(self, *, at_most: int = sys.maxsize) -> None:
        """Do so at once, for some of the places."""
        left = max(0, len(self._places) - at_most)
        for place in self._places[left:]:
            place.part()
        del self._places[left:]

    # -- evidence --------------------------------------------------------------------------------------------

    def _is_fixed(self, place: Place) -> Generator[int, None, bool]:
        """True if no lifted limit decides the place of a queue among others, as `Evidence` judges it."""
        children = place.children
        for number, child in enumerate(children):
            if len(children) > 1 and child.is_decided():
                return False
            if number % _LEAVES_PER_UNIT == 0:
                yield 1
            if child.children and not (yield from self._is_fixed(child)):
                return False
        return True


def _are_counted(leaf: Queue) -> bool:
    """True if a leaf, or a queue above it, is closed or limits the number of applications."""
    return any(each.max_applications or each.closed is not None for each in leaf.chain)


def _by_queue(lifted: Collection[LimitKey], node: NodeFacts) -> dict[QueuePath, frozenset[str]]:
    """Resources whose limits are lifted, by queue. A new node lifts the size of the cluster."""
    found = {ROOT: frozenset(node.allocatable.names())}
    for each in lifted:
        found[each.path] = found.get(each.path, frozenset()) | {each.resource}
    return found
