"""Audit of preemption and node reservations: victims, offers, and reserved nodes."""

from collections.abc import Iterator
from itertools import chain

from core.ids import NO_NODE, NodeName, PodUid, QueuePath
from core.ledger.audit.drift import Claims, Step, compare_each, compare_index
from core.ledger.state.preemption import Stage
from core.ledger.state.state import State


def preemption_steps(state: State) -> Iterator[Step]:
    """Audit steps for preemption and node reservations."""
    preemption, reservations = state.preemption, state.reservations
    yield from compare_index(
        state,
        "victims",
        lambda state: state.preemption.victims,
        [
            (preemptor, uid)
            for uid, each in state.pods.records.items()
            if (preemptor := each.preemption.preempted_for) is not None
        ],
        _is_victim,
    )
    yield from compare_each(state, preemption.victims, _stage_claims)
    yield from compare_each(state, preemption.offers, _offer_claims)
    yield from compare_each(state, state.pods.records, _reservation_claims)
    yield from compare_each(state, reservations.of, _node_claims)
    noted = (preemption.attempts, preemption.trying, reservations.young, reservations.aged)
    yield from compare_each(state, chain(*noted), _note_claims)


def _is_victim(state: State, preemptor: PodUid | QueuePath, uid: PodUid) -> bool:
    record = state.pods.records.get(uid)
    return record is not None and record.preemption.preempted_for == preemptor


def _stage_claims(state: State, preemptor: PodUid | QueuePath) -> Claims:
    """Claims about the victims of an ask. Victims of an ended offer are victims no more."""
    offered = Stage.OFFERED in state.preemption.victims.get(preemptor, {}).values()
    yield "offered victims", False, offered and preemptor not in state.preemption.offers


def _offer_claims(state: State, uid: PodUid) -> Claims:
    """Claims about an offer: its ask is triggered, and its node is reserved for the ask."""
    offer, record = state.preemption.offers.get(uid), state.pods.records.get(uid)
    if offer is not None:
        ask = record if record is not None and record.is_ask else None
        counted = (ask.preemption.triggered, ask.node_reservation.node) if ask is not None else ("", NO_NODE)
        yield "offer", (offer.plan, offer.node), counted


def _reservation_claims(state: State, uid: PodUid) -> Claims:
    """Claims about a node reservation, which only an ask may have."""
    record = state.pods.records.get(uid)
    if record is not None:
        node = record.node_reservation.node
        is_held = record.is_ask and state.reservations.of.get(node) == uid
        yield "reserved node", node, node if is_held else NO_NODE


def _node_claims(state: State, name: NodeName) -> Claims:
    uid = state.reservations.of.get(name)
    if uid is not None:
        record = state.pods.records.get(uid)
        yield "reservation", record.node_reservation.node if record is not None else NO_NODE, name


def _note_claims(state: State, uid: PodUid) -> Claims:
    """Claims about a pending ask: only such an ask gets a plan, or grows old enough for a node."""
    waits, preemption, reservations = uid in state.pending.waits_at, state.preemption, state.reservations
    yield "attempt", False, not waits and (uid in preemption.attempts or uid in preemption.trying)
    yield "age", False, not waits and (uid in reservations.young or uid in reservations.aged)
