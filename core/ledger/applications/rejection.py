"""Rejection: reports on the pods of a rejected application, which may also be marked Failed (APP-8).

The pods of a failed gang are marked in the same way (APP-9).
"""

from core.instants import has_come
from core.ledger.effects import MarkFailed
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer, take_due
from core.ledger.state.timers import TimerKind
from core.reasons import WAITS, Refusal
from core.workload.application import Application

REASON = "ApplicationRejected"
EVENT = "ApplicationFailed"

MARKED_APART = 30.0
"""Seconds until a pod that should be Failed, and is not, is marked again."""


def report_rejection(state: State, record: PodRecord, application: Application) -> None:
    """Report once per pod and reason that its application was rejected.

    Mark the pod if that is configured.
    """
    refusal = rejection_of(record, application)
    if refusal is None:
        return
    if record.membership.rejected_for != refusal.text:
        record.membership.rejected_for = refusal.text
        post(state, record, EVENT, refusal.text)
    forget_rejection(state, record)
    if state.config.settings.mark_failed and application.queue is None:
        mark_failed(state, record, REASON, refusal.text)
        _mark_again(state, record)


def _mark_again(state: State, record: PodRecord) -> None:
    """Have a pod marked again, unless it terminates or its application is placed."""
    since = record.membership.failing_since
    if since is not None:
        set_timer(state, TimerKind.REJECTION, record.uid, since + MARKED_APART)


def rejection_of(record: PodRecord, application: Application) -> Refusal | None:
    """Rejection of an application, if it concerns a pod. None for a pod that runs or terminates."""
    refusal = application.refusal
    if refusal is None or refusal.code in WAITS or (application.queue and not application.forced):
        return None
    return None if record.node or record.facts.deleting else refusal


def mark_failed(state: State, record: PodRecord, reason: str, message: str) -> None:
    """Request that a pod be Failed, at most every `MARKED_APART` seconds."""
    since = record.membership.failing_since
    if since is None or has_come(since + MARKED_APART, now=state.now):
        record.membership.failing_since = state.now
        facts = record.facts
        emit(state, MarkFailed(facts.uid, facts.namespace, facts.name, reason, message))


def forget_rejection(state: State, record: PodRecord) -> None:
    """Cancel the next mark of a pod, which is deleted or placed."""
    cancel_timer(state, TimerKind.REJECTION, record.uid)


def report_later(state: State, application: Application) -> None:
    """Have a rejection reported on an application's pods with the next timers, if marking is configured."""
    if not state.config.settings.mark_failed:
        return
    for uid in sorted(application.pods):
        record = state.pods.records[uid]
        refusal, since = rejection_of(record, application), record.membership.failing_since
        if refusal is not None:
            is_reported = record.membership.rejected_for == refusal.text
            when = since + MARKED_APART if is_reported and since is not None else state.now
            set_timer(state, TimerKind.REJECTION, uid, when)


def report_all_later(state: State) -> None:
    """Have all rejections reported with the next timers, because marking may be configured now."""
    for app_id in sorted(state.applications.unplaced):
        report_later(state, state.applications.known[app_id])


def report_due(state: State) -> None:
    """Report the rejections that are due. Pods that still exist are marked again."""
    due = [state.pods.records[uid] for uid in take_due(state, TimerKind.REJECTION)]
    found = [(app_id, each.uid) for each in due if (app_id := each.membership.application) is not None]
    for app_id, uid in sorted(found):
        report_rejection(state, state.pods.records[uid], state.applications.known[app_id])
