"""Settling: the current charge of a pod, and the order in which index owners file it anew."""

from core.ledger.admission.gate_status import end_hold
from core.ledger.admission.leases import time_lease
from core.ledger.admission.pending import file_ask
from core.ledger.admission.requests import request_cycle, request_cycle_for_node
from core.ledger.admission.turns import forget_wake_up, note_moved
from core.ledger.admission.unguarded import file_unguarded, forget_unguarded, note_unadmitted
from core.ledger.applications.lifecycle import note_quota_held
from core.ledger.charge import charge_of
from core.ledger.gangs.index import file, unfile
from core.ledger.node_reservation.reservation import release_node
from core.ledger.podgroups.membership import note_member
from core.ledger.pods.record import Charge, Held, PodRecord
from core.ledger.preemption.quota_reclaim import note_growth
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import take_touched
from core.ledger.usage.counters import holds, holds_as_much, move_charge
from core.ledger.usage.over_max import note_release, note_use


def settle_touched(state: State) -> None:
    """Bring counters and indexes in line with what is now known about the pods that were touched."""
    while state.pods.touched:
        record, dropped = take_touched(state)
        if dropped:
            _discharge(state, record)
        else:
            _settle(state, record)


def _settle(state: State, record: PodRecord) -> None:
    note_member(state, record)
    new = charge_of(state, record)
    if not record.node:
        record.placement.placed_at = 0.0
    elif not record.placement.placed_at:
        record.placement.placed_at = state.now
        note_unadmitted(state, record)
    _recharge(state, record, new)
    file_ask(state, record, new)
    if record.uid in state.turns.of:
        time_lease(state, record)
    file(state, record)
    file_unguarded(state, record)
    if not (record.is_gated and record.is_ask):
        end_hold(state, record)
    if record.node_reservation.node and not record.is_ask:
        release_node(state, record)


def _discharge(state: State, record: PodRecord) -> None:
    """Take a deleted pod out of the counters and indexes."""
    _recharge(state, record, None)
    file_ask(state, record, None)
    unfile(state, record)
    forget_unguarded(state, record.uid, deleted=True)
    end_hold(state, record)
    forget_wake_up(state, record.uid)
    release_node(state, record, deleted=True)


def _recharge(state: State, record: PodRecord, new: Charge | None) -> None:
    old = state.usage.charges.get(record.uid)
    if old == new:
        return
    # Most often a reservation becomes an allocation, which is the same for users and groups.
    held, holds_now = holds(old), holds(new)
    people = not (held and holds_now and holds_as_much(old, new))
    move_charge(state, record, old, new, people=people)
    app_id = record.membership.application
    if state.cycle.running and app_id is not None:
        for each in (old, new):
            if each is not None and each.queue is not None:
                note_moved(state, each.queue, app_id)
    if held != holds_now:
        note_quota_held(state, record, holds_now=holds_now)
    if old is not None and people:
        note_release(state, record, old)
    if new is not None:
        note_growth(state, old, new)
        if people and holds_now:
            note_use(state, record, new)
    if old is not None:
        note_freed(state, old, new, frees_quota=held and people)


def note_freed(state: State, old: Charge, new: Charge | None, *, frees_quota: bool) -> None:
    """Request a cycle for the asks that may be admitted after a charge has changed (CYC-1).

    A pod of no queue holds capacity of the cluster. A pod that is bound to another node than the one on which
    it was counted frees capacity of that node. ``frees_quota``: the charge of a queue ended or shrank.
    """
    frees_cluster = old.held is Held.OCCUPIED and (new is None or new.size != old.size)
    if frees_quota or frees_cluster:
        request_cycle(state, CycleReason.CAPACITY_FREED)
    elif old.node and (new is None or new.node != old.node):
        request_cycle_for_node(state, old.node)
