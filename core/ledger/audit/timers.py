"""Audit of timers: each expires when the records say, no other timer is set, and heaps contain all of them.

Each kind of timer needs a row in `EXPECTED`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from core.ids import AppId, PodUid, QueuePath
from core.instants import has_come
from core.ledger.admission.gate_status import long_hold_due
from core.ledger.applications.bars import next_bar_end
from core.ledger.applications.lifecycle import state_ends
from core.ledger.applications.queues import next_opening
from core.ledger.applications.rejection import MARKED_APART, rejection_of
from core.ledger.applications.timeouts.expiry import execution_due
from core.ledger.audit.drift import Claims, Step, compare, compare_each
from core.ledger.gangs.matching import line_due
from core.ledger.gangs.slots import check_at
from core.ledger.node_reservation.reservation import reserved_until
from core.ledger.podgroups.deadlines import deadline_of, degraded_until, lease_end_of
from core.ledger.podgroups.membership import unopened
from core.ledger.state.state import State
from core.ledger.state.timer_heap import timer_at
from core.ledger.state.timers import ONLY_ONE, TimerKey, TimerKind
from core.workload.pod_group import Group
from core.workload.states import AppState


class Expected(NamedTuple):
    """Timers of one kind, as they follow from the records."""

    #: Keys that may have a timer.
    keys: Callable[[State], Iterable[Any]]
    #: Time at which the timer of a key expires. None if there must be none.
    when: Callable[[State, Any], float | None]


def timer_steps(state: State) -> Iterator[Step]:
    """Audit steps for timers."""
    for kind, expected in EXPECTED.items():
        set_now = [key for of, key in state.timers.due if of is kind]
        yield from compare_each(state, chain(expected.keys(state), set_now), partial(_claims, kind))
        yield compare(_heap_claims(state, kind))


def _claims(kind: TimerKind, state: State, key: TimerKey) -> Claims:
    yield f"timer {kind.name}", EXPECTED[kind].when(state, key), timer_at(state, kind, key)


def _heap_claims(state: State, kind: TimerKind) -> Claims:
    """Claims about the heap of one kind: no timer missing, and the first entry valid."""
    due = {(when, key) for (of, key), when in state.timers.due.items() if of is kind}
    heap = state.timers.heaps.get(kind, [])
    yield f"timers outside the heap {kind.name}", [], sorted(due.difference(heap))
    yield f"first timer {kind.name}", min(due, default=None), heap[0] if heap else None


def _gang_due(state: State, app_id: AppId) -> float | None:
    application = state.applications.known.get(app_id)
    gang_progress = application.gang_progress if application is not None else None
    return gang_progress.due_next if gang_progress is not None else None


def _slot_checked(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    return check_at(record) if record is not None else None


def _of_group(when: Callable[[State, Group | None], float | None]) -> Expected:
    """Expected timers of pod groups. ``when``: time of a group's timer."""
    return Expected(
        lambda state: state.podgroups.known,
        lambda state, key: when(state, state.podgroups.known.get(key)),
    )


def _state_ends(state: State, app_id: AppId) -> float | None:
    """End of a state. Later while placeholders of the application are deleted first (APP-6)."""
    application = state.applications.known.get(app_id)
    ends = state_ends(application) if application is not None else None
    held = timer_at(state, TimerKind.APPLICATION_STATE, app_id)
    is_put_off = held is not None and application is not None and application.state is AppState.COMPLETING
    return ends if ends is None or held is None or not is_put_off else max(ends, held)


def _namespace_awaited(state: State, app_id: AppId) -> float | None:
    """End of a wait. Later if the application could not be placed then and is tried again (NS-8)."""
    application = state.applications.known.get(app_id)
    held = timer_at(state, TimerKind.NAMESPACE, app_id)
    if application is None or application.awaits_until is None or app_id not in state.applications.unplaced:
        return None
    return application.awaits_until if held is None else max(application.awaits_until, held)


