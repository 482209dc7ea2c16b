"""When is a plan made for an ask: at its creation plus its queue's delay, and every 15 s after (PRE-5).

Only for asks that could have one: of a queue with a guarantee on its path, or bound to one node (RNP-1). What
only kube-scheduler can judge is planned when it asks: an attempt of ours would have it wait 15 s in vain.
"""

from functools import partial
from heapq import nsmallest
from operator import attrgetter

from core.ids import AppId, PodUid, QueuePath
from core.instants import has_come
from core.ledger.pods.record import PodRecord
from core.ledger.preemption.in_vain import report_wait, waits_until
from core.ledger.state.admission import Seat
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_no_later, set_timer, take_due
from core.ledger.state.timers import ONLY_ONE, TimerKind
from core.queues.properties import QueueProperties
from core.queues.queue import NO_PRIORITY
from core.workload.ask import Rank
from core.workload.ordering import Applicant, OrderKey, order_key

ATTEMPTS_APART = 15.0
"""Seconds between two attempts for one ask (PRE-5)."""

REQUIRED_APART = 1.0
"""The same for an ask that may run on one node only, which YuniKorn tries in each pass (RNP-1)."""

ATTEMPTS_PER_LEAF = 10
"""Asks of one leaf that are tried in one round (PRE-5)."""

PUT_OFF = 1.0
"""Seconds until those are looked at again that were too many."""

_GUARANTEED = attrgetter("spec.guaranteed")


def await_attempt(state: State, record: PodRecord) -> None:
    """An ask is there, or the document has changed: note when a plan may be made for it."""
    due = _first_attempt(state, record)
    if due is None:
        _drop(state, record.uid)
    else:
        _file(state, record.uid, max(due, state.now))


def _first_attempt(state: State, record: PodRecord) -> float | None:
    facts = record.facts
    application = state.application_of(record)
    leaf = state.config.tree.get(application.queue) if application is not None and application.queue else None
    if leaf is None:
        return None
    if record.daemon.required_node:
        return (
            state.now if record.preemption.tried_at is None else record.preemption.tried_at + REQUIRED_APART
        )
    if facts.never_preempts or not state.config.preempts or not any(map(_GUARANTEED, leaf.chain)):
        return None
    if facts.complex and not state.config.settings.preemption.plans_complex:
        return None
    due = facts.created + leaf.properties.preemption_delay
    return (
        due if record.preemption.tried_at is None else max(due, record.preemption.tried_at + ATTEMPTS_APART)
    )


def forget_attempt(state: State, uid: PodUid) -> None:
    """It waits no more."""
    _drop(state, uid)
    state.preemption.trying.pop(uid, None)


def note_tried(state: State, record: PodRecord) -> None:
    """A plan is being made; the next one is due a while later."""
    record.preemption.tried_at = state.now
    state.preemption.trying.pop(record.uid, None)
    if record.uid in state.pending.waits_at:
        await_attempt(state, record)


def find_due(state: State) -> None:
    """Whose moment has come, of each leaf not too many, in the order of its applications and asks (SORT-5).

    Which leaf goes first is not said here: see `core.decisions.preemption.due_order`.
    """
    if not take_due(state, TimerKind.ATTEMPT):
        return
    due: dict[QueuePath, list[Rank]] = {}
    for uid, at in state.preemption.attempts.items():
        if has_come(at, now=state.now):
            seat = state.pending.waits_at[uid]
            if _waits_for_queue(state, uid, seat):
                continue
            due.setdefault(seat.key.queue, []).append(seat.rank)
            state.preemption.attempts[uid] = state.now + PUT_OFF
    for path in sorted(due):
        for rank in nsmallest(ATTEMPTS_PER_LEAF, due[path], key=partial(_order_in_leaf, state, path, {})):
            del state.preemption.attempts[rank[-1]]
            state.preemption.trying[rank[-1]] = None
    state.preemption.due_round += bool(due)
    if state.preemption.attempts:
        set_timer(state, TimerKind.ATTEMPT, ONLY_ONE, min(state.preemption.attempts.values()))


def _order_in_leaf(
    state: State, path: QueuePath, keys: dict[AppId, OrderKey], rank: Rank
) -> tuple[OrderKey, Rank]:
    """``keys``: of applications that were ordered before."""
    app_id = state.pending.waits_at[rank[-1]].key.app
    if app_id not in keys:
        application, leaf = state.applications.known[app_id], state.config.tree.get(path)
        properties = leaf.properties if leaf is not None else QueueProperties()
        applicant = Applicant(
            app_id,
            max(application.asked, default=NO_PRIORITY),
            application.submitted,
            application.state,
            application.used.as_resource(),
        )
        keys[app_id] = order_key(
            applicant,
            properties.sort_policy,
            by_priority=properties.sort_by_priority,
            guaranteed=leaf.guaranteed if leaf is not None else None,
        )
    return keys[app_id], rank


def _waits_for_queue(state: State, uid: PodUid, seat: Seat) -> bool:
    """Put an ask off whose queue must wait, since plans for it were in vain (F-25)."""
    leaf, record = state.config.tree.get(seat.key.queue), state.pods.records[uid]
    until = waits_until(state, leaf, record.facts.namespace) if leaf is not None else 0.0
    if leaf is None or has_come(until, now=state.now):
        return False
    state.preemption.attempts[uid] = until
    report_wait(state, record, leaf)
    return True


def _file(state: State, uid: PodUid, due: float) -> None:
    state.preemption.attempts[uid] = due
    set_no_later(state, TimerKind.ATTEMPT, ONLY_ONE, due)


def _drop(state: State, uid: PodUid) -> None:
    if state.preemption.attempts.pop(uid, None) is not None and not state.preemption.attempts:
        cancel_timer(state, TimerKind.ATTEMPT, ONLY_ONE)
