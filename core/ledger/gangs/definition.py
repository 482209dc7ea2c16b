"""Effect of a pod's gang definition: on its application, its queue, and Events."""

from collections.abc import Iterator

from core.ids import AppId, QueuePath
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import GANG_SCHEDULING, post
from core.ledger.state.state import State
from core.reasons import Refusal
from core.workload.application import Application
from core.workload.gangs.gang import Gang, Misdefined
from core.workload.gangs.refusals import refusal_of_count, refusal_of_gang
from core.workload.pod import PodFacts

MISDEFINED = "TaskGroupsError"


def gang_of(state: State, record: PodRecord) -> Gang | None:
    """Gang that the defining pod of an application defines.

    A broken definition is reported and ignored (POD-12). A placeholder carries the definition too, so that a
    restart that sees it first finds the same (GANG-20).
    """
    defined = record.facts.gang
    if state.config.settings.gangs and isinstance(defined, Misdefined):
        message = f"{defined.why}; its pods are placed like any others"
        post(state, record, GANG_SCHEDULING, message, action=MISDEFINED)
    return gang_that_counts(state, record.facts)


def gang_that_counts(state: State, facts: PodFacts) -> Gang | None:
    """Gang that a pod defines, or None if gangs are switched off or its definition is broken (POD-12)."""
    counts = state.config.settings.gangs and not isinstance(facts.gang, Misdefined)
    return facts.gang if counts and isinstance(facts.gang, Gang) else None


def refusal_of_application(state: State, application: Application, path: QueuePath) -> Refusal | None:
    """Reason why an application may not use the leaf that placement chose, or None (GANG-6, GANG-7).

    Checked when it arrives and while it is refused, but never once it is in its queue.
    """
    leaf = state.config.tree.get(path)
    if leaf is None or application.gang is None:
        return None
    too_many = refusal_of_count(path, application.gang, most=state.config.settings.gang_max_pods)
    return too_many or refusal_of_gang(leaf, application.gang)


def was_taken_in(state: State, application: Application) -> bool:
    """True if its originator carries the outcome of its gang from before this process began (GANG-20)."""
    first = state.pods.records.get(application.originator[2]) if application.originator is not None else None
    return first is not None and first.seen.trusted and bool(first.facts.gang_noted)


def awaits_pods(state: State, application: Application) -> bool:
    """True if pods of its gang may be on nodes that no list has shown yet."""
    return application.gang is not None and not state.pods.listed


def unplaced_gangs(state: State) -> Iterator[AppId]:
    """Gangs that waited for the list of pods, or are refused."""
    return (
        each
        for each in sorted(state.applications.unplaced)
        if state.applications.known[each].gang is not None
    )
