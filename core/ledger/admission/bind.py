"""Effects of a bind call and its outcome on a pod's record (DESIGN-3)."""

from core.ledger import events as on
from core.ledger.podgroups.attempt import note_arrival
from core.ledger.podgroups.membership import unopened
from core.ledger.pods.belief import believe_binding
from core.ledger.pods.binding import begin_binding, end_binding, note_bound, note_readmitted, note_unanswered
from core.ledger.pods.record import PodRecord
from core.ledger.pods.update import time_runs
from core.ledger.state.state import State
from core.ledger.usage.reservations import give_back, reserve, run_or_stop
from core.workload.ask import Reservation


def note_bind(state: State, event: on.BindCalled | on.PodBound | on.BindFailed) -> PodRecord | None:
    """Note a bind call or its outcome. Return the record of the pod, or None if it was deleted."""
    record = state.pods.records.get(event.uid)
    if record is None:
        return None
    if isinstance(event, on.BindCalled):
        _note_call(state, record, event)
    elif isinstance(event, on.PodBound):
        give_back(state, record)
        note_bound(record, event.node)
        believe_binding(state, record)
    else:
        _end_bind(state, record, certain=event.certain)
    return record


def admit_again(state: State, record: PodRecord, whole: Reservation) -> None:
    """Note that filter admitted a pod during its bind call. The new reservation outlives that call."""
    note_readmitted(record)
    reserve(state, record, whole)


def _note_call(state: State, record: PodRecord, event: on.BindCalled) -> None:
    group = unopened(state, record) if event.waits else None
    begin_binding(record, event.node, waits=group is not None)
    run_or_stop(state, record, runs=False)
    if group is not None:
        note_arrival(state, group)


def _end_bind(state: State, record: PodRecord, *, certain: bool) -> None:
    end_binding(record)
    if certain and not record.placement.readmitted:
        give_back(state, record)
    else:
        if not certain:
            note_unanswered(record)
        run_or_stop(state, record, runs=time_runs(record))
