"""When is a plan made for an ask: at its creation plus its queue's delay, and every 15 s after (PRE-5).

Only for asks that could have one: of a queue with a guarantee on its path, or bound to one node (RNP-1). What
only kube-scheduler can judge is planned when it asks: an attempt of ours would have it wait 15 s in vain.
"""

from functools import partial
from heapq import nsmallest

from core.ids import AppId, PodUid, QueuePath
from core.instants import earliest, has_come
from core.ledger.pods.record import PodRecord
from core.ledger.preemption.in_vain import report_wait, waits_until
from core.ledger.state import Seat, State
from core.queues.properties import QueueProperties
from core.queues.queue import NO_PRIORITY
from core.workload.ask import Rank
from core.workload.ordering import Applicant, OrderKey, order_key

TRIES_APART = 15.0
"""Seconds between two attempts for one ask (PRE-5)."""

REQUIRED_APART = 1.0
"""The same for an ask that may run on one node only, which YuniKorn tries in each pass (RNP-1)."""

ATTEMPTS_PER_LEAF = 10
"""Asks of one leaf that are tried in one round (PRE-5)."""

PUT_OFF = 1.0
"""Seconds until those are looked at again that were too many."""


def await_try(state: State, record: PodRecord) -> None:
    """An ask is there, or the document has changed: note when a plan may be made for it."""
    due = _first_try(state, record)
    if due is None:
        state.tries.pop(record.uid, None)
    else:
        _file(state, record.uid, max(due, state.now))


def _first_try(state: State, record: PodRecord) -> float | None:
    facts = record.facts
    application = state.application_of(record)
    leaf = state.tree.get(application.queue) if application is not None and application.queue else None
    if leaf is None:
        return None
    if record.required_node:
        return state.now if record.tried_at is None else record.tried_at + REQUIRED_APART
    if facts.never_preempts or not state.preempts or not any(each.guaranteed for each in leaf.chain):
        return None
    if facts.complex and not state.settings.preemption.plans_complex:
        return None
    due = facts.created + leaf.properties.preemption_delay
    return due if record.tried_at is None else max(due, record.tried_at + TRIES_APART)


def forget_try(state: State, uid: PodUid) -> None:
    """It waits no more."""
    state.tries.pop(uid, None)
    state.trying.pop(uid, None)
    if not state.tries:
        state.tries_due = None


def note_tried(state: State, record: PodRecord) -> None:
    """A plan is being made; the next one is due a while later."""
    record.tried_at = state.now
    state.trying.pop(record.uid, None)
    if record.uid in state.waits_at:
        await_try(state, record)


def find_due(state: State) -> None:
    """Whose moment has come, of each leaf not too many, in the order of its applications and asks (SORT-5).

    Which leaf goes first is not said here: see `core.decisions.preemption.due_order`.
    """
    if state.tries_due is None or not has_come(state.tries_due, now=state.now):
        return
    due: dict[QueuePath, list[Rank]] = {}
    for uid, at in state.tries.items():
        if has_come(at, now=state.now):
            seat = state.waits_at[uid]
            if _waits_for_queue(state, uid, seat):
                continue
            due.setdefault(seat.key.queue, []).append(seat.rank)
            state.tries[uid] = state.now + PUT_OFF
    for path in sorted(due):
        for rank in nsmallest(ATTEMPTS_PER_LEAF, due[path], key=partial(_order_in_leaf, state, path, {})):
            del state.tries[rank[-1]]
            state.trying[rank[-1]] = None
    state.due_round += bool(due)
    state.tries_due = min(state.tries.values(), default=None)


def _order_in_leaf(
    state: State, path: QueuePath, keys: dict[AppId, OrderKey], rank: Rank
) -> tuple[OrderKey, Rank]:
    """``keys``: of applications that were ordered before."""
    app_id = state.waits_at[rank[-1]].key.app
    if app_id not in keys:
        application, leaf = state.applications[app_id], state.tree.get(path)
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
    leaf, record = state.tree.get(seat.key.queue), state.pods[uid]
    until = waits_until(state, leaf, record.facts.namespace) if leaf is not None else 0.0
    if leaf is None or has_come(until, now=state.now):
        return False
    state.tries[uid] = until
    report_wait(state, record, leaf)
    return True


def _file(state: State, uid: PodUid, due: float) -> None:
    state.tries[uid] = due
    state.tries_due = earliest(state.tries_due, due)
