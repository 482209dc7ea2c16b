"""Index of pending asks, and the place of each ask in it."""

from collections.abc import Mapping
from typing import Final

from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import (
    end_turn,
    forget_awaiting,
    note_awaiting,
    note_checked,
    note_fresh,
)
from core.ledger.node_reservation.search import await_age, forget_age
from core.ledger.pods.record import Charge, Held, PodRecord
from core.ledger.preemption.attempts import await_attempt, forget_attempt
from core.ledger.state.admission import CycleReason, Seat, WaitingKey
from core.ledger.state.state import State
from core.ledger.usage.counters import holds
from core.queues.queue import Queue
from core.workload.ask import Rank, Waiting
from core.workload.pending_index import Kind, PendingIndex
from core.workload.pod import OWN_GATE

KINDS_AT_MOST: Final = 4_096
"""Kinds of asks that are remembered as one object each."""

_PENDING: Final = Held.PENDING


def waiting_key(record: PodRecord, charge: Charge | None) -> WaitingKey | None:
    """Key under which a pending ask waits for its turn. Equal asks of one application have the same key."""
    if charge is None or charge.held is not _PENDING or charge.queue is None:
        return None
    if record.membership.application is None:
        return None
    return WaitingKey(charge.queue, charge.size, record.membership.application, record.facts.constraints)


def file_ask(state: State, record: PodRecord, charge: Charge | None) -> None:
    """Bring the index in line with what a pod is charged now."""
    seat, new = state.pending.waits_at.get(record.uid), waiting_key(record, charge)
    if (seat and seat.key) == new:
        return
    if seat is not None:
        note_checked(state, record.uid)
        end_turn(state, record.uid, used=holds(charge))
        _leave(state, seat)
    if new is not None:
        _enter(state, record, Seat(_shared(state, new), record.rank))


def _shared(state: State, key: WaitingKey) -> WaitingKey:
    """Return an equal key with the size and constraints that other asks of the kind have.

    A cycle compares sizes some ten times for each ask. The same object is equal without a comparison.
    """
    kinds = state.pending.kinds
    if len(kinds) >= KINDS_AT_MOST:
        kinds.clear()
    kind = key.size, key.constraints
    size, constraints = kinds.setdefault(kind, kind)
    return WaitingKey(key.queue, size, key.app, constraints)


def _enter(state: State, record: PodRecord, seat: Seat) -> None:
    key = seat.key
    index = state.pending.waiting.get(key.queue)
    if index is None:
        index = state.pending.waiting[key.queue] = PendingIndex()
    index.add(key.app, (key.size, key.constraints), seat.rank)
    state.pending.waits_at[record.uid] = seat
    note_awaiting(state, seat)
    tolerated = key.constraints.tolerations
    state.usage.tolerated[tolerated] = state.usage.tolerated.get(tolerated, 0) + 1
    note_fresh(state, seat)
    await_age(state, record)
    await_attempt(state, record)
    leaf = state.config.tree.get(key.queue)
    if OWN_GATE in record.facts.gates or (leaf is not None and leaf.properties.unscheduled_backoff):
        # The ask never calls filter by itself. Or its application backs off from now on if no node takes it
        # (CYC-4).
        request_cycle(state, CycleReason.POD_ARRIVED)


def _leave(state: State, seat: Seat) -> None:
    key = seat.key
    index = state.pending.waiting[key.queue]
    index.remove(key.app, (key.size, key.constraints), seat.rank)
    tolerated = key.constraints.tolerations
    state.usage.tolerated[tolerated] -= 1
    if not state.usage.tolerated[tolerated]:
        del state.usage.tolerated[tolerated]
    del state.pending.waits_at[seat.rank[-1]]
    forget_awaiting(state, seat)
    forget_age(state, seat.rank[-1])
    forget_attempt(state, seat.rank[-1])
    if not index:
        del state.pending.waiting[key.queue]


def lines_beside(state: State, record: PodRecord, leaf: Queue) -> tuple[Mapping[Kind, Waiting], Rank]:
    """Pending asks of a pod's application in a leaf, by kind, and the pod's rank among them."""
    pending_index, seat = state.pending.waiting.get(leaf.path), state.pending.waits_at.get(record.uid)
    app_id = record.membership.application
    lines = (
        pending_index.by_application.get(app_id) if pending_index is not None and app_id is not None else None
    )
    return lines or {}, seat.rank if seat is not None else record.rank
