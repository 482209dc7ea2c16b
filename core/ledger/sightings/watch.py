"""Reports about pods by lists, watches and the bodies of verbs, and which of them to believe (F-8).

A complete list replaces earlier lists and watches, tombstones included, whatever the versions: they decrease
when etcd is restored. A body may be ahead of the watch. It is believed for at most `PROVISIONAL` seconds. It
is never believed about a pod with a node, because kube-scheduler does not ask about such a pod.
"""

from dataclasses import replace

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.scheduler_failures import note_failure, note_refusal
from core.ledger.applications.classification import place_gangs
from core.ledger.applications.ending import resume_endings
from core.ledger.applications.forced import let_in_what_runs
from core.ledger.applications.membership import application_of_bodies
from core.ledger.applications.timeouts.expiry import recover_executions
from core.ledger.gangs.lifecycle import begin_all
from core.ledger.gangs.replacement import note_placed, resume_slots
from core.ledger.podgroups.membership import touch_all_groups
from core.ledger.pods.belief import (
    begin_provisional,
    believe_body,
    believe_shown,
    end_doubt_if_shown,
    note_existence,
    note_shown,
    overdue_bodies,
)
from core.ledger.pods.record import PodRecord
from core.ledger.pods.registry import delete_pod, forget, new_record, refresh
from core.ledger.pods.tombstones import drop_tombstone
from core.ledger.pods.update import agrees, is_older, is_same_pod
from core.ledger.preemption.execution import note_leaving
from core.ledger.recovery import recover_record, resume
from core.ledger.sightings.doubts import doubt_what_is_not_shown
from core.ledger.state.state import State
from core.ledger.touched import Rounds
from core.workload.pod import PodFacts


def learn_pods(state: State, event: on.PodReport) -> Rounds:
    """Route a report about pods to its handler."""
    if isinstance(event, on.PodObserved):
        yield from _see(state, event.pod)
    elif isinstance(event, on.PodDeleted):
        yield from delete_pod(state, event.uid)
    elif isinstance(event, on.PodOffered):
        yield from _take_offer(state, event.pod)
    elif isinstance(event, on.PodRead):
        known = event.pod
        yield from _take_read(state, known) if event.exists else _take_absence(state, known.uid)
    elif isinstance(event, on.PodsListBegun):
        state.pods.listing, state.pods.caught_up = True, False
        state.pods.lists_begun += 1
    elif isinstance(event, on.PodsListed):
        yield from _end_list(state, event.uids)
    elif isinstance(event, on.PodsCaughtUp):
        state.pods.caught_up = True
    else:
        raise AssertionError(event)


# -- lists and watches -----------------------------------------------------------------------------------


def _see(state: State, facts: PodFacts) -> Rounds:
    if facts.uid in state.pods.tombstones:
        if not state.pods.listing:
            return
        drop_tombstone(state, facts.uid)
    if facts.terminal:
        yield from delete_pod(state, facts.uid)
        return
    record = state.pods.records.get(facts.uid)
    if record is not None and _is_stranger(state, record, facts):
        yield from forget(state, record)
        record = None
    if record is None:
        record = new_record(state, facts)
        recover_record(state, record)
        note_shown(record, facts)
    elif not _learn(state, record, facts):
        return
    note_refusal(state, record, facts)
    yield from refresh(state, record)
    if record.gang.slot is not None:
        yield from note_placed(state, record)


def _is_stranger(state: State, record: PodRecord, facts: PodFacts) -> bool:
    """True for another pod of the same uid, or for one that bodies alone have shown, and wrongly."""
    only_bodies = record.seen.shown is None and not (record.placement.binding or record.placement.bound_to)
    return not is_same_pod(record, facts) or (only_bodies and _is_misled(state, record, facts))


def _is_misled(state: State, record: PodRecord, facts: PodFacts) -> bool:
    """True if bodies differed about the owner of a pod, or about the queue of its application."""
    return not agrees(record.facts, facts) or application_of_bodies(state, facts) is not None


