"""Charge of a pod: a function of what is known about it.

This one rule makes filter, bind and watch idempotent. Any order of events and any repeat ends in the same
counters.
"""

from core.ids import NodeName, QueuePath
from core.ledger.gangs.index import awaits_gang, slot_node
from core.ledger.pods.record import Charge, Held, PodRecord, Standing
from core.ledger.state.state import State


def charge_of(state: State, record: PodRecord) -> Charge | None:
    """Current charge of a pod, or None if it takes nothing (QUO-2, POD-2).

    A resize changes the size without any check (RES-8). A bound pod is charged whether or not it fits
    (QUO-9). A terminating pod is charged until it is deleted.
    """
    size, node = record.facts.size, record.node
    if not record.membership.managed:
        return Charge(Held.OCCUPIED, None, node, size) if node else None
    application = state.application_of(record)
    if application is None or application.queue is None:
        return None
    queue = application.queue
    if node:
        return _charge_of_running(record, queue, node)
    if record.admission.reservation is not None:
        return Charge(
            Held.RESERVED,
            queue,
            record.placement.binding or record.admission.noted or slot_node(record),
            size,
        )
    if not record.is_ask or application.refusal is not None:
        # Its queue does not take the application's pending pods (F-1).
        return None
    if record.is_unguarded:
        return _charge_unguarded(state, record, queue)
    if application.gang_progress is not None and awaits_gang(state, record):
        return _charge_beside(state, record)
    if slot_node(record):
        # From the deletion of its placeholder on, so the pair counts once (GANG-12).
        return Charge(Held.RESERVED, queue, record.placement.binding or slot_node(record), size)
    standing = Standing.TRIGGERED if record.preemption.triggered else Standing.PLAIN
    return Charge(Held.PENDING, queue, record.placement.binding, size, record.facts.priority, standing)


def _charge_of_running(record: PodRecord, queue: QueuePath, node: NodeName) -> Charge:
    size, priority = record.facts.size, record.facts.priority
    if record.preempting:
        return Charge(Held.ALLOCATED, queue, node, size, standing=Standing.PREEMPTING)
    if record.evictable:
        return Charge(Held.ALLOCATED, queue, node, size, priority, Standing.EVICTABLE)
    return Charge(Held.ALLOCATED, queue, node, size)


def _charge_unguarded(state: State, record: PodRecord, queue: QueuePath) -> Charge:
    """Charge of a pod that may be placed at any moment, whatever it waits for in Paddock (F-2, F-7)."""
    beside = _charge_beside(state, record)
    node = (
        record.placement.binding
        or slot_node(record)
        or (beside.node if beside is not None else record.admission.noted)
    )
    standing = Standing.BYPASSED if record.bypasses else Standing.PLAIN
    return Charge(Held.RESERVED, queue, node, record.facts.size, standing=standing)


def _charge_beside(state: State, record: PodRecord) -> Charge | None:
    """Charge of a member that goes to another node than its placeholder's.

    The member takes capacity there, while the placeholder still holds the quota (GANG-11).
    """
    slot = record.gang.slot
    holder = state.pods.records.get(slot.placeholder) if slot is not None else None
    if slot is None or holder is None or holder.node == slot.node:
        return None
    return Charge(Held.RESERVED, None, slot.node, record.facts.size)
