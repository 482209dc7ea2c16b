"""The audit: recompute everything that is derived from what was told, and name every difference.

Written against the facts, not against `accounts`' bookkeeping: it adds up, it never subtracts. It runs in
steps, so that a running process can do it in slices between verbs. A check reads the ledger as it is when
the check runs, so a ledger that changes between two steps causes no false alarm.
"""

from collections import Counter
from collections.abc import Iterator

from core.ids import NO_NODE, NodeName, PodUid, QueuePath
from core.ledger.admission.pending import waiting_key
from core.ledger.audit.applications import application_steps
from core.ledger.audit.daemon_sets import daemon_set_steps
from core.ledger.audit.drift import Drift, Step, compare, each
from core.ledger.audit.gangs import gang_steps
from core.ledger.audit.pod_groups import pod_group_steps
from core.ledger.audit.preemption import preemption_steps
from core.ledger.audit.turns import turn_steps
from core.ledger.audit.usage import usage_steps
from core.ledger.charge import charge_of
from core.ledger.pods.record import Charge, PodRecord
from core.ledger.state.admission import Seat, WaitingKey
from core.ledger.state.state import State
from core.ledger.state.timer_heap import timer_at
from core.ledger.state.timers import TimerKind


def audit(state: State) -> tuple[Drift, ...]:
    """Every difference between the record and what follows from what was told; empty when it is right."""
    return tuple(drift for step in audit_steps(state) for drift in step)


def audit_steps(state: State) -> Iterator[Step]:
    """The same in steps of about a millisecond. The ledger may change between two of them."""
    yield from each(state.pods.records, lambda uid: _pod_drifts(state, uid))
    yield from each(
        state.usage.charges, lambda uid: _unknown(state, "charges", uid, uid in state.usage.charges)
    )
    unguarded = {**state.unguarded.placing, **state.unguarded.unplaced, **state.unguarded.bypasses}
    yield from each(unguarded, lambda uid: _unknown(state, "unguarded index", uid, _is_noted(state, uid)))
    yield from preemption_steps(state)
    yield compare("pods to settle", [], list(state.pods.touched))
    yield from usage_steps(state)
    yield from _index_steps(state)
    yield from application_steps(state)
    yield from turn_steps(state)
    yield from gang_steps(state)
    yield from pod_group_steps(state)
    yield from daemon_set_steps(state)


def _unknown(state: State, index: str, uid: PodUid, filed: bool) -> Step:
    return compare(f"{index}: {uid}", False, filed and uid not in state.pods.records)


# -- pods: what each is charged, and where it is filed ------------------------------------------------


def _pod_drifts(state: State, uid: PodUid) -> Step:
    record = state.pods.records.get(uid)
    if record is None:
        return []
    expected = charge_of(state, record)
    seat = state.pending.waits_at.get(uid)
    return [
        *compare(f"charge of {uid}", expected, state.usage.charges.get(uid)),
        *compare(f"waiting index of {uid}", waiting_key(record, expected), seat and seat.key),
        *compare(
            f"reserved index of {uid}", record.admission.reservation is not None, uid in state.usage.reserved
        ),
        *compare(f"end of reservation of {uid}", _end(record), timer_at(state, TimerKind.RESERVATION, uid)),
        *compare(f"provisional index of {uid}", _is_provisional(record), uid in state.pods.provisional),
        *compare(f"doubted index of {uid}", record.seen.doubted_until is not None, uid in state.pods.doubted),
        *compare(f"shown facts of {uid}", True, _is_provisional(record) or _is_as_shown(record)),
        *compare(
            f"unclassified index of {uid}", not record.membership.classified, _is_unclassified(state, record)
        ),
        *compare(f"name index of {uid}", True, uid in state.pods.by_name.get(_name(record), ())),
        *compare(f"gone: {uid}", False, uid in state.pods.gone),
        *compare(f"kept for {uid}", record.node_reservation.node, _kept_for(state, record)),
        *compare(f"victim: {uid}", record.preemption.preempted_for is not None, _is_victim(state, record)),
        *compare(
            f"unguarded index of {uid}",
            record.membership.managed and record.is_unguarded,
            _is_filed(state, uid),
        ),
        *_membership_drifts(state, record),
        *_place_drifts(state, record, expected),
    ]


def _end(record: PodRecord) -> float | None:
    return record.admission.reservation.ends if record.admission.reservation is not None else None


def _is_filed(state: State, uid: PodUid) -> bool:
    """As unguarded, and in one of the two parts of that index only."""
    return (uid in state.unguarded.placing) != (uid in state.unguarded.unplaced)


def _is_noted(state: State, uid: PodUid) -> bool:
    return _is_filed(state, uid) or uid in state.unguarded.bypasses


def _is_victim(state: State, record: PodRecord) -> bool:
    preemptor = record.preemption.preempted_for
    return preemptor is not None and record.uid in state.preemption.victims.get(preemptor, ())


