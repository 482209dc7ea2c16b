"""Lifecycle of gangs: from the first placeholder to the start or the timeout (GANG-4 to 9, 15 to 17).

A gang is checked when something about its pods has changed (`advance`), and when its timer expires. Each
check does what is due and may be repeated without harm. So a restart continues from the objects: the
placeholders, whose names follow from the gang, and a note on the originator.
"""

from core.instants import has_come
from core.ledger.applications.lifecycle import fire, run
from core.ledger.gangs.creation import create_missing, forget_made, list_missing
from core.ledger.gangs.due import arm, disarm, gangs_whose_time_has_come, take_touched_gangs, touch_gang
from core.ledger.gangs.failure import disband, elapsed_text, resettle, run_out, take_back_all, time_out
from core.ledger.gangs.matching import close, line_up, link_members, link_next, time_line, touch_elsewhere
from core.ledger.gangs.open_slots import check_slots
from core.ledger.gangs.release import delete, disperse, originator_of, owner_of, release_all, say, try_again
from core.ledger.gangs.reports import count_started, note
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.workload.application import Application
from core.workload.gangs.gang import Gang
from core.workload.gangs.phase import GangEvent, GangPhase
from core.workload.gangs.progress import GangProgress, gang_progress_of
from core.workload.states import Move

COMPLETE, ELAPSED = "GangReservationComplete", "PlaceholderTimeout"
"""Reasons of Events about a gang (REST-17)."""

_SHORTEST = 0.001


def begin(state: State, application: Application) -> None:
    """Begin the gang of an application that has its queue, or continue it after a restart (GANG-20)."""
    gang = application.gang
    if application.id.recovered or application.queue is None:
        disperse(state, application)
        return
    if gang is None or application.gang_progress is not None or application.ends:
        return
    lifetime = max(_SHORTEST, gang.policy.placeholder_timeout - (state.now - application.submitted))
    gang_progress = application.gang_progress = gang_progress_of(gang, lifetime=lifetime, now=state.now)
    gang_progress.originator = owner_of(state, application)
    for uid in sorted(application.holders):
        progress = gang_progress.groups.get(state.pods.records[uid].facts.task_group)
        if progress is not None:
            progress.count += 1
    _take_up(state, application, gang_progress)
    if gang_progress.phase is GangPhase.RESERVING and _is_elapsed(state, application, gang):
        first = originator_of(state, application)
        if first is not None:
            say(state, first, ELAPSED, "the gang's time was over before its placeholders were created")
    elif gang_progress.phase is GangPhase.RESERVING:
        list_missing(state, application, gang_progress)
        if application.holding:
            gang_progress.due = state.now + gang_progress.lifetime
    touch_gang(state, application.id)


def begin_all(state: State) -> None:
    """Continue all gangs, because all pods have been seen."""
    for app_id in sorted(state.applications.known):
        application = state.applications.known[app_id]
        begin(state, application)
        if application.gang_progress is not None:
            for uid in sorted(application.pods):
                touch(state, state.pods.records[uid])


