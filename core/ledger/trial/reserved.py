"""Node reservations in a trial: the step that serves asks with one (CYC-2), and searches (CYC-6)."""

from collections.abc import Generator, Iterable
from typing import Protocol

from core.ids import NodeName, PodUid
from core.ledger.admission.cycle import SEARCHES
from core.ledger.admission.requests import COMPARED_AT_MOST
from core.ledger.admission.reserved_first import comes_together
from core.ledger.node_reservation.reservation import still_helps
from core.ledger.node_reservation.search import best_node, may_search_now, surely_spares
from core.ledger.podgroups.admission import fits_quota
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleRequest, Seat, WaitingKey
from core.ledger.state.state import State
from core.ledger.trial.evidence import Evidence
from core.workload.nodes.affinity import admits
from core.workload.pending_index import Kind

Steps = Generator[int, None, None]

_RESERVED = 40


class ReservedGiver(Protocol):
    """Way of a trial to find a node for an ask with a reserved one, and to give it a turn."""

    def node_of_reserved(self, key: WaitingKey) -> NodeName | None:
        """Node for an ask, as in an ordinary step, or None."""
        ...

    def count(self, record: PodRecord, seat: Seat, node: NodeName) -> bool:
        """Count a turn on the reserved node. False if the ask cannot have one."""
        ...

    def give(self, record: PodRecord, seat: Seat, node: NodeName) -> bool:
        """Give a turn on any other node. False if the ask cannot have one."""
        ...


