"""Requests for a scheduling cycle. This module alone decides when the next cycle runs, and why."""

from core.ids import NO_POD, NodeName
from core.ledger.state.admission import CycleReason, RequeuedAsks, RequeueReason
from core.ledger.state.state import State
from core.ledger.state.timer_heap import set_no_later, take_due
from core.ledger.state.timers import ONLY_ONE, TimerKind
from core.workload.pending_index import Kind

RECHECKS_APART = 0.5
"""Minimum number of seconds between a cycle and the cycle for the asks that it skipped."""

COMPARED_AT_MOST = 500
"""Number of kinds of asks up to which they are compared with the capacity that was freed on a node."""

_FOR_FRESH_ASKS = frozenset({CycleReason.POD_ARRIVED, CycleReason.POD_AGED, CycleReason.GROUP_COMPLETE})
"""Reasons that concern single asks. Any other reason may admit any ask, so every pending ask is checked."""


def request_cycle(state: State, reason: CycleReason) -> None:
    """Request a cycle as soon as possible."""
    state.cycle.reasons[reason] = None
    if reason in _FOR_FRESH_ASKS:
        state.cycle.due = True
    else:
        state.cycle.freed = True


def request_cycle_for_node(state: State, node: NodeName) -> None:
    """Request a cycle if an ask may fit now on a node of which something was freed, but no quota (CYC-1).

    Only asks that found no node gain by that. While a cycle runs, this is decided when it ends.
    """
    if state.cycle.group_nowhere or state.gangs.elsewhere or _takes_owner(state, node):
        request_cycle(state, CycleReason.CAPACITY_FREED)
    elif state.cycle.running and node:
        state.cycle.freed_nodes[node] = None
    elif state.cycle.nowhere and _takes_one(state, node):
        request_cycle(state, CycleReason.CAPACITY_FREED)


def _takes_owner(state: State, node: NodeName) -> bool:
    """True if a node is reserved for an ask and has capacity for it."""
    owner = state.pods.records.get(state.reservations.of.get(node, NO_POD))
    return owner is not None and state.usage.free_capacity.has(node, owner.facts.size)


def _takes_one(state: State, node: NodeName) -> bool:
    """True if a node has capacity for an ask that found none, or if there are too many kinds to compare."""
    kinds, capacity = state.cycle.nowhere, state.usage.free_capacity
    return len(kinds) > COMPARED_AT_MOST or any(capacity.has(node, size) for size, _ in kinds)


def request_cycle_at(state: State, moment: float) -> None:
    """Request a cycle with the reason `RETRY_AT` at ``moment``, in seconds.

    Only the earliest moment is remembered. Each cycle names the moments of the asks that it skips.
    """
    set_no_later(state, TimerKind.CYCLE, ONLY_ONE, moment)


def request_recheck(state: State, moment: float) -> None:
    """Request a cycle for an ask, a pod group or an application whose back-off ends at ``moment``.

    Many are checked together, so the next cycle is at least `RECHECKS_APART` seconds away.
    """
    request_cycle_at(state, max(moment, state.now + RECHECKS_APART))


def note_time(state: State) -> None:
    """Request the cycle that waited for a moment, if it has come."""
    if take_due(state, TimerKind.CYCLE):
        request_cycle(state, CycleReason.RETRY_AT)


def begin_cycle(state: State) -> None:
    """Take the requests into the cycle that begins."""
    if state.cycle.freed:
        _forget_findings(state)
    _count_begun(state, list(state.cycle.reasons))
    state.cycle.freed = state.cycle.due = False
    state.cycle.running = True


def extend_cycle(state: State) -> bool:
    """Take requests that concern every ask into the running cycle. Return False if there is none."""
    if not state.cycle.freed:
        return False
    _count_begun(state, [reason for reason in state.cycle.reasons if reason not in _FOR_FRESH_ASKS])
    state.cycle.freed = False
    _forget_findings(state)
    return True


def _forget_findings(state: State) -> None:
    """Forget why asks were not admitted: a cycle checks all of them."""
    state.cycle.requeued.clear()
    state.cycle.group_nowhere = False


def _count_begun(state: State, reasons: list[CycleReason]) -> None:
    for reason in reasons:
        del state.cycle.reasons[reason]
        state.cycle.begun[reason] = state.cycle.begun.get(reason, 0) + 1


def note_requeue(state: State, asks: RequeuedAsks, reason: RequeueReason) -> None:
    """Note why a cycle does not admit the first of some asks."""
    state.cycle.requeued[asks] = reason
    state.cycle.requeues[reason] = state.cycle.requeues.get(reason, 0) + 1


def end_cycle(state: State, nowhere: set[Kind]) -> None:
    """Note that a cycle is over. ``nowhere``: kinds of asks that no node has capacity for."""
    state.cycle.running = False
    state.cycle.nowhere = nowhere
    freed, state.cycle.freed_nodes = state.cycle.freed_nodes, {}
    for node in freed:
        request_cycle_for_node(state, node)


def note_group_nowhere(state: State) -> None:
    """Note that a pod group was not admitted, since a member found no node."""
    state.cycle.group_nowhere = True


def abandon_cycle(state: State) -> None:
    """Drop the running cycle, if there is one."""
    state.cycle.running = False


def note_overdue(state: State, *, left: bool) -> None:
    """Note whether a further round of timers is left for the next event."""
    state.cycle.overdue = state.cycle.overdue or left


def clear_overdue(state: State) -> None:
    """Begin a round of timers."""
    state.cycle.overdue = False
