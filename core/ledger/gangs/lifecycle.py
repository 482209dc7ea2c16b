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
from core.workload.gangs.progress import Formation, formation_of, names_of
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
    if gang is None or application.formation is not None:
        return
    lifetime = max(_SHORTEST, gang.policy.placeholder_timeout - (state.now - application.submitted))
    formation = application.formation = formation_of(gang, lifetime=lifetime, now=state.now)
    formation.originator = owner_of(state, application)
    for uid in sorted(application.holders):
        progress = formation.groups.get(state.pods.records[uid].facts.task_group)
        if progress is not None:
            progress.count += 1
    _take_up(state, application, formation)
    if formation.phase is GangPhase.RESERVING and _is_elapsed(state, application, gang):
        first = originator_of(state, application)
        if first is not None:
            say(state, first, ELAPSED, "its time was over before its placeholders were made")
    elif formation.phase is GangPhase.RESERVING:
        _list_missing(state, application, formation)
        if application.holding:
            formation.due = state.now + formation.lifetime
    touch_gang(state, application.id)


def begin_all(state: State) -> None:
    """All pods have been seen: whatever gangs there are go on."""
    for app_id in sorted(state.applications.known):
        application = state.applications.known[app_id]
        begin(state, application)
        if application.formation is not None:
            for uid in sorted(application.pods):
                touch(state, state.pods.records[uid])


def _take_up(state: State, application: Application, formation: Formation) -> None:
    """What is known already of a gang that had begun before (GANG-5, GANG-20)."""
    first = originator_of(state, application)
    noted = first.facts.gang_noted if first is not None and first.seen.believed else ""
    members = [state.pods.records[uid] for uid in sorted(application.pods - application.holders)]
    if noted in (GangPhase.ORDINARY.shown, GangPhase.FAILING.shown):
        soft = noted == GangPhase.ORDINARY.shown
        formation.move(GangEvent.FOUND_RESUMING if soft else GangEvent.FOUND_FAILING)
        formation.failure = _words(application)
        fire(state, application, Move.RESUME if soft else Move.FAIL)
    elif noted == GangPhase.STARTED.shown or any(each.node or each.gang.slot for each in members):
        formation.move(GangEvent.FOUND_STARTED)
        formation.due = state.now + formation.lifetime if application.holders else None
        _recount(formation, members)
        run(state, application)


def _recount(formation: Formation, members: list[PodRecord]) -> None:
    """How many were replaced shows on those that live; the others count as timed out."""
    for member in members:
        progress = formation.groups.get(member.facts.task_group)
        if progress is not None and member.facts.replaces and member.node:
            progress.replaced += 1
    for progress in formation.groups.values():
        taking = sum(each.gang.slot is not None and not each.node for each in members)
        seen = progress.count + progress.replaced
        progress.count = max(progress.needed, seen)
        progress.timed_out = max(0, progress.needed - seen - taking)


def _list_missing(state: State, application: Application, formation: Formation) -> None:
    first = originator_of(state, application)
    if first is None:
        return
    there = {state.pods.records[uid].facts.name for uid in application.holders}
    for progress in formation.groups.values():
        names = names_of(application.id, first.uid, progress.group)
        formation.missing |= {each: progress.group for each in names if each not in there}
    if formation.missing:
        say(state, first, CREATING, f"{len(formation.missing)} placeholders", warning=False)


def _is_elapsed(state: State, application: Application, gang: Gang) -> bool:
    """Whether its time was over before there was any placeholder: there will be none (GANG-17)."""
    return 0 < gang.policy.timeout <= state.now - application.submitted and not application.holders


# -- looking at a gang -------------------------------------------------------------------------------------


def advance(state: State, application: Application, formation: Formation) -> None:
    """Do what is to be done now, unless it is the taking over; see `core.ledger.gangs.replacement`."""
    if formation.note_at is not None and has_come(formation.note_at, now=state.now):
        formation.note_at = None
        if state.acts:
            note(state, application, formation)
    if formation.due is not None and has_come(formation.due, now=state.now):
        _run_out(state, application, formation)
    if formation.phase is GangPhase.RESERVING:
        _reserve(state, application, formation)
    if formation.phase in (GangPhase.RESUMING_NOTED, GangPhase.FAILING_NOTED):
        _take_back(state, application, formation)
    if formation.phase is GangPhase.ORDINARY or formation.left:
        release_all(state, application)


