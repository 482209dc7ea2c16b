"""Gangs that do not come together: the timeout, and its consequence by style (GANG-15, GANG-16)."""

from core.ledger.admission.requests import request_cycle
from core.ledger.applications.lifecycle import fire, idle
from core.ledger.applications.rejection import EVENT, MARKED_APART, mark_failed
from core.ledger.gangs.release import originator_of, release_all, say
from core.ledger.gangs.reports import count_timed_out, note
from core.ledger.pods.reports import post
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.workload.application import Application
from core.workload.gangs.gang import GangStyle
from core.workload.gangs.phase import GangEvent, GangPhase
from core.workload.gangs.progress import GangProgress
from core.workload.states import STARTED, AppState, Move

TIMED_OUT = "ResourceReservationTimeout"
"""Reason of a gang's failure on its pods (APP-9)."""

PLACEHOLDER_TIMED_OUT = "PlaceholderTimeOut"

FAILED = "GangSchedulingFailed"
"""Reason of an Event about a gang (REST-17)."""


def run_out(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Handle the end of the placeholders' time (GANG-15, GANG-16)."""
    gang_progress.due = None
    if gang_progress.phase is GangPhase.RESERVING and application.state in STARTED:
        # Another scheduler placed one of its pods. What runs goes on.
        disband(state, application, gang_progress, elapsed_text(application))
    elif gang_progress.phase is GangPhase.RESERVING:
        time_out(state, application, gang_progress)
    else:
        for uid in sorted(application.holders):
            if not state.pods.records[uid].gang.yields_to:
                say(state, state.pods.records[uid], PLACEHOLDER_TIMED_OUT, "no member replaced it in time")
        release_all(state, application)


def time_out(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Time out a gang that did not come together. Its style decides the consequence (GANG-16)."""
    gang = application.gang
    hard = gang is not None and gang.policy.style is GangStyle.HARD
    gang_progress.move(GangEvent.TIMED_OUT_HARD if hard else GangEvent.TIMED_OUT_SOFT)
    gang_progress.failure, gang_progress.due = elapsed_text(application), None
    gang_progress.missing.clear()
    count_timed_out(state, GangStyle.HARD if hard else GangStyle.SOFT)
    fire(state, application, Move.FAIL if hard else Move.RESUME)
    first = originator_of(state, application)
    if first is not None:
        say(state, first, FAILED, f"{TIMED_OUT}: {gang_progress.failure}")
    for uid in sorted(application.holders):
        say(state, state.pods.records[uid], PLACEHOLDER_TIMED_OUT, "its gang was not complete in time")
    note(state, application, gang_progress)


def elapsed_text(application: Application) -> str:
    """Text of a timeout, with its length."""
    gang = application.gang
    return f"after {gang.policy.placeholder_timeout:g} s" if gang is not None else ""


def take_back_all(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Delete the placeholders first, then apply the style."""
    if application.holders or gang_progress.asked or gang_progress.made:
        release_all(state, application)
        return
    if gang_progress.phase is GangPhase.FAILING_NOTED:
        fire(state, application, Move.FAIL)
        _fail_members(state, gang_progress)
        return
    gang_progress.move(GangEvent.RELEASED)
    if application.state is AppState.RESUMING:
        # Its last pod may be deleted as well. Then the application completes already.
        fire(state, application, Move.RUN)
    resettle(state, gang_progress)


def _fail_members(state: State, gang_progress: GangProgress) -> None:
    """Mark the application's pods without a node as Failed (APP-9)."""
    message = f"{TIMED_OUT}: {gang_progress.failure}"
    for uid in sorted(gang_progress.waiting):
        record = state.pods.records[uid]
        if record.membership.failing_since is None:
            post(state, record, EVENT, message)
        mark_failed(state, record, TIMED_OUT, message)
    gang_progress.retry_at = state.now + MARKED_APART if gang_progress.waiting else None


def disband(state: State, application: Application, gang_progress: GangProgress, why: str) -> None:
    """Disband a gang, whatever its style."""
    gang_progress.move(GangEvent.DISBANDED)
    gang_progress.failure, gang_progress.due = why, None
    gang_progress.missing.clear()
    note(state, application, gang_progress)
    idle(state, application)
    resettle(state, gang_progress)


def resettle(state: State, gang_progress: GangProgress) -> None:
    """Settle the pods of a gang, because what they wait for has changed."""
    for uid in sorted(gang_progress.waiting):
        touch(state, state.pods.records[uid])
    request_cycle(state, CycleReason.GROUP_CHANGED)
