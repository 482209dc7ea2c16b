"""Effects of a bind call and its outcome on a pod's record (design section 3)."""

from core.ids import NO_NODE
from core.ledger import events as on
from core.ledger.podgroups.attempt import note_arrival
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.doubts import note_binding
from core.ledger.pods.record import PodRecord
from core.ledger.pods.update import time_runs
from core.ledger.state.state import State
from core.ledger.usage.reservations import give_back, reserve, run_or_stop
from core.workload.ask import Reservation


def note_bind(state: State, event: on.BindCalled | on.PodBound | on.BindFailed) -> PodRecord | None:
    """Note a bind call or its outcome, and return the record of its pod. None if the pod is gone."""
    record = state.pods.records.get(event.uid)
    if record is None:
        return None
    match event:
        case on.BindCalled():
            _note_call(state, record, event)
        case on.PodBound(_, node):
            give_back(state, record)
            record.placement.bound_to, record.placement.binding = node, NO_NODE
            record.placement.waits_bind, record.seen.vouched_in = False, state.pods.lists_begun
            note_binding(state, record)
        case on.BindFailed(_, certain):
            _end_bind(state, record, certain=certain)
    return record


def admit_again(state: State, record: PodRecord, whole: Reservation) -> None:
    """Note that filter admitted a pod whose bind call is open: what it promises now outlives that call."""
    record.placement.readmitted = True
    reserve(state, record, whole)


def _note_call(state: State, record: PodRecord, event: on.BindCalled) -> None:
    group = unopened(state, record) if event.waits else None
    record.placement.binding, record.placement.waits_bind = event.node, group is not None
    record.placement.readmitted = False
    run_or_stop(state, record, runs=False)
    if group is not None:
        note_arrival(state, group)


def _end_bind(state: State, record: PodRecord, *, certain: bool) -> None:
    record.placement.binding, record.placement.waits_bind = NO_NODE, False
    if certain and not record.placement.readmitted:
        give_back(state, record)
    else:
        run_or_stop(state, record, runs=time_runs(record))
