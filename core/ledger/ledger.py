"""The ledger: the one object that remembers, and the one method that changes it.

A handler per event. Each only notes what was told or promised on the pod's record and then calls
`settle`, which moves every counter; no handler adds or subtracts anything itself.
"""

from collections.abc import Iterator
from typing import assert_never

from core.ids import PodUid
from core.instants import earliest, has_come
from core.ledger import events as on
from core.ledger.accounts import discharge, recount_people, settle
from core.ledger.audit import audit_steps
from core.ledger.bindings import note_bind
from core.ledger.carrying import go_on, note_eviction, note_leaving, note_preemption
from core.ledger.coscheduling import expire_groups, tend
from core.ledger.drift import Drift
from core.ledger.effects import Effect
from core.ledger.enrolment import (
    classify,
    enrol,
    leave,
    place_again,
    place_all,
    place_gangs,
    place_overdue,
)
from core.ledger.failures import note_failure, note_refusal
from core.ledger.filtering import note_filter
from core.ledger.forming import begin_all, note_created, note_noted
from core.ledger.gates import tell_why
from core.ledger.gone import forget_gone, forget_name, note_gone
from core.ledger.groups import forget_groups, learn_groups
from core.ledger.keeping import note_written
from core.ledger.lifecycle import leave_parents, pass_time
from core.ledger.marks import expire_kept, unmark
from core.ledger.news import is_late, is_same_pod, lasting, time_runs
from core.ledger.offers import drop_offers, spare_withdrawn
from core.ledger.over_max import recount_over_max
from core.ledger.pod_groups import forget_member
from core.ledger.recalling import recall, resume, stand_by, take_over
from core.ledger.reclaiming import find_reclaims, note_terms, terms_now
from core.ledger.record import PodRecord
from core.ledger.rejections import mark_rejected
from core.ledger.seeking import come_of_age
from core.ledger.snapshot import Snapshot
from core.ledger.state import State
from core.ledger.surroundings import (
    learn_budgets,
    learn_namespaces,
    learn_nodes,
    learn_pod_groups,
    learn_priority_classes,
)
from core.ledger.takeover import (
    advance_all,
    gangs_due,
    holder_gone,
    member_gone,
    note_member_nominated,
    note_member_written,
    note_placed,
    note_released,
    resume_slots,
    room_taken,
    seek_again,
)
from core.ledger.tries import await_try, find_due
from core.ledger.turn_pass import TurnPass
from core.ledger.turns import WAKES_APART, begin_lease, end_turn, expire_turns
from core.queues.limits import Limits
from core.workload.pod import PodFacts

PROVISIONAL = 30.0
"""Seconds that a pod learned from a verb's body is believed in before a watch shows it."""


