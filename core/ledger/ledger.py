"""The ledger: the one object with state, and the one method that changes it.

There is one handler per event. It notes on the pod's record what was reported or promised, and touches the
pod. `apply` settles touched pods, which moves every counter. No handler adds or subtracts anything itself.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.admission.bind import note_bind
from core.ledger.admission.cycle import Cycle
from core.ledger.admission.filter import note_filter
from core.ledger.admission.gate_opening import note_woken
from core.ledger.admission.gate_status import note_unwritten, report_hold, report_holds
from core.ledger.admission.leases import time_leases
from core.ledger.admission.requests import abandon_cycle, begin_cycle, clear_overdue, end_cycle, request_cycle
from core.ledger.admission.turns import expire_turns
from core.ledger.admission.unguarded import report_unguarded
from core.ledger.applications.classification import (
    place_again,
    place_all,
    place_overdue,
    place_refused_for_number,
)
from core.ledger.applications.ending import end_applications, endings_due, note_ended
from core.ledger.applications.lifecycle import leave_parents, pass_time
from core.ledger.applications.moves.moving import move_applications, moves_due
from core.ledger.applications.queues import (
    close_queues,
    configure_queues,
    open_due_queues,
    remove_idle_queues,
)
from core.ledger.applications.rejection import report_all_later, report_due
from core.ledger.applications.timeouts.due import judge_all_later, note_clock
from core.ledger.applications.timeouts.expiry import executions_due, judge_executions
from core.ledger.applications.timeouts.records import note_execution_written
from core.ledger.applications.user_groups import forget_groups, learn_groups
from core.ledger.audit.drift import Drift
from core.ledger.audit.rounds import audit_steps
from core.ledger.cluster.objects import learn_object
from core.ledger.effects import Effect
from core.ledger.gangs.creation import note_created
from core.ledger.gangs.lifecycle import advance_all, gangs_due, retry_members_elsewhere
from core.ledger.gangs.outcomes import note_member_nominated, note_member_written, note_released
from core.ledger.gangs.replacement import note_placed
from core.ledger.gangs.reports import note_phase_written
from core.ledger.node_reservation.reservation import note_nominated
from core.ledger.node_reservation.search import come_of_age, note_reservation_written
from core.ledger.outcomes import Purpose
from core.ledger.podgroups.attempt import tend
from core.ledger.podgroups.deadlines import retime_all_groups, time_groups
from core.ledger.podgroups.expiry import expire_groups
from core.ledger.podgroups.membership import touch_all_groups
from core.ledger.pods.registry import refresh
from core.ledger.pods.tombstones import expire_tombstones
from core.ledger.preemption.attempts import await_attempt, find_due
from core.ledger.preemption.execution import (
    note_eviction,
    note_plan_written,
    note_preemption,
    note_victim_written,
)
from core.ledger.preemption.in_vain import forgive
from core.ledger.preemption.offers import drop_offers, spare_withdrawn
from core.ledger.preemption.quota_reclaim import find_reclaims, note_terms, terms_now
from core.ledger.preemption.victims import expire_node_reservations
from core.ledger.recovery import stand_by, take_over
from core.ledger.settle import settle_touched
from core.ledger.sightings.doubts import expire_doubts
from core.ledger.sightings.watch import expire_provisional, learn_pods
from core.ledger.state.admission import CycleReason
from core.ledger.state.outbox import emit_first, hand_out
from core.ledger.state.state import State
from core.ledger.touched import Rounds, forget_settled, touch
from core.ledger.usage.counters import recount_people
from core.ledger.usage.over_max import recount_over_max
from core.ledger.usage.reservations import expire_reservations
from core.ledger.view import LedgerView
from core.queues.users.limits import Limits


class Ledger:
    """State of pods, nodes and queues. Not thread safe; every call is short and synchronous."""

    def __init__(self) -> None:
        self._state = State()
        self._cycle: Cycle | None = None
        self.view = LedgerView(self._state)

    def apply(self, event: on.Event, *, now: float) -> tuple[Effect, ...]:
        """Apply an event, and return the effects that it requests.

        ``now``: seconds since the epoch, never decreasing. Cost: O(depth of the queue) for an event about one
        pod, O(pods) for a list, a document or a namespace.
        """
        self._state.now = now
        forget_settled(self._state)
        self._run(self._learn(event))
        state = self._state
        if state.gangs.touched or state.gangs.line or state.podgroups.touched or state.preemption.withdrawn:
            self._run(self._follow_up())
        if state.podgroups.untimed or state.applications.untimed:
            self._time()
        return hand_out(state)

    def current_view(self) -> LedgerView:
        """Return `view`, for code that asks for it each time. Compiled, it costs less than a lambda."""
        return self.view

    @property
    def settled(self) -> Sequence[PodUid]:
        """Pods whose charge the last event may have changed, some perhaps more than once; only to be read."""
        return self._state.pods.settled

    def _run(self, steps: Rounds) -> None:
        """Settle the pods that were touched, after each step and at the end."""
        touched = self._state.pods.touched
        for _ in steps:
            if touched:
                settle_touched(self._state)
        if touched:
            settle_touched(self._state)

    def _time(self) -> None:
        """Time what the event was about: execution time-outs, which may end applications, then pod groups."""
        state = self._state
        while state.applications.untimed:
            self._run(judge_executions(state))
            self._run(self._follow_up())
        if state.podgroups.untimed:
            time_groups(state)

    def _follow_up(self) -> Rounds:
        """Handle the consequences of an event for gangs, pod groups, and victims of withdrawn offers."""
        state = self._state
        yield from advance_all(state)
        if state.podgroups.touched:
            yield from tend(state)
        if state.preemption.withdrawn:
            spare_withdrawn(state)

    def _learn(self, event: on.Event) -> Rounds:
        # Events that come for each pod. mypyc looks up each class of a `case` by its name, but none of these.
        if isinstance(event, on.PodReport):
            yield from learn_pods(self._state, event)
        elif isinstance(event, (on.PodAdmitted, on.PodRefused, on.FilterCalled)):
            yield from note_filter(self._state, event)
        elif isinstance(event, (on.BindCalled, on.PodBound, on.BindFailed)):
            yield from self._on_bind(event)
        elif isinstance(event, on.CycleDue):
            yield from self._on_cycle_due()
        elif isinstance(event, on.PodWoken):
            note_woken(self._state, event)
        else:
            yield from self._learn_others(event)

    def _learn_others(self, event: on.Rare) -> Rounds:
        """Learn an event that does not come for each pod."""
        match event:
            case on.ObjectObserved() | on.ObjectDeleted() | on.ObjectsListed() | on.KindUnserved():
                yield from learn_object(self._state, event)
            case on.Configured():
                yield from self._on_configured(event)
            case on.SettingsRead(settings):
                self._state.config.settings = settings
                retime_all_groups(self._state)
                time_leases(self._state)
                report_all_later(self._state)
                judge_all_later(self._state)
                yield from place_refused_for_number(self._state)
            case on.ActionsRead(closed, ended, moved):
                close_queues(self._state, closed)
                yield from move_applications(self._state, moved)
                yield from end_applications(self._state, ended)
            case on.ClockCompared(skew):
                note_clock(self._state, skew)
            case on.GateHeld() | on.GateReportFailed():
                self._on_gate(event)
            case on.NodeNominated():
                yield from self._on_nominated(event)
            case on.RecordWritten():
                yield from self._on_written(event)
            case on.PodEvicted():
                self._on_evicted(event)
            case on.PlaceholderCreated():
                note_created(self._state, event)
            case on.PreemptionMark():
                note_preemption(self._state, event)
            case on.GroupsResolved(user, groups):
                yield from place_again(self._state, learn_groups(self._state, user, groups))
            case on.ActingBegan():
                yield from take_over(self._state)
            case on.ActingEnded():
                stand_by(self._state)
            case on.TimePassed():
                yield from self._on_time_passed()
            case on.OffersDue():
                drop_offers(self._state)
            case on.CleanerDue():
                if remove_idle_queues(self._state):
                    yield from place_refused_for_number(self._state)
                forgive(self._state)
            case _:
                assert_never(event)

    def audit_steps(self) -> Iterator[list[Drift]]:
        """Steps of the audit of this ledger; see `audit`."""
        return audit_steps(self._state)

    # -- filter and bind ---------------------------------------------------------------------------

    def _on_bind(self, event: on.BindCalled | on.PodBound | on.BindFailed) -> Rounds:
        record = note_bind(self._state, event)
        if record is None:
            return
        if isinstance(event, on.PodBound):
            yield from refresh(self._state, record)
            yield from note_placed(self._state, record)
        else:
            # Conclusions from a pod's facts stand, because the call does not change them.
            touch(self._state, record)

    # -- configuration ------------------------------------------------------------

    def _on_configured(self, event: on.Configured) -> Rounds:
        """Apply a document.

        Usage is carried over by path, and applications without a queue are placed again.
        """
        state = self._state
        state.config.settings = event.settings
        time_leases(state)
        terms = terms_now(state)
        configure_queues(state, event.partition)
        note_terms(state, terms)
        state.config.rules = event.partition.rules
        state.config.resolver = event.partition.resolver
        state.config.node_sort = event.partition.node_sort
        state.config.preempts = event.partition.preemption
        state.config.quota_preempts = event.partition.quota_preemption
        state.config.limits = Limits(event.partition.queues)
        if self._cycle is not None:
            self._cycle.drop()
        self._cycle = None
        abandon_cycle(state)
        state.config.generation += 1
        leave_parents(state)
        recount_people(state)
        yield from place_all(state)
        recount_over_max(state)
        for uid in state.pending.waits_at:
            await_attempt(state, state.pods.records[uid])
        touch_all_groups(state)
        retime_all_groups(state)
        judge_all_later(state)
        request_cycle(state, CycleReason.CONFIGURED)

    # -- outcomes, each routed to the owner of its purpose ----------------------------------------

    def _on_written(self, event: on.RecordWritten) -> Rounds:
        match event.purpose:
            case Purpose.NODE_RESERVATION:
                note_reservation_written(self._state, event)
            case Purpose.PLAN:
                note_plan_written(self._state, event)
            case Purpose.VICTIM:
                note_victim_written(self._state, event)
            case Purpose.REPLACEMENT:
                yield from note_member_written(self._state, event)
            case Purpose.EXECUTION:
                note_execution_written(self._state, event)
            case Purpose.GANG_PHASE:
                note_phase_written(self._state, event)
            case Purpose.WITHDRAWAL | Purpose.LABELS:
                pass
            case _:
                assert_never(event.purpose)
        self._touch(event.uid)

    def _on_nominated(self, event: on.NodeNominated) -> Rounds:
        match event.purpose:
            case Purpose.NODE_RESERVATION:
                note_nominated(self._state, event)
            case Purpose.REPLACEMENT:
                yield from note_member_nominated(self._state, event)
            case Purpose.WITHDRAWAL:
                pass
            case _:
                assert_never(event.purpose)
        self._touch(event.uid)

    def _on_evicted(self, event: on.PodEvicted) -> None:
        match event.purpose:
            case Purpose.VICTIM:
                note_eviction(self._state, event)
            case Purpose.REPLACEMENT:
                note_released(self._state, event)
            case Purpose.ENDING:
                note_ended(self._state, event)
            case _:
                assert_never(event.purpose)

    def _touch(self, uid: PodUid) -> None:
        record = self._state.pods.records.get(uid)
        if record is not None:
            touch(self._state, record)

    # -- time ----------------------------------------------------------------------------------------

    def _on_gate(self, event: on.GateHeld | on.GateReportFailed) -> None:
        record = self._state.pods.records.get(event.uid)
        if record is None:
            return
        match event:
            case on.GateHeld():
                report_hold(self._state, record, event)
            case on.GateReportFailed():
                note_unwritten(self._state, record)

    def _on_cycle_due(self) -> Rounds:
        """Run one slice of a cycle. `LedgerView.cycle_wanted` says whether more is left."""
        state = self._state
        if self._cycle is None:
            if state.cycle.freed:
                yield from retry_members_elsewhere(state)
            self._cycle = Cycle(state, fresh_only=not state.cycle.freed)
            begin_cycle(state)
        wakes = yield from self._cycle.slice()
        emit_first(state, wakes)
        if self._cycle.done:
            end_cycle(state, self._cycle.nowhere)
            self._cycle = None

    def _on_time_passed(self) -> Rounds:
        state = self._state
        clear_overdue(state)
        expire_reservations(state)
        yield
        yield from expire_provisional(state)
        yield from expire_doubts(state)
        for record in expire_turns(state):
            touch(state, record)
        yield
        yield from gangs_due(state)
        yield from expire_groups(state)
        drop_offers(state)
        expire_node_reservations(state)
        yield
        find_due(state)
        find_reclaims(state)
        come_of_age(state)
        expire_tombstones(state)
        again = forget_groups(state)
        if again:
            yield from place_again(state, again)
        yield from place_overdue(state)
        report_due(state)
        pass_time(state)
        executions_due(state)
        open_due_queues(state)
        yield from endings_due(state)
        yield from moves_due(state)
        report_unguarded(state)
        report_holds(state)
