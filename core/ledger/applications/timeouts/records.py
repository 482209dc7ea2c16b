"""Records of execution time-outs on pods: which carry them, how they are written and believed (ACT-41)."""

from itertools import compress

from core.instants import has_come
from core.ledger import events as on
from core.ledger.applications.bars import may_be_of_daemon_set
from core.ledger.applications.timeouts.due import held_back, judge_later, latest_now
from core.ledger.gangs.release import AGAIN
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import write
from core.ledger.state.state import State
from core.workload.application import Application
from core.workload.ending import is_exempt
from core.workload.pod import EXECUTION, RUNNING_SINCE, PodFacts
from core.workload.states import AppState
from core.workload.timeouts.execution import (
    Execution,
    ExecutionRecord,
    execution_text,
    record_from,
    since_text,
)

CARRIED_BY = 2
"""Pods that carry the record once the originator is gone."""

REPEATED_AFTER = 10.0
"""Seconds after which a record is written again, if no report has shown it."""

_WRITES_AT_MOST = 3
"""Writes after which the end does not wait for the record any more."""


def carriers(state: State, application: Application) -> list[PodRecord]:
    """Pods that carry the record: the originator, or the two oldest live pods once it is gone.

    Placeholders come last, since Paddock deletes them.
    """
    first = application.originator
    if first is not None and first[2] in application.pods:
        return [state.pods.records[first[2]]]
    live = [state.pods.records[uid] for uid in application.pods]
    live.sort(key=lambda each: (each.facts.placeholder, each.facts.created, each.uid))
    return live[:CARRIED_BY]


def carry(state: State, application: Application, execution: Execution) -> None:
    """Have the record written on the pods that lack it, unless that was requested already."""
    wanted, settings = _wanted(application, execution), state.config.settings
    found = carriers(state, application) if state.acts and settings.records_protected and wanted else []
    missing = [each for each in found if wanted is not None and not _carries(each, wanted)]
    if wanted is None or not missing:
        execution.writing, execution.write_at, execution.unconfirmed = None, None, 0
        execution.confirmed = wanted if found else execution.confirmed
        return
    writing = tuple(each.uid for each in missing), wanted
    if execution.writing == writing and not has_come(execution.write_at or 0.0, now=state.now):
        return
    execution.unconfirmed = execution.unconfirmed + 1 if execution.writing == writing else 1
    execution.writing, execution.write_at = writing, state.now + REPEATED_AFTER
    for record in missing:
        entries = (RUNNING_SINCE, since_text(wanted)), (EXECUTION, execution_text(wanted))
        write(state, record, Purpose.EXECUTION, *entries)


def is_safe(state: State, application: Application, execution: Execution) -> bool:
    """True if a restart would find that the time is over, or if no pod can tell it."""
    confirmed = execution.confirmed
    if not state.config.settings.records_protected or not carriers(state, application):
        return True
    return execution.unconfirmed > _WRITES_AT_MOST or (
        confirmed is not None and confirmed.through == execution.through
    )


def note_execution_written(state: State, event: on.RecordWritten) -> None:
    """Note how writing a record ended. A failed write is repeated."""
    record = state.pods.records.get(event.uid)
    application = state.application_of(record) if record is not None else None
    execution = application.execution if application is not None else None
    if application is None or execution is None or execution.writing is None:
        return
    uids, wanted = execution.writing
    if event.uid in uids and event.reached:
        execution.confirmed = wanted
    elif event.uid in uids:
        execution.write_at = state.now + AGAIN
    judge_later(state, application.id)


