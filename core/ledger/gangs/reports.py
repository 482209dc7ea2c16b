"""Reports of the outcome of gangs: the note on the originator, and the counters."""

from core.ledger import events as on
from core.ledger.gangs.due import touch_gang
from core.ledger.gangs.release import AGAIN, originator_of
from core.ledger.outcomes import Purpose
from core.ledger.pods.reports import write
from core.ledger.state.state import State
from core.workload.application import Application
from core.workload.gangs.gang import GangStyle
from core.workload.gangs.phase import GangEvent, GangPhase
from core.workload.gangs.progress import GangProgress
from core.workload.pod import GANG

NOTED_WITHIN = 10.0
"""Seconds after which the outcome of a gang is written on its originator again, if there was no answer."""


def note(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Write the outcome of a gang on its originator, if there is one."""
    first = originator_of(state, application)
    if first is None:
        _written(gang_progress)
        return
    gang_progress.note_at = state.now + NOTED_WITHIN
    noted = GangPhase.ORDINARY if gang_progress.phase is GangPhase.RESUMING else gang_progress.phase
    write(state, first, Purpose.GANG_PHASE, (GANG, noted.shown))


def _written(gang_progress: GangProgress) -> None:
    """Note that the outcome of a gang is on its originator, or that there is no originator."""
    gang_progress.note_at = None
    if gang_progress.phase in (GangPhase.RESUMING, GangPhase.FAILING):
        gang_progress.move(GangEvent.WRITTEN)


def note_phase_written(state: State, event: on.RecordWritten) -> None:
    """Note how writing the outcome of a gang ended. A failed write is repeated."""
    record = state.pods.records.get(event.uid)
    application = state.application_of(record) if record is not None else None
    gang_progress = application.gang_progress if application is not None else None
    if application is None or gang_progress is None:
        return
    if event.reached:
        _written(gang_progress)
    elif gang_progress.note_at is not None:
        gang_progress.note_at = state.now + AGAIN
    touch_gang(state, application.id)


def count_started(state: State, *, seconds: float) -> None:
    """Count a gang that has started, with the time that it took."""
    state.gangs.tally.started += 1
    state.gangs.tally.seconds += seconds


def count_refused(state: State) -> None:
    """Count a gang of which the API server refused a placeholder."""
    state.gangs.tally.refused += 1


def count_timed_out(state: State, style: GangStyle) -> None:
    """Count a gang that timed out, by its style."""
    state.gangs.tally.timed_out[style.value] = state.gangs.tally.timed_out.get(style.value, 0) + 1


def count_replaced(state: State) -> None:
    """Count a placeholder that a member has replaced."""
    state.gangs.tally.replaced += 1


def count_cancelled(state: State) -> None:
    """Count a replacement that came to nothing."""
    state.gangs.tally.cancelled += 1
