"""Telling the pods of a rejected application, and marking them Failed where that is wanted (APP-8).

So are those of a gang that failed (APP-9).
"""

from collections.abc import Iterator

from core.instants import has_come
from core.ledger.effects import MarkFailed
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.reasons import Code
from core.workload.application import Application

REASON = "ApplicationRejected"
EVENT = "ApplicationFailed"

MARKED_APART = 30.0
"""Seconds until a pod that should be Failed, and is not, is marked again."""


def tell(state: State, record: PodRecord, application: Application) -> None:
    """Say once per pod and reason why its application was rejected; mark it, where that is wanted."""
    refusal = application.refusal
    if refusal is None or refusal.code is Code.NOT_READY or (application.queue and not application.forced):
        return
    if record.node or record.facts.deleting:
        return
    if record.membership.rejected_for != refusal.text:
        record.membership.rejected_for = refusal.text
        post(state, record, EVENT, refusal.text)
    if state.config.settings.mark_failed and application.queue is None:
        mark_failed(state, record, REASON, refusal.text)


def mark_failed(state: State, record: PodRecord, reason: str, message: str) -> None:
    """Ask for a pod's phase to be Failed, unless that was asked a moment ago."""
    if record.membership.failing_since is None or has_come(
        record.membership.failing_since + MARKED_APART, now=state.now
    ):
        record.membership.failing_since = state.now
        facts = record.facts
        emit(state, MarkFailed(facts.uid, facts.namespace, facts.name, reason, message))


def marks_due(state: State) -> Iterator[float]:
    """When pods that should be Failed are to be marked again."""
    if not state.config.settings.mark_failed:
        return
    for app_id in state.applications.unplaced:
        for uid in state.applications.known[app_id].pods:
            since = state.pods.records[uid].membership.failing_since
            if since is not None:
                yield since + MARKED_APART


def mark_rejected(state: State) -> None:
    """Mark the pods of all rejected applications, if that is wanted; those that stay are marked again."""
    if not state.config.settings.mark_failed:
        return
    for app_id in sorted(state.applications.unplaced):
        application = state.applications.known[app_id]
        for uid in sorted(application.pods):
            tell(state, state.pods.records[uid], application)