def _learn(state: State, record: PodRecord, facts: PodFacts) -> bool:
    """Note a report about a known pod. Return True if the pod's facts are taken from it now."""
    shown = record.seen.shown
    if shown is not None and not state.pods.listing and is_older(facts, shown):
        return False
    facts = note_shown(record, facts)
    if _body_stands(state, record, facts):
        return False
    note_failure(state, record, facts)
    if facts.deleting and not record.facts.deleting:
        note_leaving(state, record)
    believe_shown(state, record)
    end_doubt_if_shown(state, record)
    return True


def _body_stands(state: State, record: PodRecord, facts: PodFacts) -> bool:
    """True if a body is ahead of the report. No body is ahead of a list that was requested after it.

    A pod never loses its node, and never returns from deletion. There the body is wrong.
    """
    if record.seen.provisional_until is None or facts.node or (facts.deleting and not record.facts.deleting):
        return False
    ahead = not state.pods.listing or record.seen.exists_since_list == state.pods.lists_begun
    return ahead and is_older(facts, record.facts)


def _end_list(state: State, uids: frozenset[PodUid]) -> Rounds:
    """Delete every pod that a complete list lacks."""
    for record in list(state.pods.records.values()):
        if record.uid not in uids and not _outlasts_list(state, record):
            yield from delete_pod(state, record.uid)
    if state.pods.listing:
        doubt_what_is_not_shown(state, uids)
    state.pods.listing = False
    if not state.pods.listed:
        state.pods.listed = True
        yield from place_gangs(state)
        let_in_what_runs(state)
        begin_all(state)
        yield
        resume(state)
        yield
        yield from resume_slots(state)
        touch_all_groups(state)
        recover_executions(state)
        yield from resume_endings(state)


def _outlasts_list(state: State, record: PodRecord) -> bool:
    """True if a pod that the list lacks may be newer than the list.

    A body showed it, or its Binding was accepted, after the list was requested; or its bind call is open.
    """
    since = record.seen.exists_since_list == state.pods.lists_begun and (
        record.seen.shown is None or bool(record.placement.bound_to)
    )
    return bool(record.placement.binding) or since


# -- bodies ----------------------------------------------------------------------------------------------


def _take_offer(state: State, facts: PodFacts) -> Rounds:
    if facts.uid in state.pods.tombstones or facts.terminal or facts.node:
        return
    record = state.pods.records.get(facts.uid)
    if record is None:
        record = new_record(state, facts)
        recover_record(state, record)
        begin_provisional(state, record)
    elif not is_same_pod(record, facts) or record.node:
        return
    elif facts.version > record.facts.version:
        # Any client of the port may write a body, so none may make a pod smaller than it is known (F-18).
        size = facts.size.largest(record.facts.size)
        believe_body(record, replace(facts, size=size) if size != facts.size else facts)
        if record.seen.shown is not None:
            begin_provisional(state, record)
    note_existence(state, record)
    yield from refresh(state, record)


def _take_read(state: State, facts: PodFacts) -> Rounds:
    """Replace everything that bodies alone have reported of a pod by a read of it (F-18).

    Only the watch tells that a pod has a node or terminates.
    """
    if facts.uid in state.pods.tombstones or facts.terminal or facts.node or facts.deleting:
        return
    record = state.pods.records.get(facts.uid)
    if record is not None and _is_stranger(state, record, facts):
        yield from forget(state, record)
        record = None
    if record is None:
        yield from _take_offer(state, facts)
    elif record.seen.shown is None:
        believe_body(record, facts)
        yield from refresh(state, record)
    elif not is_older(facts, record.seen.shown):
        note_shown(record, facts)
        believe_shown(state, record)
        yield from refresh(state, record)


def _take_absence(state: State, uid: PodUid) -> Rounds:
    """Drop a pod that only bodies have shown, because it does not exist."""
    record = state.pods.records.get(uid)
    if record is not None and record.seen.shown is None and not (record.node or record.placement.binding):
        yield from forget(state, record)


def expire_provisional(state: State) -> Rounds:
    """End the belief in bodies. Drop pods that nothing else has shown.

    Not while the API server has the pod's Binding, or may get it.
    """
    for uid in overdue_bodies(state):
        record = state.pods.records.get(uid)
        if record is None or record.seen.provisional_until is None:
            continue
        if record.seen.shown is not None:
            believe_shown(state, record)
            yield from refresh(state, record)
            yield
        elif record.node or record.placement.binding:
            begin_provisional(state, record)
        else:
            yield from forget(state, record)
