"""Step of a cycle that serves asks with a node reservation, before all others (CYC-2)."""

from collections.abc import Callable

from core.ids import NO_NODE, NodeName
from core.ledger.admission.turns import give_turn
from core.ledger.node_reservation.reservation import nominate, still_helps
from core.ledger.podgroups.admission import TURN, Effects, Steps, fits_quota
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.preemption.victims import undo
from core.ledger.state.admission import Seat, WaitingKey
from core.ledger.state.state import State
from core.workload.nodes.affinity import admits

_RESERVED = 4
"""Units of work per ask; see `core.ledger.admission.cycle`."""


def serve_reserved(state: State, node_for: Callable[[WaitingKey], NodeName | None]) -> Steps:
    """Give turns to asks with a node reservation, on that node or on any other with capacity (CYC-2).

    ``node_for``: the node on which the cycle would count such an ask, or None for none yet.
    """
    reserved = sorted((state.pods.records[uid].rank, name) for name, uid in state.reservations.of.items())
    for rank, name in reserved:
        record, seat = state.pods.records.get(rank[-1]), state.pending.waits_at.get(rank[-1])
        if record is not None and record.is_unguarded and record.node_reservation.node == name:
            yield _RESERVED, _tend_unguarded(state, record, name)
        held = record.node_reservation.node if record is not None else NO_NODE
        if record is None or seat is None or held != name or record.uid in state.turns.of:
            continue
        # An offer stands: kube-scheduler may be carrying it out, and cannot be stopped.
        offered = record.uid in state.preemption.offers
        if unopened(state, record) is not None:
            if not offered:
                undo(state, record)
                yield 0, []
            continue
        yield _RESERVED, []
        leave, there = fits_quota(state, seat.key), state.cluster.nodes.get(name)
        open_to_it = there is not None and admits(there, seat.key.constraints)
        if leave and open_to_it and state.usage.free_capacity.has(name, seat.key.size):
            yield TURN, [*nominate(record, name), *give_turn(state, record, seat, name)]
        elif leave and (elsewhere := node_for(seat.key)):
            if not offered:
                undo(state, record)
            yield TURN, list(give_turn(state, record, seat, elsewhere))
        elif not (offered or (still_helps(state, record) and comes_together(state, record, seat))):
            undo(state, record)
            yield 0, []


def _tend_unguarded(state: State, record: PodRecord, name: NodeName) -> Effects:
    """Nominate a pod whose gate is open to its reserved node, or release the node."""
    if state.usage.free_capacity.has(name, record.facts.size):
        return [*nominate(record, name)]
    charge = state.usage.charges.get(record.uid)
    if charge is not None and charge.node == name:
        # From the opening of its gate on the pod itself holds the capacity there (F-2).
        return []
    if record.uid not in state.preemption.victims or not still_helps(state, record):
        undo(state, record)
    return []


def comes_together(state: State, record: PodRecord, seat: Seat) -> bool:
    """True if the reserved node may still get enough capacity, from victims or from pods that end."""
    if record.preemption.triggered:
        return record.uid in state.preemption.victims
    return fits_quota(state, seat.key, with_root=False)