def _take_up(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Take up the phase of a gang that had begun before a restart (GANG-5, GANG-20)."""
    first = originator_of(state, application)
    noted = first.facts.gang_noted if first is not None and first.seen.trusted else ""
    members = [state.pods.records[uid] for uid in sorted(application.pods - application.holders)]
    if noted in (GangPhase.ORDINARY.shown, GangPhase.FAILING.shown):
        soft = noted == GangPhase.ORDINARY.shown
        gang_progress.move(GangEvent.FOUND_RESUMING if soft else GangEvent.FOUND_FAILING)
        gang_progress.failure = elapsed_text(application)
        fire(state, application, Move.RESUME if soft else Move.FAIL)
    elif noted == GangPhase.STARTED.shown or any(each.node or each.gang.slot for each in members):
        gang_progress.move(GangEvent.FOUND_STARTED)
        gang_progress.due = state.now + gang_progress.lifetime if application.holders else None
        _recount(gang_progress, members)
        run(state, application)


def _recount(gang_progress: GangProgress, members: list[PodRecord]) -> None:
    """Recount the replaced placeholders by their members that live. All others count as timed out."""
    for member in members:
        progress = gang_progress.groups.get(member.facts.task_group)
        if progress is not None and member.facts.replaces and member.node:
            progress.replaced += 1
    for progress in gang_progress.groups.values():
        taking = sum(each.gang.slot is not None and not each.node for each in members)
        seen = progress.count + progress.replaced
        progress.count = max(progress.needed, seen)
        progress.timed_out = max(0, progress.needed - seen - taking)


def _is_elapsed(state: State, application: Application, gang: Gang) -> bool:
    """True if its time was over before the first placeholder, so that none is created (GANG-17)."""
    return 0 < gang.policy.timeout <= state.now - application.submitted and not application.holders


# -- checks of a gang --------------------------------------------------------------------------------------


def advance(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Do what is due for a gang, except replacement; see `core.ledger.gangs.replacement`."""
    if gang_progress.note_at is not None and has_come(gang_progress.note_at, now=state.now):
        gang_progress.note_at = None
        if state.acts:
            note(state, application, gang_progress)
    if gang_progress.due is not None and has_come(gang_progress.due, now=state.now):
        run_out(state, application, gang_progress)
    if gang_progress.phase is GangPhase.RESERVING:
        _reserve(state, application, gang_progress)
    if gang_progress.phase in (GangPhase.RESUMING_NOTED, GangPhase.FAILING_NOTED):
        take_back_all(state, application, gang_progress)
    if gang_progress.phase is GangPhase.ORDINARY or gang_progress.left:
        release_all(state, application)


def _reserve(state: State, application: Application, gang_progress: GangProgress) -> None:
    if gang_progress.complete:
        _start(state, application, gang_progress)
    elif len(application.pods) == len(application.holders):
        # No pod is left for which capacity could be held. The originator owned the placeholders (GANG-21).
        disband(state, application, gang_progress, "none of its pods is left")
    elif not (application.holders or gang_progress.missing or gang_progress.asked or gang_progress.made):
        time_out(state, application, gang_progress)
    else:
        create_missing(state, application, gang_progress)


def _start(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Start a gang: all placeholders have their nodes, so members may replace them (GANG-9)."""
    gang_progress.move(GangEvent.COMPLETED)
    gang_progress.started_at = state.now
    count_started(state, seconds=state.now - gang_progress.begun_at)
    gang_progress.missing.clear()
    first = originator_of(state, application)
    if first is not None:
        say(state, first, COMPLETE, "all placeholders have their nodes", warning=False)
    note(state, application, gang_progress)
    run(state, application)
    resettle(state, gang_progress)


def advance_all(state: State) -> Rounds:
    """Check every gang in which something has changed, and continue with the gangs in line."""
    yield from _advance_touched(state)
    while link_next(state):
        yield from link_members(state)
        yield from _advance_touched(state)
    time_line(state)


def _advance_touched(state: State) -> Rounds:
    for app_id in take_touched_gangs(state):
        application = state.applications.known.get(app_id)
        if application is None or application.gang_progress is None:
            disarm(state, app_id)
            continue
        gang_progress = application.gang_progress
        advance(state, application, gang_progress)
        yield
        if gang_progress.phase is GangPhase.STARTED:
            close(state, gang_progress)
            yield
            line_up(state, application, gang_progress)
        arm(state, application, gang_progress)


def retry_members_elsewhere(state: State) -> Rounds:
    """Retry members that no node took, because capacity was freed. They go before waiting asks (APP-18)."""
    touch_elsewhere(state)
    yield from advance_all(state)


def gangs_due(state: State) -> Rounds:
    """Check gangs whose timer expired, and members whose slot is open."""
    for app_id in gangs_whose_time_has_come(state):
        application = state.applications.known[app_id]
        if (gang_progress := application.gang_progress) is None:
            continue
        touch_gang(state, app_id)
        if gang_progress.backs_off_until is not None and has_come(
            gang_progress.backs_off_until, now=state.now
        ):
            gang_progress.backs_off_until = None
        if gang_progress.retry_at is not None and has_come(gang_progress.retry_at, now=state.now):
            _repeat(state, application, gang_progress)
    yield from check_slots(state)


def _repeat(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Repeat requests that failed or were not answered."""
    gang_progress.retry_at = None
    forget_made(state, gang_progress)
    if not state.acts:
        return
    for uid in sorted(application.holders):
        record = state.pods.records[uid]
        member = state.pods.records.get(record.gang.yields_to)
        asked = record.gang.released or (member is not None and bool(member.facts.replaces))
        if asked and not record.facts.deleting and record.preemption.eviction is None:
            delete(state, record)
            try_again(state, gang_progress)