class ReservationTrial:
    """Reserved nodes of one trial, as `serve_reserved` treats them.

    ``exact``: True to search all nodes. Else searches are left open.
    The trial is passed to each call, so that neither refers to the other in a cycle.
    """

    def __init__(self, state: State, evidence: Evidence, *, exact: bool) -> None:
        self._state = state
        self._evidence = evidence
        #: Asks by the reserved node. The overlay has a table of its own, which only this class changes.
        self.of = state.reservations.of
        self._node_of = {uid: name for name, uid in self.of.items()}
        #: Asks for which the trial itself has reserved a node.
        self._found: set[PodUid] = set()
        self._exact = exact
        self._searches = 0
        self._searching_for: PodRecord | None = None
        #: Asks whose search is left open, each with the nodes that were taken since.
        self._open: list[tuple[PodRecord, set[NodeName]]] = []
        #: Nodes that were released since the step began.
        self._released: list[NodeName] = []
        #: Asks that have quota and found no node since then.
        self._missed: set[Kind] = set()
        #: True if a released node takes one of these. A cycle serves them again before others take it.
        self.again = False

    def holds(self, uid: PodUid) -> bool:
        """True if a node is reserved for an ask."""
        return uid in self._node_of

    def begin_anew(self, *, in_next_cycle: bool) -> None:
        """Begin the steps anew. Each cycle makes a number of searches of its own."""
        self._searches = 0 if in_next_cycle else self._searches

    # -- asks with a reserved node ---------------------------------------------------------------------------

    def serve(self, trial: ReservedGiver) -> Steps:
        """Give turns to asks with a reserved node. Units of work, a step for each."""
        self._released.clear()
        self._missed.clear()
        state, records = self._state, self._state.pods.records
        reserved = ((records.get(uid), name) for name, uid in list(self.of.items()))
        for rank, name in sorted((each.rank, name) for each, name in reserved if each is not None):
            record, seat = records.get(rank[-1]), state.pending.waits_at.get(rank[-1])
            if record is None or self._node_of.get(record.uid) != name:
                continue
            if record.is_unguarded:
                self._tend_unguarded(record, name)
            if seat is not None and self.holds(record.uid) and record.uid not in state.turns.of:
                self._serve_on(record, seat, name, trial)
                yield _RESERVED
        self.again = self._free_for(self._missed)

    def frees_others(self, cycle: CycleRequest) -> bool:
        """True if a released node takes an ask that was left out in the last ``cycle`` for want of a node."""
        if not self._released:
            return False
        return cycle.group_nowhere or len(cycle.nowhere) > COMPARED_AT_MOST or self._free_for(cycle.nowhere)

    def _free_for(self, kinds: Iterable[Kind]) -> bool:
        state = self._state
        there = [(name, state.cluster.nodes[name]) for name in self._released if name in state.cluster.nodes]
        return any(
            state.usage.free_capacity.has(name, size) and (constraints.unread or admits(node, constraints))
            for name, node in there
            for size, constraints in kinds
        )

    def _tend_unguarded(self, record: PodRecord, name: NodeName) -> None:
        """Release the node of a pod whose gate is open, where a cycle would."""
        state, charge = self._state, self._state.usage.charges.get(record.uid)
        if state.usage.free_capacity.has(name, record.facts.size):
            return
        if charge is not None and charge.node == name:
            return
        if record.uid not in state.preemption.victims or not self._still_helps(record):
            self._release(record, name)

    def _serve_on(self, record: PodRecord, seat: Seat, name: NodeName, trial: ReservedGiver) -> None:
        state, offered = self._state, record.uid in self._state.preemption.offers
        if unopened(state, record) is not None:
            if not offered:
                self._release(record, name)
            return
        fits, there = fits_quota(state, seat.key), state.cluster.nodes.get(name)
        takes = there is not None and admits(there, seat.key.constraints)
        if fits and takes and state.usage.free_capacity.has(name, seat.key.size):
            trial.count(record, seat, name)
        elif fits and (elsewhere := trial.node_of_reserved(seat.key)):
            if not offered:
                self._release(record, name)
            trial.give(record, seat, elsewhere)
        else:
            if fits:
                self._missed.add((seat.key.size, seat.key.constraints))
            self._leave(record, seat, name, offered=offered)

    def _leave(self, record: PodRecord, seat: Seat, name: NodeName, *, offered: bool) -> None:
        """Let an ask without a turn keep its node, or release it."""
        if offered:
            return
        if self._still_helps(record) and comes_together(self._state, record, seat):
            self._note_reservation(record, seat)
        else:
            self._release(record, name)

    def _still_helps(self, record: PodRecord) -> bool:
        return record.uid in self._found or still_helps(self._state, record)

    def _note_reservation(self, record: PodRecord, seat: Seat) -> None:
        leaf = self._state.config.tree.get(seat.key.queue)
        if leaf is not None and not record.preemption.triggered:
            self._evidence.note_reservation(leaf, seat.key.size)

    def _release(self, record: PodRecord, name: NodeName) -> None:
        del self.of[name], self._node_of[record.uid]
        self._released.append(name)

    # -- searches --------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """True if a search is left open."""
        return bool(self._open)

    @property
    def may_search_more(self) -> bool:
        """True if the cycle may make another search."""
        return self._searches < SEARCHES

    def note_search(self, record: PodRecord) -> None:
        """Note an ask that fits on no node, so that one may be reserved for it."""
        if self.may_search_more and may_search_now(self._state, record):
            self._searches += 1
            self._searching_for = record

    def search(self) -> Steps:
        """Reserve a node for the noted ask, if there is one, as a cycle would."""
        record, self._searching_for = self._searching_for, None
        if record is None:
            return
        if not self._exact:
            self._open.append((record, set()))
            return
        name = yield from best_node(self._state, record, self.of)
        if name is not None and name not in self.of:
            self.of[name], self._node_of[record.uid] = record.uid, name
            self._found.add(record.uid)

    def surely_spares(self, node: NodeName) -> bool:
        """True if surely no open search has reserved a node. The node is taken then."""
        if not node:
            return True
        for others, (record, taken) in enumerate(self._open):
            if node not in taken and not surely_spares(
                self._state, record, node, besides=self.of, changed=taken, others=others
            ):
                return False
            taken.add(node)
        return True