def _reserve(state: State, application: Application, formation: Formation) -> None:
    if formation.complete:
        _start(state, application, formation)
    elif len(application.pods) == len(application.holders):
        # Nobody is left for whom room could be held; the originator owned the placeholders (GANG-21).
        _disband(state, application, formation, "none of its pods is left")
    elif not (application.holders or formation.missing or formation.asked or formation.made):
        _time_out(state, application, formation)
    else:
        _create(state, application, formation)


def _start(state: State, application: Application, formation: Formation) -> None:
    """All placeholders have their nodes: members may take them over now (GANG-9)."""
    formation.move(GangEvent.COMPLETED)
    formation.started_at = state.now
    state.gangs.tally.started += 1
    state.gangs.tally.seconds += state.now - formation.begun_at
    formation.missing.clear()
    first = originator_of(state, application)
    if first is not None:
        say(state, first, COMPLETE, "all placeholders have their nodes", warning=False)
    note(state, application, formation)
    run(state, application)
    resettle(state, formation)


def count_taken_over(state: State) -> None:
    """Count a placeholder that a member has replaced."""
    state.gangs.tally.taken_over += 1


def count_cancelled(state: State) -> None:
    """Count a replacement that came to nothing."""
    state.gangs.tally.cancelled += 1


def note(state: State, application: Application, formation: Formation) -> None:
    """Write on the originator what has become of its gang; if there is none, nobody needs to know."""
    first = originator_of(state, application)
    if first is None:
        _written(formation)
        return
    formation.note_at = state.now + NOTED_WITHIN
    noted = GangPhase.ORDINARY if formation.phase is GangPhase.RESUMING else formation.phase
    write(state, first, Purpose.GANG_PHASE, (GANG, noted.shown))


def _written(formation: Formation) -> None:
    """What has become of a gang is on its originator, if that is still there."""
    formation.note_at = None
    if formation.phase in (GangPhase.RESUMING, GangPhase.FAILING):
        formation.move(GangEvent.WRITTEN)


def note_phase_written(state: State, event: on.RecordWritten) -> None:
    """What has become of a gang is on its originator by now, or it is tried again."""
    record = state.pods.records.get(event.uid)
    application = state.application_of(record) if record is not None else None
    formation = application.formation if application is not None else None
    if application is None or formation is None:
        return
    if event.reached:
        _written(formation)
    elif formation.note_at is not None:
        formation.note_at = state.now + AGAIN
    touch_gang(state, application.id)


def resettle(state: State, formation: Formation) -> None:
    """What its pods wait for has changed."""
    for uid in sorted(formation.waiting):
        touch(state, state.pods.records[uid])
    request_cycle(state, CycleReason.GROUP_CHANGED)


# -- making placeholders -----------------------------------------------------------------------------------


def _create(state: State, application: Application, formation: Formation) -> None:
    first, gang = originator_of(state, application), application.gang
    if gang is None or not formation.missing or not state.acts or formation.rests_until is not None:
        return
    if first is None:
        formation.missing.clear()
        return
    originator, namespace, queue = _originator_from(first), first.facts.namespace, application.requested
    for name in list(islice(formation.missing, ASKED_AT_MOST - len(formation.asked))):
        group = formation.asked[name] = formation.missing.pop(name)
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
    formation = application.formation if application is not None else None
    if application is None or formation is None or event.name not in formation.asked:
        return
    group = formation.asked.pop(event.name)
    touch_gang(state, application.id)
    match event.outcome:
        case CreationOutcome.DONE:
            if not _is_there(state, application, event.name):
                formation.made[event.name] = state.now
                try_again(state, formation, SHOWN_WITHIN)
        case CreationOutcome.FAILED:
            formation.missing[event.name] = group
            formation.rests_until = state.now + AGAIN
        case CreationOutcome.REFUSED if formation.phase is GangPhase.RESERVING:
            _fail_creation(state, application, formation, event.why)
        case _:
            pass


def _is_there(state: State, application: Application, name: str) -> bool:
    known = state.pods.by_name.get((application.namespace, name), ())
    return any(uid in application.holders for uid in known)


