"""The audit of preemption and of node reservations: nodes, victims, offers, and who waits for either."""

from collections.abc import Collection, Iterator

from core.ids import NO_NODE, NodeName, PodUid, QueuePath
from core.ledger.audit.drift import Step, compare, each
from core.ledger.node_reservation.reservation import kept_until
from core.ledger.state.preemption import Stage
from core.ledger.state.state import State
from core.ledger.state.timer_heap import timer_at, timers_of
from core.ledger.state.timers import ONLY_ONE, TimerKind


def preemption_steps(state: State) -> Iterator[Step]:
    yield from each(state.reservations.of, lambda name: _kept_drifts(state, name))
    yield from each(state.preemption.victims, lambda preemptor: _victims_drifts(state, preemptor))
    yield from each(state.preemption.offers, lambda uid: _offer_drifts(state, uid))
    yield from each(
        {*state.reservations.young, *state.reservations.aged}, lambda uid: _age_drifts(state, uid)
    )
    yield from each(
        {*state.preemption.attempts, *state.preemption.trying}, lambda uid: _try_drifts(state, uid)
    )
    yield _timer_drifts(state)
    yield _first_drifts(state, TimerKind.AGE, state.reservations.young.values())
    yield _first_drifts(state, TimerKind.ATTEMPT, state.preemption.attempts.values())


def _timer_drifts(state: State) -> Step:
    """Each offer and each node reservation has a timer for its end, and nothing else has."""
    offers = {uid: offer.until for uid, offer in state.preemption.offers.items()}
    records = [state.pods.records.get(uid) for uid in state.reservations.of.values()]
    reserved = {record.uid: kept_until(record) for record in records if record is not None}
    return [
        *compare("timers of offers", offers, timers_of(state, TimerKind.OFFER)),
        *compare("timers of reserved nodes", reserved, timers_of(state, TimerKind.NODE_RESERVATION)),
    ]


def _first_drifts(state: State, kind: TimerKind, moments: Collection[float]) -> Step:
    """The timer for the first of several moments is set if there are any, and not after the first."""
    current = timer_at(state, kind, ONLY_ONE)
    late = current is not None and current > min(moments, default=current)
    return compare(f"timer of the first {kind.name}", (bool(moments), False), (current is not None, late))


def _kept_drifts(state: State, name: NodeName) -> Step:
    """A node is kept for an ask that says so."""
    uid = state.reservations.of.get(name)
    record = state.pods.records.get(uid) if uid is not None else None
    expected = record.node_reservation.node if record is not None else NO_NODE
    return compare(f"keeper of {name}", expected, NO_NODE if uid is None else name)


def _victims_drifts(state: State, preemptor: PodUid | QueuePath) -> Step:
    """Compare the victims marked for a preemptor with their marks; no offer that has ended marks any."""
    filed = state.preemption.victims.get(preemptor, {})
    offered = Stage.OFFERED in filed.values() and preemptor not in state.preemption.offers
    marked = {
        uid
        for uid in filed
        if uid in state.pods.records and state.pods.records[uid].preemption.preempted_for == preemptor
    }
    return [
        *compare(f"victims for {preemptor}", sorted(marked) if marked else ["some"], sorted(filed)),
        *compare(f"victims for {preemptor}: offered", False, offered),
    ]


def _offer_drifts(state: State, uid: PodUid) -> Step:
    """An offer counts as a plan that is carried out: its ask is triggered, its node kept for it."""
    offer, record = state.preemption.offers.get(uid), state.pods.records.get(uid)
    if offer is None:
        return []
    counted = (
        (record.preemption.triggered, record.node_reservation.node)
        if record is not None and record.is_ask
        else ("", NO_NODE)
    )
    return compare(f"offer for {uid}", (offer.plan, offer.node), counted)


def _age_drifts(state: State, uid: PodUid) -> Step:
    """Only who waits grows old."""
    noted = uid in state.reservations.young or uid in state.reservations.aged
    return compare(f"age of {uid}", False, noted and uid not in state.pending.waits_at)


def _try_drifts(state: State, uid: PodUid) -> Step:
    """Only for who waits plans are made."""
    noted = uid in state.preemption.attempts or uid in state.preemption.trying
    return compare(f"try of {uid}", False, noted and uid not in state.pending.waits_at)