def recover_execution(state: State, application: Application) -> None:
    """Find since when an application runs, after a start or when this instance begins to act.

    A record counts where no tenant could write it. Else the pods' own times count (ACT-41).
    """
    live = [state.pods.records[uid] for uid in application.pods]
    live.sort(key=lambda each: (each.facts.created, each.uid))
    believed = [found for each in live if (found := _believed(state, each)) is not None]
    if believed:
        first = believed[0]
        application.running_since = min(first.since, latest_now(state))
        execution = application.execution or Execution()
        execution.ends, execution.asked, execution.through = first.ends, first.asked, first.through
        application.execution = execution
        return
    own = [placed_at(state, each) for each in live if each.node and _tells_time(state, each)]
    if _was_ended_elsewhere(state, application) or _may_be_of_another(state, application):
        application.running_since, application.execution = None, None
        if application.state is AppState.RUNNING:
            own.append(latest_now(state))
    known = application.running_since
    application.running_since = min([*own, known] if known is not None else own, default=None)


def _was_ended_elsewhere(state: State, application: Application) -> bool:
    """True if its time was over before this instance acts. Its pods are those of a new application then."""
    execution = application.execution
    if execution is None or execution.ends is None or application.ends:
        return False
    return has_come(execution.ends, now=state.now - held_back(state))


def _may_be_of_another(state: State, application: Application) -> bool:
    """True if what this instance knows may be about an application of this id that has ended elsewhere.

    Its pods would carry a record, had the former leader known since when it runs, and none does. Without
    records, nothing tells an instance of the end of a time.
    """
    return bool(application.pods) or not state.config.settings.records_protected


def _tells_time(state: State, record: PodRecord) -> bool:
    """True for a pod that would go with its application.

    One that stays, or is leaving already, may be older than the application is.
    """
    facts = record.facts
    exempt = is_exempt(facts, of_daemon_set=may_be_of_daemon_set(state, record))
    return not (facts.placeholder or facts.deleting or exempt)


def heard_through(state: State, application: Application) -> float | None:
    """Creation of the youngest pod at the end of the time, as another acting instance has recorded it."""
    return None if state.acts else recorded_through(state, application)


def recorded_through(state: State, application: Application) -> float | None:
    """Creation of the youngest pod at the end of the time, by the record on a pod. None without any."""
    if not state.config.settings.records_protected:
        return None
    facts = (state.pods.records[uid].facts for uid in sorted(application.pods))
    found = (record_from(each.running_since, each.execution) for each in facts if each.running_since)
    return next((each.through for each in found if each is not None and each.through is not None), None)


def placed_at(state: State, record: PodRecord) -> float:
    """Time at which a pod got its node, in seconds since the epoch, as far as a restart can tell."""
    if record.facts.scheduled_at:
        return record.facts.scheduled_at
    # The watch has not shown its Binding yet, or its author named the node.
    own = record.placement.placed_at or state.now
    return own if record.placement.bound_to else record.facts.created


def withdraw_record(state: State, record: PodRecord, former: Application) -> None:
    """Take the record of an application that has ended off a pod that outlives it.

    ``former``: that application. A record that is being written is taken off, too.
    """
    writing = former.execution.writing if former.execution is not None else None
    is_requested = writing is not None and record.uid in writing[0]
    if is_requested or record.facts.running_since or record.facts.execution:
        write(state, record, Purpose.WITHDRAWAL, (RUNNING_SINCE, None), (EXECUTION, None))


def execution_records_of(facts: PodFacts) -> tuple[str, ...]:
    """Annotations of a record on a pod."""
    return tuple(compress((RUNNING_SINCE, EXECUTION), (facts.running_since, facts.execution)))


def _wanted(application: Application, execution: Execution) -> ExecutionRecord | None:
    """Record that pods are to carry. None while nothing was ever to be recorded."""
    since = application.running_since
    if since is None or (execution.ends is None and execution.confirmed is None):
        return None
    return ExecutionRecord(since, execution.ends, execution.asked, execution.through)


def _carries(record: PodRecord, wanted: ExecutionRecord) -> bool:
    known = record.facts.running_since, record.facts.execution
    return known == (since_text(wanted), execution_text(wanted) or "")


def _believed(state: State, record: PodRecord) -> ExecutionRecord | None:
    facts = record.facts
    if not (state.config.settings.records_protected and record.seen.trusted and facts.running_since):
        return None
    return record_from(facts.running_since, facts.execution)
