"""Records of pods: made when one is first shown, kept in line with its facts, dropped when it is gone."""

from core.ids import PodUid
from core.ledger.applications.classification import classify, enrol, leave
from core.ledger.applications.membership import application_of_bodies, taken_facts
from core.ledger.applications.rejection import forget_rejection
from core.ledger.applications.relabelled import note_labels
from core.ledger.cluster.daemon_sets import forget_controller, note_controller
from core.ledger.gangs.open_slots import room_taken
from core.ledger.gangs.replacement import holder_gone, member_gone
from core.ledger.podgroups.membership import forget_member
from core.ledger.pods.belief import forget_belief, is_any_provisional
from core.ledger.pods.record import PodRecord
from core.ledger.pods.tombstones import note_gone
from core.ledger.pods.update import time_runs
from core.ledger.preemption.execution import note_leaving
from core.ledger.preemption.victims import unmark
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch, touch_dropped
from core.ledger.usage.reservations import give_back, run_or_stop
from core.workload.application import Application
from core.workload.pod import PodFacts


def new_record(state: State, facts: PodFacts) -> PodRecord:
    """Make the record of a pod that is shown or told of for the first time."""
    state.pods.arrivals += 1
    record = PodRecord(facts, state.pods.arrivals)
    state.pods.records[facts.uid] = record
    name = facts.namespace, facts.name
    state.pods.by_name[name] = (*state.pods.by_name.get(name, ()), facts.uid)
    return record


def refresh(state: State, record: PodRecord) -> Rounds:
    """Draw every conclusion from a pod's facts alone, and touch it."""
    classify(state, record)
    note_controller(state, record)
    membership, is_shown = record.membership, record.seen.shown is not None
    # Of an application that only bodies have told of, each pod is provisional.
    if is_shown and membership.managed and membership.application is None and is_any_provisional(state):
        invented = application_of_bodies(state, taken_facts(record))
        if invented is not None:
            yield from _forget_invention(state, invented)
    yield from enrol(state, record)
    if is_shown and membership.application is not None:
        state.applications.known[membership.application].vouched = True
    note_labels(state, record)
    if record.node or record.facts.deleting:
        give_back(state, record)
    elif record.admission.reservation is not None:
        run_or_stop(state, record, runs=time_runs(record))
    touch(state, record)
    if record.node and not record.membership.managed:
        yield
        yield from room_taken(state, record.node)


def _forget_invention(state: State, invented: Application) -> Rounds:
    """Drop an application that only bodies have told of, and otherwise than its first pod that is shown.

    Else whoever can send a body decides for good in which queue the application of another runs (F-8).
    """
    for uid in sorted(invented.pods):
        yield from forget(state, state.pods.records[uid])


def delete_pod(state: State, uid: PodUid) -> Rounds:
    """A pod is gone, or terminal: its uid is remembered, so that a late call for it is answered as such."""
    note_gone(state, uid, now=state.now)
    record = state.pods.records.get(uid)
    if record is not None:
        yield from forget(state, record)


def forget(state: State, record: PodRecord) -> Rounds:
    """Drop a record, with all that it holds and all that was promised to it."""
    facts = record.facts
    give_back(state, record)
    note_leaving(state, record)
    unmark(state, record)
    member_gone(state, record)
    # While its turn still says that the others counted on it.
    forget_member(state, record)
    touch_dropped(state, record)
    yield
    forget_controller(state, record)
    if facts.placeholder:
        yield from holder_gone(state, record)
    leave(state, record)
    del state.pods.records[facts.uid]
    forget_belief(state, record)
    forget_rejection(state, record)
    _forget_name(state, (facts.namespace, facts.name), facts.uid)


def _forget_name(state: State, name: tuple[str, str], uid: PodUid) -> None:
    """Free the name of a pod; another pod may have taken it before this one is known to be gone."""
    others = tuple(each for each in state.pods.by_name[name] if each != uid)
    if others:
        state.pods.by_name[name] = others
    else:
        del state.pods.by_name[name]