def _kept_for(state: State, record: PodRecord) -> NodeName:
    """Only an ask keeps a node, and that one for itself."""
    keeps = record.is_ask and state.reservations.of.get(record.node_reservation.node) == record.uid
    return record.node_reservation.node if keeps else NO_NODE


def _is_provisional(record: PodRecord) -> bool:
    return record.seen.provisional_until is not None


def _is_as_shown(record: PodRecord) -> bool:
    """Only what a body has told, or what a list lacks, may differ from what is shown."""
    return record.facts is record.seen.shown or (
        record.seen.shown is None and record.seen.doubted_until is not None
    )


def _is_unclassified(state: State, record: PodRecord) -> bool:
    return record.uid in state.pods.unclassified.get(record.facts.namespace, ())


def _name(record: PodRecord) -> tuple[str, str]:
    return record.facts.namespace, record.facts.name


def _membership_drifts(state: State, record: PodRecord) -> Step:
    """A managed ask or allocation is in exactly the application it says."""
    if record.membership.application is None:
        belongs = record.membership.managed and (bool(record.node) or record.is_ask)
        return compare(f"application of {record.uid}", False, belongs)
    application = state.applications.known.get(record.membership.application)
    member = application is not None and record.uid in application.pods
    return compare(f"pods of {record.membership.application}: {record.uid}", True, member)


def _place_drifts(state: State, record: PodRecord, charge: Charge | None) -> Step:
    if charge is None or not charge.node:
        return []
    use = state.usage.uses.get(charge.node)
    return compare(f"pods on {charge.node}: {record.uid}", True, use is not None and record.uid in use.pods)


# -- indexes: nothing filed that should not be -----------------------------------------------------------


def _index_steps(state: State) -> Iterator[Step]:
    yield from each(
        state.usage.reserved, lambda uid: _unknown(state, "reserved index", uid, uid in state.usage.reserved)
    )
    yield from each(
        state.pods.provisional,
        lambda uid: _unknown(state, "provisional index", uid, uid in state.pods.provisional),
    )
    yield from each(
        state.pods.doubted, lambda uid: _unknown(state, "doubted index", uid, uid in state.pods.doubted)
    )
    yield from each(
        [(name, uid) for name, uids in state.pods.by_name.items() for uid in uids],
        lambda pair: _name_drifts(state, *pair),
    )
    yield from each(
        [(namespace, uid) for namespace, uids in state.pods.unclassified.items() for uid in uids],
        lambda pair: _unclassified_drifts(state, *pair),
    )
    yield from each(
        [
            Seat(WaitingKey(path, size, app_id, constraints), rank)
            for path, index in state.pending.waiting.items()
            for app_id, (size, constraints), rank in index
        ],
        lambda seat: _waiting_drifts(state, seat),
    )
    yield from each(state.pending.waits_at, lambda uid: _seat_drifts(state, uid))
    yield from each(state.pending.waiting, lambda path: _pending_index_drifts(state, path))


def _name_drifts(state: State, name: tuple[str, str], uid: PodUid) -> Step:
    if uid not in state.pods.by_name.get(name, ()):
        return []
    record = state.pods.records.get(uid)
    return compare(f"name index: {uid}", name, _name(record) if record else None)


def _unclassified_drifts(state: State, namespace: str, uid: PodUid) -> Step:
    if uid not in state.pods.unclassified.get(namespace, ()):
        return []
    record = state.pods.records.get(uid)
    awaits = record is not None and not record.membership.classified and record.facts.namespace == namespace
    return compare(f"unclassified index: {uid}", True, awaits)


def _is_seated(state: State, seat: Seat) -> bool:
    key = seat.key
    index = state.pending.waiting.get(key.queue)
    return index is not None and index.has(key.app, (key.size, key.constraints), seat.rank)


def _waiting_drifts(state: State, seat: Seat) -> Step:
    if not _is_seated(state, seat):
        return []
    uid = seat.rank[-1]
    return compare(f"waiting: {uid}", seat, state.pending.waits_at.get(uid))


def _pending_index_drifts(state: State, path: QueuePath) -> Step:
    """The number of asks of each size."""
    index = state.pending.waiting.get(path)
    if index is None:
        return []
    sizes = Counter(size for _, (size, _), _ in index)
    return [
        *compare(f"waiting in {path}: any", True, bool(sizes)),
        *compare(f"waiting in {path}: sizes", dict(sizes), index.sizes),
    ]


def _seat_drifts(state: State, uid: PodUid) -> Step:
    seat = state.pending.waits_at.get(uid)
    if seat is None:
        return []
    return [
        *_unknown(state, "waiting index", uid, True),
        *compare(f"waiting: {uid}", True, _is_seated(state, seat)),
    ]
