"""Creation of placeholders (GANG-4): requests, outcomes, and the first sight of each."""

from itertools import islice

from core.instants import has_come
from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder
from core.ledger.gangs.due import touch_gang
from core.ledger.gangs.failure import disband
from core.ledger.gangs.release import AGAIN, originator_of, say, try_again
from core.ledger.gangs.reports import count_refused
from core.ledger.outcomes import CreationOutcome
from core.ledger.pods.record import PodRecord
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.workload.application import Application
from core.workload.gangs.gang import Originator
from core.workload.gangs.phase import GangPhase
from core.workload.gangs.progress import GangProgress, names_of
from core.workload.pod import OWN_GATE

CREATING, CREATE_FAILED = "CreatingPlaceholders", "PlaceholderCreateFailed"
"""Reasons of Events about a gang (REST-17)."""

ASKED_AT_MOST = 100
"""Placeholders of one gang that are created at the same time, at most."""

SHOWN_WITHIN = 10.0
"""Longest time, in seconds, until the watch shows a created placeholder."""


def list_missing(state: State, application: Application, gang_progress: GangProgress) -> None:
    """List the placeholders of a gang that do not exist yet."""
    first = originator_of(state, application)
    if first is None:
        return
    there = {state.pods.records[uid].facts.name for uid in application.holders}
    for progress in gang_progress.groups.values():
        names = names_of(application.id, first.uid, progress.group)
        gang_progress.missing |= {each: progress.group for each in names if each not in there}
    if gang_progress.missing:
        say(state, first, CREATING, f"{len(gang_progress.missing)} placeholders", warning=False)


def create_missing(state: State, application: Application, gang_progress: GangProgress) -> None:
    """Request missing placeholders, as many as may be under way."""
    first, gang = originator_of(state, application), application.gang
    if (
        gang is None
        or not gang_progress.missing
        or not state.acts
        or gang_progress.backs_off_until is not None
    ):
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
    """Note how the creation of a placeholder ended. An unwanted one is deleted when it appears."""
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
            gang_progress.backs_off_until = state.now + AGAIN
        case CreationOutcome.REFUSED if gang_progress.phase is GangPhase.RESERVING:
            _fail_creation(state, application, gang_progress, event.why)
        case _:
            pass


def _is_there(state: State, application: Application, name: str) -> bool:
    known = state.pods.by_name.get((application.namespace, name), ())
    return any(uid in application.holders for uid in known)


def forget_made(state: State, gang_progress: GangProgress) -> None:
    """Forget created placeholders that no watch has shown in time."""
    for name, at in list(gang_progress.made.items()):
        if has_come(at + SHOWN_WITHIN, now=state.now):
            del gang_progress.made[name]
        else:
            try_again(state, gang_progress, SHOWN_WITHIN)


def _fail_creation(state: State, application: Application, gang_progress: GangProgress, why: str) -> None:
    """Disband a gang of which the API server rejects a placeholder (GANG-4)."""
    first = originator_of(state, application)
    count_refused(state)
    if first is not None:
        say(state, first, CREATE_FAILED, why)
    disband(state, application, gang_progress, why)


def note_seen(state: State, record: PodRecord) -> None:
    """Note that a placeholder of a gang exists."""
    application = state.application_of(record)
    gang_progress = application.gang_progress if application is not None else None
    progress = gang_progress.groups.get(record.facts.task_group) if gang_progress is not None else None
    if gang_progress is None or progress is None:
        return
    progress.count += 1
    gang_progress.swept = False
    for names in (gang_progress.missing, gang_progress.asked, gang_progress.made):
        names.pop(record.facts.name, None)
