"""Pods that kube-scheduler may place without a filter call, and reports about them.

Two cases are reported: a pod without a node although nothing of Paddock holds it (F-2), and a pod that was
never admitted (F-7). `core.ledger.charge` says what such a pod is charged.
"""

from itertools import islice

from core.ids import PodUid
from core.ledger.admission.gate_status import end_opening
from core.ledger.pods.record import Held, PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, is_due, set_timer
from core.ledger.state.timers import TimerKind

UNPLACED_AFTER = 300.0
"""Seconds after which a pod without a node that waits for nothing of Paddock is reported."""

REPORTED_AT_ONCE = 20
"""Reports of one kind in one event, at most, because any user may create thousands of such pods."""

UNPLACED = "AdmittedNotPlaced"
BYPASSED = "AdmissionBypassed"
"""Reasons of Events."""


def file_unguarded(state: State, record: PodRecord) -> None:
    """Bring the index in line with what is now known of a pod."""
    filed, uid = state.unguarded, record.uid
    if record.facts.gate_opened and not record.is_gated:
        end_opening(record)
    if not (record.membership.managed and record.is_unguarded):
        if uid in filed.placing or uid in filed.unplaced:
            forget_unguarded(state, uid)
        return
    if record.bypasses:
        _note_bypass(state, record)
    if uid not in filed.unplaced and uid not in filed.placing:
        filed.placing[uid] = None
        set_timer(state, TimerKind.UNPLACED, uid, state.now + UNPLACED_AFTER)


def forget_unguarded(state: State, uid: PodUid, *, deleted: bool = False) -> None:
    """Drop a pod that is placed or no ask any more. A bypass is still reported while the pod lives.

    A standby reports none. The acting instance reports before a standby could replace it.
    """
    if uid in state.unguarded.placing:
        _end_placing(state, uid)
    state.unguarded.unplaced.pop(uid, None)
    if (deleted or not state.acts) and uid in state.unguarded.bypasses:
        _end_bypass(state, uid)


def _end_placing(state: State, uid: PodUid) -> None:
    del state.unguarded.placing[uid]
    cancel_timer(state, TimerKind.UNPLACED, uid)


def _end_bypass(state: State, uid: PodUid) -> None:
    del state.unguarded.bypasses[uid]
    cancel_timer(state, TimerKind.UNADMITTED, uid)


def note_unadmitted(state: State, record: PodRecord) -> None:
    """Note a pod that has a node without an admission by filter: it bypassed its queue (F-7).

    For a pod from before this instance began to act, another instance may know more. A pod first seen on a
    node was forced there, which is handled elsewhere (F-1).
    """
    charge = state.usage.charges.get(record.uid)
    was_pending = charge is not None and charge.held is Held.PENDING
    if (
        was_pending
        and state.acts
        and record.facts.asks_filter
        and not (record.seen.trusted or record.admission.let_through)
    ):
        _note_bypass(state, record)


def _note_bypass(state: State, record: PodRecord) -> None:
    if not record.admission.bypass_noted:
        record.admission.bypass_noted = True
        state.unguarded.bypasses[record.uid] = None
        set_timer(state, TimerKind.UNADMITTED, record.uid, state.now)


def report_unguarded(state: State) -> None:
    """Report bypasses, and pods that kube-scheduler has not placed in time, a bounded number at a time."""
    if stopped_reports(state):
        return
    filed = state.unguarded
    for uid in list(islice(filed.bypasses, REPORTED_AT_ONCE)):
        _end_bypass(state, uid)
        filed.reported += 1
        _report_bypass(state, state.pods.records[uid])
    # In the order of their timers.
    for uid in list(islice(filed.placing, REPORTED_AT_ONCE)):
        if not is_due(state, TimerKind.UNPLACED):
            return
        _end_placing(state, uid)
        filed.unplaced[uid] = None
        _report_delay(state, state.pods.records[uid])


def _report_bypass(state: State, record: PodRecord) -> None:
    text = "has a node" if record.node else "may be given a node at any moment"
    post(
        state,
        record,
        BYPASSED,
        f"{text} without admission to {_queue(state, record)}; its resources count there,"
        " and no pod is admitted while the queue is over its max",
    )


def _report_delay(state: State, record: PodRecord) -> None:
    post(
        state,
        record,
        UNPLACED,
        f"was admitted {UNPLACED_AFTER:g} s ago and kube-scheduler has not placed it;"
        f" it holds quota of {_queue(state, record)} until it has a node or is deleted",
    )


def _queue(state: State, record: PodRecord) -> str:
    application = state.application_of(record)
    return f"queue {application.queue}" if application is not None and application.queue else "a queue"


def stopped_reports(state: State) -> tuple[TimerKind, ...]:
    """Kinds of reports that are not made now: all, unless this instance acts and has seen all pods."""
    return () if state.acts and state.pods.listed else (TimerKind.UNADMITTED, TimerKind.UNPLACED)