def _provisional_until(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    return record.seen.provisional_until if record is not None else None


def _doubted_until(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    return record.seen.doubted_until if record is not None else None


def _marked_again(state: State, uid: PodUid) -> float | None:
    """Time of a pod's next mark. Earlier if another reason is reported before (APP-8)."""
    record, held = state.pods.records.get(uid), timer_at(state, TimerKind.REJECTION, uid)
    application = state.application_of(record) if record is not None else None
    if record is None or application is None:
        return None
    since, stays = record.membership.failing_since, application.queue is None
    if since is None or not (
        stays and rejection_of(record, application) and state.config.settings.mark_failed
    ):
        return held
    return since + MARKED_APART if held is None else min(since + MARKED_APART, held)


def _reservation_ends(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    reservation = record.admission.reservation if record is not None else None
    return reservation.ends if reservation is not None else None


def _node_reservation_ends(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    holds = record is not None and state.reservations.of.get(record.node_reservation.node) == uid
    return reserved_until(record) if record is not None and holds else None


def _offer_ends(state: State, uid: PodUid) -> float | None:
    offer = state.preemption.offers.get(uid)
    return offer.until if offer is not None else None


def _groups_end(state: State, user: str) -> float | None:
    resolved = state.applications.resolved.get(user)
    return resolved.until if resolved is not None else None


def _first_age(state: State, key: str) -> float | None:
    return _not_after_first(state, TimerKind.AGE, key, state.reservations.young.values())


def _first_attempt(state: State, key: str) -> float | None:
    return _not_after_first(state, TimerKind.ATTEMPT, key, state.preemption.attempts.values())


def _not_after_first(state: State, kind: TimerKind, key: str, moments: Collection[float]) -> float | None:
    """First of several moments, or an earlier time that is set because its moment was cancelled."""
    held = timer_at(state, kind, key)
    if key != ONLY_ONE or not moments:
        return None
    return min(moments) if held is None else min(held, *moments)


def _cycle_due(state: State, key: str) -> float | None:
    """Time that is set. Only cycles note when the next one is due."""
    return timer_at(state, TimerKind.CYCLE, key) if key == ONLY_ONE else None


def _reclaim_due(state: State, path: QueuePath) -> float | None:
    """Time that is set for an existing queue. Only the document that lowered its quota tells it (QCP-2)."""
    is_queue = state.config.tree.get(path) is not None
    return timer_at(state, TimerKind.QUOTA_RECLAIM, path) if is_queue else None


def _turn_ends(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    is_refused = record is not None and record.admission.refused
    return None if is_refused else _lease_ends(state, uid)


def _refused_turn_ends(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    is_refused = record is not None and record.admission.refused
    return _lease_ends(state, uid) if is_refused else None


def _lease_ends(state: State, uid: PodUid) -> float | None:
    """End of a turn's lease. None while the pod group has the timer."""
    turn, record = state.turns.of.get(uid), state.pods.records.get(uid)
    if turn is None or record is None or unopened(state, record) is not None:
        return None
    return turn.at + state.config.settings.turn_lease


def _unadmitted_due(state: State, uid: PodUid) -> float | None:
    is_filed = uid in state.unguarded.bypasses
    return _as_set(state, TimerKind.UNADMITTED, uid) if is_filed else None


def _condition_due(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    return record.admission.condition_due if record is not None else None


def _long_hold_due(state: State, uid: PodUid) -> float | None:
    record = state.pods.records.get(uid)
    return long_hold_due(record) if record is not None else None


def _unplaced_due(state: State, uid: PodUid) -> float | None:
    is_filed = uid in state.unguarded.placing
    return _as_set(state, TimerKind.UNPLACED, uid) if is_filed else None


def _bar_ends(state: State, key: str) -> float | None:
    """End of the first bar. The end of one that is over is still set until `TimePassed` handles it."""
    held = timer_at(state, TimerKind.BAR_ENDS, ONLY_ONE)
    is_due = held is not None and has_come(held, now=state.now)
    if key != ONLY_ONE:
        return None
    return held if is_due else next_bar_end(state)


def _ending_due(state: State, uid: PodUid) -> float | None:
    """Time that is set for a pod of an application that is ended. No other pod has one."""
    record = state.pods.records.get(uid)
    application = state.application_of(record) if record is not None else None
    return timer_at(state, TimerKind.ENDING, uid) if application is not None and application.ends else None


def _execution_due(state: State, app_id: AppId) -> float | None:
    application = state.applications.known.get(app_id)
    return execution_due(state, application) if application is not None else None


def _as_set(state: State, kind: TimerKind, uid: PodUid) -> float:
    """Time that is set, which nothing else records. There must be one."""
    held = timer_at(state, kind, uid)
    return state.now if held is None else held


def _one(_: State) -> tuple[str]:
    return (ONLY_ONE,)


def _none(_: State) -> tuple[()]:
    return ()


EXPECTED: Mapping[TimerKind, Expected] = {
    TimerKind.GANG: Expected(lambda state: state.applications.known, _gang_due),
    TimerKind.GANG_SLOT: Expected(lambda state: state.gangs.slots_at, _slot_checked),
    TimerKind.GANG_LINE: Expected(_one, lambda state, _: line_due(state)),
    TimerKind.POD_GROUP_ATTEMPT: _of_group(deadline_of),
    TimerKind.POD_GROUP_LEASE: _of_group(lease_end_of),
    TimerKind.POD_GROUP_DEGRADED: _of_group(degraded_until),
    TimerKind.OFFER: Expected(lambda state: state.preemption.offers, _offer_ends),
    TimerKind.NODE_RESERVATION: Expected(
        lambda state: state.reservations.of.values(), _node_reservation_ends
    ),
    TimerKind.USER_GROUPS: Expected(lambda state: state.applications.resolved, _groups_end),
    TimerKind.APPLICATION_STATE: Expected(lambda state: state.applications.known, _state_ends),
    TimerKind.NAMESPACE: Expected(lambda state: state.applications.unplaced, _namespace_awaited),
    TimerKind.PROVISIONAL: Expected(lambda state: state.pods.records, _provisional_until),
    TimerKind.DOUBT: Expected(lambda state: state.pods.records, _doubted_until),
    TimerKind.REJECTION: Expected(lambda state: state.pods.records, _marked_again),
    TimerKind.RESERVATION: Expected(lambda state: state.usage.reserved, _reservation_ends),
    TimerKind.TURN: Expected(lambda state: state.turns.of, _turn_ends),
    TimerKind.REFUSED_TURN: Expected(lambda state: state.turns.of, _refused_turn_ends),
    TimerKind.UNADMITTED: Expected(lambda state: state.unguarded.bypasses, _unadmitted_due),
    TimerKind.GATE_CONDITION: Expected(lambda state: state.pods.records, _condition_due),
    TimerKind.LONG_HOLD: Expected(lambda state: state.pods.records, _long_hold_due),
    TimerKind.UNPLACED: Expected(lambda state: state.unguarded.placing, _unplaced_due),
    TimerKind.CYCLE: Expected(_none, _cycle_due),
    TimerKind.QUOTA_RECLAIM: Expected(_none, _reclaim_due),
    TimerKind.QUEUE_OPENS: Expected(_one, lambda state, _: next_opening(state)),
    TimerKind.BAR_ENDS: Expected(_one, _bar_ends),
    TimerKind.ENDING: Expected(lambda state: state.pods.records, _ending_due),
    TimerKind.MOVE: Expected(
        lambda state: state.applications.moves_due, lambda state, key: state.applications.moves_due.get(key)
    ),
    TimerKind.EXECUTION: Expected(lambda state: state.applications.known, _execution_due),
    TimerKind.ATTEMPT: Expected(_one, _first_attempt),
    TimerKind.AGE: Expected(_one, _first_age),
}
"""Expected timers of every kind."""
