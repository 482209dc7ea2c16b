"""Records of pods: created at the first report, kept in line with the facts, dropped after deletion."""

from core.ids import PodUid
from core.ledger.applications.classification import classify, leave, take_in
from core.ledger.applications.ending import follow_ending, note_left
from core.ledger.applications.membership import application_of_bodies, taken_facts
from core.ledger.applications.rejection import forget_rejection
from core.ledger.applications.relabelled import note_labels
from core.ledger.applications.timeouts.due import judge_later
from core.ledger.cluster.daemon_sets import forget_controller, note_controller
from core.ledger.gangs.open_slots import check_slots_on
from core.ledger.gangs.replacement import note_member_deleted, note_placeholder_deleted
from core.ledger.podgroups.membership import forget_member
from core.ledger.pods.belief import forget_belief, is_any_provisional
from core.ledger.pods.record import PodRecord
from core.ledger.pods.tombstones import add_tombstone
from core.ledger.pods.update import time_runs
from core.ledger.preemption.execution import note_leaving
from core.ledger.preemption.victims import unmark
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch, touch_dropped
from core.ledger.usage.reservations import give_back, run_or_stop
from core.workload.application import Application
from core.workload.pod import PodFacts


def new_record(state: State, facts: PodFacts) -> PodRecord:
    """Create the record of a pod at the first report about it."""
    state.pods.arrivals += 1
    record = PodRecord(facts, state.pods.arrivals)
    state.pods.records[facts.uid] = record
    name = facts.namespace, facts.name
    state.pods.by_name[name] = (*state.pods.by_name.get(name, ()), facts.uid)
    return record


def refresh(state: State, record: PodRecord) -> Rounds:
    """Draw all conclusions from a pod's facts, and touch it."""
    classify(state, record)
    note_controller(state, record)
    membership, is_shown = record.membership, record.seen.shown is not None
    # In an application known from bodies only, every pod is provisional.
    if is_shown and membership.managed and membership.application is None and is_any_provisional(state):
        invented = application_of_bodies(state, taken_facts(record))
        if invented is not None:
            yield from _forget_invention(state, invented)
    yield from take_in(state, record)
    if is_shown and membership.application is not None:
        state.applications.known[membership.application].was_shown = True
    note_labels(state, record)
    node = record.node
    if node or record.facts.deleting:
        give_back(state, record)
    elif record.admission.reservation is not None:
        run_or_stop(state, record, runs=time_runs(record))
    touch(state, record)
    app_id = membership.application
    if app_id and (record.facts.execution_timeout or state.applications.known[app_id].execution):
        judge_later(state, app_id)
    if state.applications.endings or state.applications.timeouts:
        yield from follow_ending(state, record)
    if node and not record.membership.managed:
        yield
        yield from check_slots_on(state, node)


def _forget_invention(state: State, invented: Application) -> Rounds:
    """Drop an application known from bodies only, if its first shown pod defines it otherwise.

    Otherwise, a sender of bodies could decide for good in which queue the application of another user runs
    (F-8).
    """
    for uid in sorted(invented.pods):
        yield from forget(state, state.pods.records[uid])


def delete_pod(state: State, uid: PodUid) -> Rounds:
    """Handle a deleted or terminal pod. Its uid is remembered, so that a late call gets the right answer."""
    add_tombstone(state, uid, now=state.now)
    record = state.pods.records.get(uid)
    if record is not None:
        yield from forget(state, record)


def forget(state: State, record: PodRecord) -> Rounds:
    """Drop a record, with everything that it holds and that was promised to it."""
    facts, app_id = record.facts, record.membership.application
    give_back(state, record)
    note_leaving(state, record)
    unmark(state, record)
    note_member_deleted(state, record)
    # While its turn still tells that the other members counted on it.
    forget_member(state, record)
    touch_dropped(state, record)
    yield
    forget_controller(state, record)
    if facts.placeholder:
        yield from note_placeholder_deleted(state, record)
    leave(state, record)
    del state.pods.records[facts.uid]
    forget_belief(state, record)
    forget_rejection(state, record)
    _forget_name(state, (facts.namespace, facts.name), facts.uid)
    left = state.applications.known.get(app_id) if app_id is not None else None
    if left is not None and left.execution is not None:
        judge_later(state, left.id)
    if state.applications.endings or state.applications.timeouts:
        yield from note_left(state, app_id)


def _forget_name(state: State, name: tuple[str, str], uid: PodUid) -> None:
    """Free the name of a pod. Another pod may have it before this one is known to be deleted."""
    others = tuple(each for each in state.pods.by_name[name] if each != uid)
    if others:
        state.pods.by_name[name] = others
    else:
        del state.pods.by_name[name]