class Ledger:
    """The record of pods, nodes and queues. Not thread safe; every call is short and synchronous."""

    def __init__(self) -> None:
        self._state = State()
        self._pass: TurnPass | None = None
        self.snapshot = Snapshot(self._state)

    def apply(self, event: on.Event, *, now: float) -> tuple[Effect, ...]:
        """Learn that something happened; the answer is what is to be done about it.

        ``now``: seconds since the epoch, never going back. Cost: O(depth of the queue) for an event about
        one pod, O(pods) for a list, a document or a namespace.
        """
        self._state.now = now
        match event:
            case on.PodObserved(pod):
                self._on_pod_observed(pod, now)
            case on.PodDeleted(uid):
                self._on_pod_deleted(uid, now)
            case on.PodsListed(uids, version):
                self._on_pods_listed(uids, version, now)
            case on.PodOffered(pod):
                self._on_pod_offered(pod, now)
            case on.FilterCalled() | on.PodAdmitted() | on.PodRefused():
                note_filter(self._state, event)
            case on.BindCalled() | on.PodBound() | on.BindFailed():
                self._on_bind(event, now)
            case on.NodeObserved() | on.NodeDeleted() | on.NodesListed():
                learn_nodes(self._state, event)
            case on.NamespaceObserved() | on.NamespaceDeleted() | on.NamespacesListed():
                learn_namespaces(self._state, event)
            case on.PriorityClassObserved() | on.PriorityClassDeleted() | on.PriorityClassesListed():
                learn_priority_classes(self._state, event)
            case on.BudgetObserved() | on.BudgetDeleted() | on.BudgetsListed():
                learn_budgets(self._state, event)
            case on.PodGroupNews():
                learn_pod_groups(self._state, event)
            case on.Configured():
                self._on_configured(event)
            case on.SettingsRead(settings):
                self._state.settings = settings
            case on.PodWoken(uid, reached):
                self._on_pod_woken(uid, now, reached=reached)
            case on.GateHeld() | on.GateToldNot():
                self._on_gate(event)
            case on.NodeNominated() | on.RecordWritten():
                self._on_written(event)
            case on.PodEvicted():
                note_eviction(self._state, event)
                note_released(self._state, event)
            case on.PlaceholderCreated():
                note_created(self._state, event)
            case on.PreemptionMark():
                note_preemption(self._state, event)
            case on.GroupsResolved(user, groups):
                place_again(self._state, learn_groups(self._state, user, groups))
            case on.ActingBegan():
                take_over(self._state)
            case on.ActingEnded():
                stand_by(self._state)
            case on.PassDue():
                return (*self._on_pass_due(), *self._posted())
            case on.TimePassed():
                self._on_time_passed(now)
            case on.CleanerDue():
                self._state.tree.remove_idle()
            case _:
                assert_never(event)
        return self._posted()

    def _posted(self) -> tuple[Effect, ...]:
        """What handlers put out, in their order, and what follows for gangs and groups."""
        advance_all(self._state)
        if self._state.stirred:
            tend(self._state)
        if self._state.withdrawn:
            spare_withdrawn(self._state)
        if not self._state.outbox:
            return ()
        posted = tuple(self._state.outbox)
        self._state.outbox.clear()
        return posted

    def audit_steps(self) -> Iterator[list[Drift]]:
        """The audit of this ledger, in steps; see `audit`."""
        return audit_steps(self._state)

    # -- pods -------------------------------------------------------------------------------------

    def _on_pod_observed(self, facts: PodFacts, now: float) -> None:
        state = self._state
        if facts.uid in state.gone:
            return
        if facts.terminal:
            self._on_pod_deleted(facts.uid, now)
            return
        record = state.pods.get(facts.uid)
        if record is not None and not is_same_pod(record, facts):
            # A body gave this uid to another pod; the watch is right.
            self._forget(record)
            record = None
        if record is None:
            record = self._new_record(facts)
        else:
            self._confirm(record)
            if is_late(record, facts):
                return
            note_failure(state, record, facts)
            if facts.deleting and not record.facts.deleting:
                note_leaving(self._state, record)
            record.facts = lasting(record.facts, facts)
        note_refusal(state, record, facts)
        self._refresh(record, now)
        note_placed(state, record)

    def _on_pod_offered(self, facts: PodFacts, now: float) -> None:
        state = self._state
        if facts.uid in state.gone or facts.terminal:
            return
        record = state.pods.get(facts.uid)
        if record is None:
            record = self._new_record(facts)
            record.provisional_until = now + PROVISIONAL
            state.provisional.add(facts.uid)
        elif not is_same_pod(record, facts):
            return
        elif facts.version > record.facts.version:
            record.facts = lasting(record.facts, facts)
        record.offered_version = max(record.offered_version, facts.version)
        self._refresh(record, now)

    def _new_record(self, facts: PodFacts) -> PodRecord:
        state = self._state
        state.arrivals += 1
        record = PodRecord(facts, state.arrivals)
        state.pods[facts.uid] = record
        name = facts.namespace, facts.name
        state.by_name[name] = (*state.by_name.get(name, ()), facts.uid)
        recall(state, record)
        return record

    def _refresh(self, record: PodRecord, now: float) -> None:
        """Everything that follows from a pod's facts alone."""
        state = self._state
        classify(state, record)
        enrol(state, record)
        if record.node or record.facts.deleting:
            record.reservation = None
        elif record.reservation is not None:
            record.reservation = record.reservation.running(time_runs(record), now=now)
        settle(state, record)
        if record.node and not record.managed:
            room_taken(state, record.node)

    def _confirm(self, record: PodRecord) -> None:
        record.provisional_until = None
        self._state.provisional.discard(record.uid)

    def _on_pod_deleted(self, uid: PodUid, now: float) -> None:
        note_gone(self._state, uid, now=now)
        record = self._state.pods.get(uid)
        if record is not None:
            self._forget(record)

    def _on_pods_listed(self, uids: frozenset[PodUid], version: int, now: float) -> None:
        state = self._state
        for record in list(state.pods.values()):
            newer = version and record.offered_version > version and record.provisional_until is not None
            if record.uid not in uids and not newer:
                self._on_pod_deleted(record.uid, now)
        if not state.pods_listed:
            state.pods_listed = True
            place_gangs(state)
            begin_all(state)
            resume(state)
            resume_slots(state)
            state.stirred.update(dict.fromkeys(state.pod_groups))

    def _forget(self, record: PodRecord) -> None:
        state, facts = self._state, record.facts
        record.reservation = None
        note_leaving(state, record)
        unmark(state, record)
        member_gone(state, record)
        # While its turn still says that the others counted on it.
        forget_member(state, record)
        discharge(state, record)
        if facts.placeholder:
            holder_gone(state, record)
        leave(state, record)
        del state.pods[facts.uid]
        state.provisional.discard(facts.uid)
        forget_name(state, (facts.namespace, facts.name), facts.uid)

    # -- filter and bind ---------------------------------------------------------------------------

    def _on_bind(self, event: on.BindCalled | on.PodBound | on.BindFailed, now: float) -> None:
        record = note_bind(self._state, event)
        if record is not None:
            self._refresh(record, now)
            note_placed(self._state, record)

    # -- configuration ------------------------------------------------------------

    def _on_configured(self, event: on.Configured) -> None:
        """Usage is carried over by path; whatever had no queue is placed anew."""
        state = self._state
        state.settings = event.settings
        terms = terms_now(state)
        state.tree.apply(event.partition)
        note_terms(state, terms)
        state.rules = event.partition.rules
        state.resolver = event.partition.resolver
        state.node_sort = event.partition.node_sort
        state.preempts = event.partition.preemption
        state.quota_preempts = event.partition.quota_preemption
        state.limits = Limits(event.partition.queues)
        self._pass, state.passing = None, False
        state.generation += 1
        leave_parents(state)
        recount_people(state)
        place_all(state)
        recount_over_max(state)
        for uid in state.waits_at:
            await_try(state, state.pods[uid])
        state.stirred.update(dict.fromkeys(state.pod_groups))
        state.freed = True

    # -- time ----------------------------------------------------------------------------------------

    def _on_pod_woken(self, uid: PodUid, now: float, *, reached: bool) -> None:
        """A wake-up that was not written is tried again a second later; so is one that no leader sent."""
        state, record = self._state, self._state.pods.get(uid)
        if record is not None:
            record.waking = False
        if reached:
            begin_lease(state, uid)
        elif end_turn(state, uid):
            state.deferred = earliest(state.deferred, now + WAKES_APART)

    def _on_written(self, event: on.NodeNominated | on.RecordWritten) -> None:
        if isinstance(event, on.RecordWritten):
            go_on(self._state, event)
            note_member_written(self._state, event)
            note_noted(self._state, event)
        else:
            note_member_nominated(self._state, event)
        note_written(self._state, event)
        record = self._state.pods.get(event.uid)
        if record is not None:
            settle(self._state, record)

    def _on_gate(self, event: on.GateHeld | on.GateToldNot) -> None:
        record = self._state.pods.get(event.uid)
        if record is None:
            return
        match event:
            case on.GateHeld(_, said):
                tell_why(self._state, record, said)
            case on.GateToldNot():
                record.gate_told = ""

    def _on_pass_due(self) -> tuple[Effect, ...]:
        """One slice of a pass over the waiting asks; `Snapshot.pass_wanted` says whether more is left."""
        state = self._state
        if self._pass is None:
            if state.freed:
                seek_again(state)
            self._pass = TurnPass(state, fresh_only=not state.freed)
            state.freed = state.due = False
        wakes = self._pass.slice()
        state.passing = not self._pass.done
        if not state.passing:
            state.nowhere = self._pass.nowhere
            self._pass = None
        return wakes

    def _on_time_passed(self, now: float) -> None:
        self._state.overdue = False
        self._expire_reservations(now)
        self._expire_provisional(now)
        for record in expire_turns(self._state):
            settle(self._state, record)
        gangs_due(self._state)
        expire_groups(self._state)
        drop_offers(self._state)
        expire_kept(self._state)
        find_due(self._state)
        find_reclaims(self._state)
        come_of_age(self._state)
        forget_gone(self._state)
        again = forget_groups(self._state)
        if again:
            place_again(self._state, again)
        place_overdue(self._state)
        mark_rejected(self._state)
        pass_time(self._state)

    def _expire_reservations(self, now: float) -> None:
        state = self._state
        for record in [state.pods[uid] for uid in sorted(state.reserved)]:
            if record.reservation is not None and record.reservation.is_over(now):
                record.reservation = None
                settle(state, record)

    def _expire_provisional(self, now: float) -> None:
        """A pod that no watch has shown is forgotten, unless the API server has its Binding."""
        state = self._state
        for record in [state.pods[uid] for uid in sorted(state.provisional)]:
            due = record.provisional_until is not None and has_come(record.provisional_until, now=now)
            if due and not (record.node or record.binding):
                self._forget(record)
