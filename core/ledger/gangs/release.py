"""Deletion of placeholders, and Events about gangs, for every step of a gang."""

from core.ids import NO_POD, AppId, PodUid
from core.instants import earliest
from core.ledger.effects import DeletePod
from core.ledger.gangs.due import touch_gang
from core.ledger.outcomes import Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import GANG_SCHEDULING, post
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.reasons import WAITS
from core.workload.application import Application
from core.workload.gangs.phase import GangEvent
from core.workload.gangs.progress import GangProgress, gang_progress_of

AGAIN = 2.0
"""Seconds until a failed request is repeated."""


def try_again(state: State, gang_progress: GangProgress, seconds: float = AGAIN) -> None:
    """Have failed requests repeated after some seconds."""
    gang_progress.retry_at = earliest(gang_progress.retry_at, state.now + seconds)


def release_all(state: State, application: Application) -> None:
    """Delete all placeholders that no member is replacing. Once, unless there is a new one."""
    gang_progress = application.gang_progress
    if gang_progress is None or gang_progress.swept or not state.acts:
        return
    gang_progress.swept = True
    for uid in sorted(application.holders):
        record = state.pods.records[uid]
        if not record.gang.yields_to:
            release(state, record)


def release(state: State, record: PodRecord) -> None:
    """Delete a placeholder. Requested once, and again if that failed."""
    if record.gang.released or record.facts.deleting or not state.acts:
        return
    record.gang.released = True
    touch(state, record)
    delete(state, record)


def forget_release(record: PodRecord) -> None:
    """Forget that the deletion of a placeholder was requested, because another instance did it."""
    record.gang.released = False


def delete(state: State, record: PodRecord) -> None:
    """Request the deletion of a placeholder."""
    facts = record.facts
    emit(
        state,
        DeletePod(facts.uid, facts.namespace, facts.name, at_once=True, purpose=Purpose.REPLACEMENT),
    )


def release_again(state: State, app_id: AppId, gang_progress: GangProgress) -> None:
    """Repeat a failed deletion after a while."""
    try_again(state, gang_progress)
    touch_gang(state, app_id)


def disperse(state: State, application: Application) -> None:
    """Delete the placeholders of an application that no queue takes any more, and end its gang (F-1)."""
    gang, refusal = application.gang, application.refusal
    waits = not application.id.recovered and (refusal is None or refusal.code in WAITS)
    if gang is None or application.gang_progress is not None or not application.holders or waits:
        return
    gang_progress = application.gang_progress = gang_progress_of(gang, lifetime=0.0, now=state.now)
    gang_progress.move(GangEvent.DISBANDED)
    gang_progress.failure = "no queue takes it"
    gang_progress.originator = owner_of(state, application)
    for uid in sorted(application.holders):
        progress = gang_progress.groups.get(state.pods.records[uid].facts.task_group)
        if progress is not None:
            progress.count += 1
        touch(state, state.pods.records[uid])
    touch_gang(state, application.id)


def left_over(state: State, application_id: AppId, record: PodRecord) -> None:
    """Count a deleted placeholder that no member was to replace as timed out (GANG-18)."""
    application = state.applications.known.get(application_id)
    gang_progress = application.gang_progress if application is not None else None
    progress = gang_progress.groups.get(record.facts.task_group) if gang_progress is not None else None
    if progress is not None:
        progress.timed_out += 1
    touch_gang(state, application_id)


def originator_of(state: State, application: Application) -> PodRecord | None:
    """Record of the originator of an application's gang, or None."""
    gang_progress = application.gang_progress
    return state.pods.records.get(gang_progress.originator) if gang_progress is not None else None


def owner_of(state: State, application: Application) -> PodUid:
    """Owner of the existing placeholders. For a new gang it is the first pod (GANG-2)."""
    owners = [state.pods.records[uid].facts.owner for uid in sorted(application.holders)]
    known = next((owner for owner in owners if owner), NO_POD)
    return known or (application.originator[2] if application.originator is not None else NO_POD)


def say(state: State, record: PodRecord, action: str, message: str, *, warning: bool = True) -> None:
    """Post an Event about a gang on one of its pods."""
    post(state, record, GANG_SCHEDULING, message, warning=warning, action=action)
