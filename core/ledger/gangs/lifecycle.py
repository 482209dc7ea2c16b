"""Gangs on their way: from the first placeholder to the start, or to the time-out (GANG-4 to 9, 15 to 17).

A gang is looked at whenever something about its pods has changed (`advance`), and when its time has come.
Each look does what is to be done now and is harmless when repeated, so that a restart goes on from what is
on the objects: the placeholders, whose names follow from the gang, and a note on the originator.
"""

from itertools import islice

from core.instants import has_come
from core.ledger import events as on
from core.ledger.admission.requests import request_cycle
from core.ledger.applications.lifecycle import fire, idle, run
from core.ledger.applications.rejection import EVENT, MARKED_APART, mark_failed
from core.ledger.effects import CreatePlaceholder
from core.ledger.gangs.due import touch_gang
from core.ledger.gangs.release import AGAIN, disperse, originator_of, owner_of, release_all, say, try_again
from core.ledger.outcomes import CreationOutcome, Purpose
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post, write
from core.ledger.state.admission import CycleReason
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.ledger.touched import touch
from core.workload.application import Application
from core.workload.gangs.gang import Gang, GangStyle, Originator
from core.workload.gangs.phase import GangEvent, GangPhase
from core.workload.gangs.progress import GangProgress, gang_progress_of, names_of
from core.workload.pod import GANG, OWN_GATE
from core.workload.states import STARTED, AppState, Move

TIMED_OUT = "ResourceReservationTimeout"
"""What a gang's failure is called on its pods (APP-9)."""

CREATING, COMPLETE = "CreatingPlaceholders", "GangReservationComplete"
ELAPSED, PLACEHOLDER_TIMED_OUT = "PlaceholderTimeout", "PlaceholderTimeOut"
CREATE_FAILED, FAILED = "PlaceholderCreateFailed", "GangSchedulingFailed"
"""What is done to a gang, as Events name it (REST-17)."""

ASKED_AT_MOST = 100
"""Placeholders of one gang that are being created at the same time."""

SHOWN_WITHIN = 10.0
"""Seconds from the creation of a placeholder to the moment when the watch shows it, at most."""

NOTED_WITHIN = 10.0
"""Seconds until what has become of a gang, and was written on its originator, is written again unanswered."""

_SHORTEST = 0.001


def begin(state: State, application: Application) -> None:
    """A gang has its queue: it begins, or goes on after a restart (GANG-20)."""
    gang = application.gang
    if application.id.recovered or application.queue is None:
        disperse(state, application)
        return
    if gang is None or application.gang_progress is not None:
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
            say(state, first, ELAPSED, "its time was over before its placeholders were made")
    elif gang_progress.phase is GangPhase.RESERVING:
        _list_missing(state, application, gang_progress)
        if application.holding:
            gang_progress.due = state.now + gang_progress.lifetime
    touch_gang(state, application.id)


def begin_all(state: State) -> None:
    """All pods have been seen: whatever gangs there are go on."""
    for app_id in sorted(state.applications.known):
        application = state.applications.known[app_id]
        begin(state, application)
        if application.gang_progress is not None:
            for uid in sorted(application.pods):
                touch(state, state.pods.records[uid])


def _take_up(state: State, application: Application, gang_progress: GangProgress) -> None:
    """What is known already of a gang that had begun before (GANG-5, GANG-20)."""
    first = originator_of(state, application)
    noted = first.facts.gang_noted if first is not None and first.seen.believed else ""
    members = [state.pods.records[uid] for uid in sorted(application.pods - application.holders)]
    if noted in (GangPhase.ORDINARY.shown, GangPhase.FAILING.shown):
        soft = noted == GangPhase.ORDINARY.shown
        gang_progress.move(GangEvent.FOUND_RESUMING if soft else GangEvent.FOUND_FAILING)
        gang_progress.failure = _words(application)
        fire(state, application, Move.RESUME if soft else Move.FAIL)
    elif noted == GangPhase.STARTED.shown or any(each.node or each.gang.slot for each in members):
        gang_progress.move(GangEvent.FOUND_STARTED)
        gang_progress.due = state.now + gang_progress.lifetime if application.holders else None
        _recount(gang_progress, members)
        run(state, application)


def _recount(gang_progress: GangProgress, members: list[PodRecord]) -> None:
    """How many were replaced shows on those that live; the others count as timed out."""
    for member in members:
        progress = gang_progress.groups.get(member.facts.task_group)
        if progress is not None and member.facts.replaces and member.node:
            progress.replaced += 1
    for progress in gang_progress.groups.values():
        taking = sum(each.gang.slot is not None and not each.node for each in members)
        seen = progress.count + progress.replaced
        progress.count = max(progress.needed, seen)
        progress.timed_out = max(0, progress.needed - seen - taking)


def _list_missing(state: State, application: Application, gang_progress: GangProgress) -> None:
    first = originator_of(state, application)
    if first is None:
        return
    there = {state.pods.records[uid].facts.name for uid in application.holders}
    for progress in gang_progress.groups.values():
        names = names_of(application.id, first.uid, progress.group)
        gang_progress.missing |= {each: progress.group for each in names if each not in there}
    if gang_progress.missing:
        say(state, first, CREATING, f"{len(gang_progress.missing)} placeholders", warning=False)


