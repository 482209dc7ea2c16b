"""Node reservations: nodes held for one ask (CYC-2, CYC-6), and the annotations about them.

Filter refuses a reserved node to every other managed pod. The ask is annotated with its node, so that a
restart finds the reservation again (DESIGN-4).
"""

from core.ids import NO_NODE, NodeName
from core.instants import has_come
from core.ledger import events as on
from core.ledger.admission.requests import request_cycle
from core.ledger.effects import NominateNode
from core.ledger.outcomes import NominationPurpose, Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
from core.ledger.preemption.plans import end_plan, forget_plans, remember_plan, withdraw_offer
from core.ledger.state.admission import CycleReason, WaitingKey
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer
from core.ledger.state.timers import TimerKind
from core.workload.nodes.affinity import admits
from core.workload.pod import RESERVED_NODE, TRIGGERED

RESERVED_AT_MOST = 7200.0
"""Seconds after which a node without enough capacity is released (CYC-2)."""


NOMINATED_AT_MOST = 5
"""Nominations of one ask to one reserved node. kube-scheduler may clear one (DESIGN-4)."""


def reserve_node(state: State, record: PodRecord, node: NodeName) -> None:
    """Reserve a node for an ask. Neither may have another reservation."""
    note_reserved_node(state, record, node)
    write(state, record, Purpose.NODE_RESERVATION, (RESERVED_NODE, str(node)))


def release_node(state: State, record: PodRecord, *, deleted: bool = False) -> None:
    """Release the node reserved for a pod, if there is one. ``deleted``: nothing can be written on the pod.

    A plan that was carried out for the ask ends with it. An offer, of which nothing is written, is withdrawn.
    """
    if not record.node_reservation.node:
        return
    _release(state, record)
    end_plan(record)
    request_cycle(state, CycleReason.CAPACITY_FREED)
    if not withdraw_offer(state, record) and not deleted:
        _withdraw(state, record)
    if not (deleted or record.node):
        take_back(state, record)


def drop(state: State, record: PodRecord) -> None:
    """Forget the node and the plans of an ask, whatever is written on it."""
    if record.node_reservation.node:
        _release(state, record)
    record.node_reservation.nominated, record.node_reservation.nominations = NO_NODE, 0
    forget_plans(record)


def nominate(
    record: PodRecord, node: NodeName, purpose: NominationPurpose = Purpose.NODE_RESERVATION
) -> tuple[NominateNode, ...]:
    """Make kube-scheduler try a node first and alone, at a moment when it has the capacity."""
    facts = record.facts
    if facts.nominated == node or record.node_reservation.nominations >= NOMINATED_AT_MOST:
        return ()
    record.node_reservation.nominated = node
    record.node_reservation.nominations += 1
    return (NominateNode(facts.uid, facts.namespace, facts.name, node, purpose),)


def believe_nomination(record: PodRecord, node: NodeName) -> None:
    """Note the node to which Paddock nominated a pod, as the pod shows. ``NO_NODE``: none."""
    record.node_reservation.nominated = node


def take_back(state: State, record: PodRecord) -> None:
    """Withdraw a nomination by Paddock that came to nothing and would hold capacity against others."""
    if record.node_reservation.nominated:
        facts = record.facts
        record.node_reservation.nominated = NO_NODE
        emit(state, NominateNode(facts.uid, facts.namespace, facts.name, NO_NODE, Purpose.WITHDRAWAL))


def remember(state: State, record: PodRecord) -> None:
    """Believe the annotation of a pod that a node is reserved for it."""
    node = record.facts.reserved_node
    if not node:
        return
    if record.is_ask and node not in state.reservations.of:
        note_reserved_node(state, record, node)
        remember_plan(record)
        record.node_reservation.nominated = node if record.facts.nominated == node else NO_NODE
    else:
        _withdraw(state, record)


def reserved_until(record: PodRecord) -> float:
    """Time at which a node reservation ends at the latest (CYC-2)."""
    return record.node_reservation.since + RESERVED_AT_MOST


def still_helps(state: State, record: PodRecord) -> bool:
    """True if the node reserved for an ask can take it once other pods have left it."""
    if has_come(reserved_until(record), now=state.now):
        return False
    node = state.cluster.nodes.get(record.node_reservation.node)
    if node is None or not admits(node, record.facts.constraints):
        return False
    size = record.facts.size
    return all(node.allocatable.get(name) >= amount for name, amount in size.items() if amount)


def reserved_node_could_take(state: State, record: PodRecord) -> bool:
    """True if a node that is reserved for another ask has capacity for this one."""
    facts = record.facts
    return any(
        uid != record.uid
        and name in state.cluster.nodes
        and state.usage.free_capacity.has(name, facts.size)
        and state.usage.free_capacity.admits(state.cluster.nodes[name], facts.constraints)
        for name, uid in state.reservations.of.items()
    )


def node_for(state: State, key: WaitingKey, *, own: NodeName) -> NodeName | None:
    """Node with capacity for such an ask, or None. Raises `Undecided`.

    ``own``: the only node that it may run on, whose reservation does not bar it (RNP-1). If constraints are
    unread, kube-scheduler judges the nodes. Such an ask gets `NO_NODE`, so that it holds quota only (F-17).
    """
    besides = () if own else state.reservations.of
    found = state.usage.free_capacity.tightest(
        key.size, key.constraints, state.cluster.nodes, besides=besides
    )
    return NO_NODE if found is not None and key.constraints.unread else found


def note_nominated(state: State, event: on.NodeNominated) -> None:
    """Note the outcome of a nomination. One that could not be written does not count."""
    record = state.pods.records.get(event.uid)
    if record is not None and not event.reached and record.node_reservation.nominated == event.node:
        record.node_reservation.nominated = NO_NODE


def note_reserved_node(state: State, record: PodRecord, node: NodeName) -> None:
    """Note a reservation in the ledger, without writing it on the ask."""
    record.node_reservation.node, record.node_reservation.since = node, state.now
    state.reservations.of[node] = record.uid
    set_timer(state, TimerKind.NODE_RESERVATION, record.uid, reserved_until(record))


def _release(state: State, record: PodRecord) -> None:
    del state.reservations.of[record.node_reservation.node]
    record.node_reservation.node, record.node_reservation.nominations = NO_NODE, 0
    cancel_timer(state, TimerKind.NODE_RESERVATION, record.uid)


def _withdraw(state: State, record: PodRecord) -> None:
    write(state, record, Purpose.WITHDRAWAL, (RESERVED_NODE, None), (TRIGGERED, None))
