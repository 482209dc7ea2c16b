"""Failures that kube-scheduler writes on a pod, and their effect on its turn and reservation."""

from core.ids import NO_NODE
from core.ledger.admission.answers import believe_refused
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import return_turn
from core.ledger.gangs.slots import note_tried
from core.ledger.node_reservation.reservation import release_node
from core.ledger.podgroups.attempt import found_no_place
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.usage.reservations import expect_on, shorten
from core.reasons import contains_refusal, contradicts_turn
from core.workload.pod import PodFacts

FAILED_ELSEWHERE = 2.0
"""Seconds left to a reservation after kube-scheduler reported a failure that was not a refusal by Paddock."""


def note_refusal(state: State, record: PodRecord, facts: PodFacts) -> None:
    """Note a refusal by a former process, or by the acting instance.

    Only a wake-up by Paddock makes kube-scheduler try such a pod again.
    """
    if record.admission.sent is None and not record.admission.refused and contains_refusal(facts.unscheduled):
        believe_refused(record)
        request_cycle(state, CycleReason.POD_ARRIVED)


def note_failure(state: State, record: PodRecord, facts: PodFacts) -> None:
    """Handle a new failure text that is not a refusal by Paddock.

    No node takes an ask that was admitted, or that has a turn. An attempt that broke off says nothing about
    nodes, so its turn and its reserved node stay. It may be one that found no process to ask, before this
    one began.
    """
    text = facts.unscheduled
    ours = record.admission.sent is not None and record.admission.sent.text in text
    if not text or text == record.facts.unscheduled or ours:
        return
    if record.admission.reservation is not None and facts.version > record.admission.reservation.version:
        shorten(state, record, FAILED_ELSEWHERE)
    note_tried(record, now=state.now)
    if record.is_unguarded and not record.is_gated:
        _note_failure_unguarded(state, record)
    if facts.attempt_broke_off or _may_predate_turn(state, record, text):
        return
    group = unopened(state, record)
    if group is None:
        return_turn(state, record, found_no_place=True)
    elif record.uid in state.turns.of:
        found_no_place(state, record, group)


def _note_failure_unguarded(state: State, record: PodRecord) -> None:
    """Release the node of an unguarded pod. Its quota stays charged (F-2)."""
    expect_on(record, NO_NODE)
    if not record.preemption.triggered:
        release_node(state, record)


def _may_predate_turn(state: State, record: PodRecord, text: str) -> bool:
    """True if a failure may come from an attempt that saw the capacity before the turn.

    kube-scheduler tries the pod again after such an attempt. If it names the same obstacles again, the API
    shows no change, and the turn ends with its lease.
    """
    if record.uid not in state.turns.of:
        return False
    # An attempt may be under way when the pod is woken, and its failure may be written after that.
    # kube-scheduler may also hear of the wake-up before it hears of the deleted pod.
    return record.admission.waking or record.uid in state.turns.unwoken or contradicts_turn(text)