def _is_elapsed(state: State, application: Application, gang: Gang) -> bool:
    """Whether its time was over before there was any placeholder: there will be none (GANG-17)."""
    return 0 < gang.policy.timeout <= state.now - application.submitted and not application.holders


# -- looking at a gang -------------------------------------------------------------------------------------


def advance(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Do what is to be done now, unless it is the taking over; see `core.ledger.gangs.replacement`."""
    if gang_progress.note_at is not None and has_come(gang_progress.note_at, now=state.now):
        gang_progress.note_at = None
        if state.acts:
            note(state, application, gang_progress)
    if gang_progress.due is not None and has_come(gang_progress.due, now=state.now):
        _run_out(state, application, gang_progress)
    if gang_progress.phase is GangPhase.RESERVING:
        _reserve(state, application, gang_progress)
    if gang_progress.phase in (GangPhase.RESUMING_NOTED, GangPhase.FAILING_NOTED):
        _take_back(state, application, gang_progress)
    if gang_progress.phase is GangPhase.ORDINARY or gang_progress.left:
        release_all(state, application)


def _reserve(state: State, application: Application, gang_progress: GangProgress) -> None:
    if gang_progress.complete:
        _start(state, application, gang_progress)
    elif len(application.pods) == len(application.holders):
        # Nobody is left for whom room could be held; the originator owned the placeholders (GANG-21).
        _disband(state, application, gang_progress, "none of its pods is left")
    elif not (application.holders or gang_progress.missing or gang_progress.asked or gang_progress.made):
        _time_out(state, application, gang_progress)
    else:
        _create(state, application, gang_progress)


def _start(state: State, application: Application, gang_progress: GangProgress) -> None:
    """All placeholders have their nodes: members may take them over now (GANG-9)."""
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


def count_taken_over(state: State) -> None:
    """Count a placeholder that a member has replaced."""
    state.gangs.tally.taken_over += 1


def count_cancelled(state: State) -> None:
    """Count a replacement that came to nothing."""
    state.gangs.tally.cancelled += 1


def note(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Write on the originator what has become of its gang; if there is none, nobody needs to know."""
    first = originator_of(state, application)
    if first is None:
        _written(gang_progress)
        return
    gang_progress.note_at = state.now + NOTED_WITHIN
    noted = GangPhase.ORDINARY if gang_progress.phase is GangPhase.RESUMING else gang_progress.phase
    write(state, first, Purpose.GANG_PHASE, (GANG, noted.shown))


def _written(gang_progress: GangProgress) -> None:
    """What has become of a gang is on its originator, if that is still there."""
    gang_progress.note_at = None
    if gang_progress.phase in (GangPhase.RESUMING, GangPhase.FAILING):
        gang_progress.move(GangEvent.WRITTEN)


def note_phase_written(state: State, event: on.RecordWritten) -> None:
    """What has become of a gang is on its originator by now, or it is tried again."""
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


def resettle(state: State, gang_progress: GangProgress) -> None:
    """What its pods wait for has changed."""
    for uid in sorted(gang_progress.waiting):
        touch(state, state.pods.records[uid])
    request_cycle(state, CycleReason.GROUP_CHANGED)


# -- making placeholders -----------------------------------------------------------------------------------


def _create(state: State, application: Application, gang_progress: GangProgress) -> None:
    first, gang = originator_of(state, application), application.gang
    if gang is None or not gang_progress.missing or not state.acts or gang_progress.rests_until is not None:
        return
    if first is None:
        gang_progress.missing.clear()
        return
    originator, namespace, queue = _originator_from(first), first.facts.namespace, application.requested
    for name in list(islice(gang_progress.missing, ASKED_AT_MOST - len(gang_progress.asked))):
        group = gang_progress.asked[name] = gang_progress.missing.pop(name)
        emit(state, CreatePlaceholder(application.id, namespace, name, queue, group, gang, originator))


def _originator_from(record: PodRecord) -> Originator:
    facts = record.facts
    return Originator(
        facts.uid,
        facts.name,
        facts.scheduler_name,
        facts.priority_class,
        facts.pull_secrets,
        facts.markers,
        OWN_GATE in facts.gates,
        facts.labels,
        facts.gang_annotations,
        facts.constraints.tolerations,
    )


def note_created(state: State, event: on.PlaceholderCreated) -> None:
    """How the creation of a placeholder has ended. One that nobody wants is taken back when it shows."""
    application = state.applications.known.get(event.app)
    gang_progress = application.gang_progress if application is not None else None
    if application is None or gang_progress is None or event.name not in gang_progress.asked:
        return
    group = gang_progress.asked.pop(event.name)
    touch_gang(state, application.id)
    match event.outcome:
        case CreationOutcome.DONE:
            if not _is_there(state, application, event.name):
                gang_progress.made[event.name] = state.now
                try_again(state, gang_progress, SHOWN_WITHIN)
        case CreationOutcome.FAILED:
            gang_progress.missing[event.name] = group
            gang_progress.rests_until = state.now + AGAIN
        case CreationOutcome.REFUSED if gang_progress.phase is GangPhase.RESERVING:
            _fail_creation(state, application, gang_progress, event.why)
        case _:
            pass


def _is_there(state: State, application: Application, name: str) -> bool:
    known = state.pods.by_name.get((application.namespace, name), ())
    return any(uid in application.holders for uid in known)


def forget_made(state: State, gang_progress: GangProgress) -> None:
    """Those that no watch shows have gone again."""
    for name, at in list(gang_progress.made.items()):
        if has_come(at + SHOWN_WITHIN, now=state.now):
            del gang_progress.made[name]
        else:
            try_again(state, gang_progress, SHOWN_WITHIN)


def _fail_creation(state: State, application: Application, gang_progress: GangProgress, why: str) -> None:
    """One that the API server does not take: the application is placed without its gang (GANG-4)."""
    first = originator_of(state, application)
    count_refused(state)
    if first is not None:
        say(state, first, CREATE_FAILED, why)
    _disband(state, application, gang_progress, why)


def _disband(state: State, application: Application, gang_progress: GangProgress, why: str) -> None:
    """No gang from now on, whatever its style."""
    gang_progress.move(GangEvent.DISBANDED)
    gang_progress.failure, gang_progress.due = why, None
    gang_progress.missing.clear()
    note(state, application, gang_progress)
    idle(state, application)
    resettle(state, gang_progress)


def note_seen(state: State, record: PodRecord) -> None:
    """A placeholder of a gang has come into being."""
    application = state.application_of(record)
    gang_progress = application.gang_progress if application is not None else None
    progress = gang_progress.groups.get(record.facts.task_group) if gang_progress is not None else None
    if gang_progress is None or progress is None:
        return
    progress.count += 1
    gang_progress.swept = False
    for names in (gang_progress.missing, gang_progress.asked, gang_progress.made):
        names.pop(record.facts.name, None)


# -- time-outs ---------------------------------------------------------------------------------------------


def _run_out(state: State, application: Application, gang_progress: GangProgress) -> None:
    """The time of the placeholders is over (GANG-15, GANG-16)."""
    gang_progress.due = None
    if gang_progress.phase is GangPhase.RESERVING and application.state in STARTED:
        # One of its pods was placed by somebody else: what runs goes on.
        _disband(state, application, gang_progress, _words(application))
    elif gang_progress.phase is GangPhase.RESERVING:
        _time_out(state, application, gang_progress)
    else:
        for uid in sorted(application.holders):
            if not state.pods.records[uid].gang.yields_to:
                say(state, state.pods.records[uid], PLACEHOLDER_TIMED_OUT, "no member came for it in time")
        release_all(state, application)


def _time_out(state: State, application: Application, gang_progress: GangProgress) -> None:
    """The gang did not come together: its style says what becomes of it (GANG-16)."""
    gang = application.gang
    hard = gang is not None and gang.policy.style is GangStyle.HARD
    gang_progress.move(GangEvent.TIMED_OUT_HARD if hard else GangEvent.TIMED_OUT_SOFT)
    gang_progress.failure, gang_progress.due = _words(application), None
    gang_progress.missing.clear()
    count_timed_out(state, GangStyle.HARD if hard else GangStyle.SOFT)
    fire(state, application, Move.FAIL if hard else Move.RESUME)
    first = originator_of(state, application)
    if first is not None:
        say(state, first, FAILED, f"{TIMED_OUT}: {gang_progress.failure}")
    for uid in sorted(application.holders):
        say(state, state.pods.records[uid], PLACEHOLDER_TIMED_OUT, "its gang did not come together in time")
    note(state, application, gang_progress)


def _words(application: Application) -> str:
    gang = application.gang
    return f"after {gang.policy.placeholder_timeout:g} s" if gang is not None else ""


def _take_back(state: State, application: Application, gang_progress: GangProgress) -> None:
    """First the placeholders, then what the style says."""
    if application.holders or gang_progress.asked or gang_progress.made:
        release_all(state, application)
        return
    if gang_progress.phase is GangPhase.FAILING_NOTED:
        fire(state, application, Move.FAIL)
        _fail_members(state, gang_progress)
        return
    gang_progress.move(GangEvent.RELEASED)
    if application.state is AppState.RESUMING:
        # Its last pod may be gone as well; then it completes already.
        fire(state, application, Move.RUN)
    resettle(state, gang_progress)


def _fail_members(state: State, gang_progress: GangProgress) -> None:
    """Its pods without a node are set to Failed (APP-9)."""
    message = f"{TIMED_OUT}: {gang_progress.failure}"
    for uid in sorted(gang_progress.waiting):
        record = state.pods.records[uid]
        if record.membership.failing_since is None:
            post(state, record, EVENT, message)
        mark_failed(state, record, TIMED_OUT, message)
    gang_progress.retry_at = state.now + MARKED_APART if gang_progress.waiting else None
