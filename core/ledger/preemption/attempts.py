"""Attempts to plan preemption for an ask: after its queue's delay, and every 15 s after that (PRE-5).

Only for asks that could have a plan: of a queue with a guarantee on its path, or tied to one node (RNP-1).
Asks that only kube-scheduler can judge are planned when it asks. An attempt by Paddock would only make them
wait 15 s in vain.
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
"""Seconds between two attempts for an ask tied to one node, which YuniKorn tries in each cycle (RNP-1)."""

ATTEMPTS_PER_LEAF = 10
"""Asks of one leaf that get a plan in one round (PRE-5)."""

PUT_OFF = 1.0
"""Seconds until the asks beyond that number are checked again."""

_GUARANTEED = attrgetter("spec.guaranteed")


def await_attempt(state: State, record: PodRecord) -> None:
    """Note when a plan may be made for an ask that is new, or after a new document."""
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
    """Forget the attempts of an ask that does not wait any more."""
    _drop(state, uid)
    state.preemption.trying.pop(uid, None)


def note_tried(state: State, record: PodRecord) -> None:
    """Note that a plan is being made. The next one is due a while later."""
    record.preemption.tried_at = state.now
    state.preemption.trying.pop(record.uid, None)
    if record.uid in state.pending.waits_at:
        await_attempt(state, record)


def find_due(state: State) -> None:
    """Find the asks whose attempt is due, a bounded number per leaf, in the leaf's order (SORT-5).

    `core.decisions.preemption.due_order` decides which leaf goes first.
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
    """Sort key of an ask in its leaf. ``keys``: keys of the applications that have one already."""
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
    """Postpone an ask whose queue must wait, because plans for it were in vain (F-25)."""
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