def forget_made(state: State, formation: Formation) -> None:
    """Those that no watch shows have gone again."""
    for name, at in list(formation.made.items()):
        if has_come(at + SHOWN_WITHIN, now=state.now):
            del formation.made[name]
        else:
            try_again(state, formation, SHOWN_WITHIN)


def _fail_creation(state: State, application: Application, formation: Formation, why: str) -> None:
    """One that the API server does not take: the application is placed without its gang (GANG-4)."""
    first = originator_of(state, application)
    state.gangs.tally.refused += 1
    if first is not None:
        say(state, first, CREATE_FAILED, why)
    _disband(state, application, formation, why)


def _disband(state: State, application: Application, formation: Formation, why: str) -> None:
    """No gang from now on, whatever its style."""
    formation.move(GangEvent.DISBANDED)
    formation.failure, formation.due = why, None
    formation.missing.clear()
    note(state, application, formation)
    idle(state, application)
    resettle(state, formation)


def note_seen(state: State, record: PodRecord) -> None:
    """A placeholder of a gang has come into being."""
    application = state.application_of(record)
    formation = application.formation if application is not None else None
    progress = formation.groups.get(record.facts.task_group) if formation is not None else None
    if formation is None or progress is None:
        return
    progress.count += 1
    formation.swept = False
    for names in (formation.missing, formation.asked, formation.made):
        names.pop(record.facts.name, None)


# -- time-outs ---------------------------------------------------------------------------------------------


def _run_out(state: State, application: Application, formation: Formation) -> None:
    """The time of the placeholders is over (GANG-15, GANG-16)."""
    formation.due = None
    if formation.phase is GangPhase.RESERVING and application.state in STARTED:
        # One of its pods was placed by somebody else: what runs goes on.
        _disband(state, application, formation, _words(application))
    elif formation.phase is GangPhase.RESERVING:
        _time_out(state, application, formation)
    else:
        for uid in sorted(application.holders):
            if not state.pods.records[uid].gang.yields_to:
                say(state, state.pods.records[uid], PLACEHOLDER_TIMED_OUT, "no member came for it in time")
        release_all(state, application)


def _time_out(state: State, application: Application, formation: Formation) -> None:
    """The gang did not come together: its style says what becomes of it (GANG-16)."""
    gang = application.gang
    hard = gang is not None and gang.policy.style is GangStyle.HARD
    formation.move(GangEvent.TIMED_OUT_HARD if hard else GangEvent.TIMED_OUT_SOFT)
    formation.failure, formation.due = _words(application), None
    formation.missing.clear()
    style = GangStyle.HARD if hard else GangStyle.SOFT
    state.gangs.tally.timed_out[style.value] = state.gangs.tally.timed_out.get(style.value, 0) + 1
    fire(state, application, Move.FAIL if hard else Move.RESUME)
    first = originator_of(state, application)
    if first is not None:
        say(state, first, FAILED, f"{TIMED_OUT}: {formation.failure}")
    for uid in sorted(application.holders):
        say(state, state.pods.records[uid], PLACEHOLDER_TIMED_OUT, "its gang did not come together in time")
    note(state, application, formation)


def _words(application: Application) -> str:
    gang = application.gang
    return f"after {gang.policy.placeholder_timeout:g} s" if gang is not None else ""


def _take_back(state: State, application: Application, formation: Formation) -> None:
    """First the placeholders, then what the style says."""
    if application.holders or formation.asked or formation.made:
        release_all(state, application)
        return
    if formation.phase is GangPhase.FAILING_NOTED:
        fire(state, application, Move.FAIL)
        _fail_members(state, formation)
        return
    formation.move(GangEvent.RELEASED)
    if application.state is AppState.RESUMING:
        # Its last pod may be gone as well; then it completes already.
        fire(state, application, Move.RUN)
    resettle(state, formation)


def _fail_members(state: State, formation: Formation) -> None:
    """Its pods without a node are set to Failed (APP-9)."""
    message = f"{TIMED_OUT}: {formation.failure}"
    for uid in sorted(formation.waiting):
        record = state.pods.records[uid]
        if record.membership.failing_since is None:
            post(state, record, EVENT, message)
        mark_failed(state, record, TIMED_OUT, message)
    formation.retry_at = state.now + MARKED_APART if formation.waiting else None
