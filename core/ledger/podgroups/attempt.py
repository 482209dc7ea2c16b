"""Attempts of pod groups to start together, and their outcome (COS-4 to COS-6, DESIGN-5).

An *attempt* begins when members get their turns. It ends when enough of them are bound or wait in bind, which
releases them all. It fails when its time is up or one of them is deleted, which fails them all. `tend` checks
every group that an event has touched. `expire_groups` handles the timers.
"""

from core.ledger.admission.leases import time_lease
from core.ledger.admission.requests import request_cycle, request_cycle_at
from core.ledger.admission.turns import begin_lease, end_turn
from core.ledger.node_reservation.search import search_next
from core.ledger.podgroups.deadlines import wait_of_group
from core.ledger.podgroups.eligibility import is_alone
from core.ledger.podgroups.membership import (
    end_wait,
    forget_group,
    has_turns,
    members,
    retime_group,
    take_touched_groups,
)
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.ledger.usage.reservations import give_back
from core.workload.pod_group import HOLDING, PLACED, Group, MemberPhase, back_off_of
from core.workload.pod_group_phase import AttemptEvent, AttemptPhase, GroupEvent, GroupPhase

LEFT = "a member was deleted"
LOSSES = {
    AttemptPhase.LOST: LEFT,
    AttemptPhase.RESTARTED: "kube-scheduler has begun anew",
}
"""Reasons why an attempt fails at once, by its phase."""

TIMED_OUT = "not enough members of its pod group came in time"

DEGRADED = "GangDegraded"
"""Reason of the Event for a group of which some members are on nodes, but not enough."""


def tend(state: State) -> Rounds:
    """Handle the effects of an event on pod groups."""
    for group in take_touched_groups(state):
        _tend(state, group)
        yield


def _tend(state: State, group: Group) -> None:
    if not group.phases:
        forget_group(state, group)
        state.podgroups.watched.pop(group.key, None)
        return
    if group.open is not group.timed_open:
        _time_turns(state, group)
    _note_completeness(state, group)
    if group.attempts and group.count(*HOLDING):
        _come(group)
    if group.open:
        _note_open(state, group)
    elif group.attempt_phase in LOSSES:
        state.podgroups.numbers.losses += 1
        fail(state, group, LOSSES[group.attempt_phase])
    elif group.count(*PLACED, MemberPhase.WAITING) >= group.min_available:
        # The release touches the group again.
        _release(state, group)
        return
    _note_degradation(state, group)
    watch_group(state, group)


def _time_turns(state: State, group: Group) -> None:
    """Time the turns of members by their own leases while the group is open, else by the group's."""
    group.timed_open = group.open
    for record in members(state, group):
        if record.uid in state.turns.of:
            time_lease(state, record)


def _come(group: Group) -> None:
    """Note that a member has come to filter."""
    group.ignored = 0
    if group.attempt_phase is AttemptPhase.CALLED:
        group.move_attempt(AttemptEvent.CAME)


def watch_group(state: State, group: Group) -> None:
    """Note whether a group has a timer, and have its timers set anew."""
    retime_group(state, group.key)
    if is_watched(group):
        state.podgroups.watched[group.key] = None
    else:
        state.podgroups.watched.pop(group.key, None)


def is_watched(group: Group) -> bool:
    """True if something about a group ends by itself."""
    return group.attempts or group.urgent


def _note_completeness(state: State, group: Group) -> None:
    """Note whether enough members exist. The last missing member makes a cycle check the group."""
    complete = group.there >= group.min_available
    if complete and not group.complete:
        group.complete_since = state.now
        call(state, group)
    group.complete = complete


def call(state: State, group: Group) -> None:
    """Have the next cycle check a group."""
    for uid, phase in group.phases.items():
        if phase is MemberPhase.PENDING and uid in state.pending.waits_at:
            search_next(state, uid)
            request_cycle(state, CycleReason.GROUP_COMPLETE)
            return


def _release(state: State, group: Group) -> None:
    """Release all members that wait in bind, in the order in which they came."""
    for record in waiting_in_bind(state, group):
        end_wait(state, record, "")
        touch(state, record)


def _note_open(state: State, group: Group) -> None:
    """End the attempt of a group of which enough members are on nodes or on their way."""
    _release(state, group)
    for uid in has_turns(state, group) if group.attempts else ():
        begin_lease(state, uid)
    if group.attempts and group.complete_since is not None:
        state.podgroups.numbers.note_completed(max(0.0, state.now - group.complete_since))
    if (group.attempts or group.urgent) and is_alone(state, group):
        # Other groups may have waited for it.
        request_cycle(state, CycleReason.GROUP_CHANGED)
    if group.attempts:
        _end_attempt(group, AttemptEvent.OPENED)
    group.timeouts, group.ignored, group.backs_off_until = 0, 0, None
    if group.phase is not GroupPhase.STARTED:
        group.move(GroupEvent.OPENED)


def _note_degradation(state: State, group: Group) -> None:
    """Note that some members are on nodes but not enough, after a crash or a failed Binding.

    A group that has run with enough members only runs down. A group first seen with members on nodes and none
    pending may have done so. Nothing tells, so it is left alone.
    """
    if group.open or not group.count(*PLACED):
        group.degraded_since = None
        if not group.open and group.phase is not GroupPhase.UNSTARTED:
            group.move(GroupEvent.EMPTIED)
        return
    unfinished = group.phase is GroupPhase.UNSTARTED and group.there > group.count(*PLACED)
    if (unfinished or group.phase is GroupPhase.BROKEN) and state.pods.listed:
        group.move(GroupEvent.FOUND_SHORT)
        group.degraded_since = state.now
        call(state, group)


def waiting_in_bind(state: State, group: Group) -> list[PodRecord]:
    """Members that wait in bind, in the order in which they came."""
    if not group.counts[MemberPhase.WAITING]:
        return []
    return [state.pods.records[uid] for uid, phase in group.phases.items() if phase is MemberPhase.WAITING]


# -- an attempt ------------------------------------------------------------------------------------------


def begin_attempt(state: State, group: Group) -> None:
    """Begin an attempt: the members may come from now on."""
    if not group.attempts:
        group.move_attempt(AttemptEvent.BEGUN)
        group.attempt_since = state.now
    group.leased = state.now
    watch_group(state, group)


def note_arrival(state: State, group: Group) -> None:
    """Note that a member has come to its bind call and waits there."""
    begin_attempt(state, group)
    if group.attempt_phase in (AttemptPhase.CALLED, AttemptPhase.COMING):
        group.move_attempt(AttemptEvent.ARRIVED)
        group.wait_until = state.now + wait_of_group(state, group)


def fail(state: State, group: Group, why: str) -> None:
    """Fail an attempt. All members that wait fail together and release their capacity (COS-6)."""
    for record in waiting_in_bind(state, group):
        end_wait(state, record, f"pod group {group.key.name}: {why}")
        give_back(state, record)
        touch(state, record)
    for uid in has_turns(state, group):
        end_turn(state, uid)
    _end_attempt(group, AttemptEvent.FAILED)
    watch_group(state, group)
    request_cycle(state, CycleReason.GROUP_CHANGED)


def _end_attempt(group: Group, event: AttemptEvent) -> None:
    """End an attempt."""
    group.move_attempt(event)
    group.attempt_since, group.wait_until = None, None


def give_up(state: State, group: Group, why: str) -> None:
    """Give up an attempt that came to nothing. The group backs off, and goes behind its rank then."""
    if group.first is None:
        return
    group.timeouts += 1
    state.podgroups.numbers.timeouts += 1
    back_off(state, group, back_off_of(group.first.uid, group.timeouts))
    _post(state, group, "PodGroupTimeout", f"{why}; tried again later")
    fail(state, group, why)


def back_off(state: State, group: Group, seconds: float) -> None:
    """Begin a back-off of a group."""
    group.backs_off_until = state.now + seconds
    request_cycle_at(state, group.backs_off_until)


def found_no_place(state: State, record: PodRecord, group: Group) -> None:
    """End the turn of a member without a node. The others wait on for it, if there are any."""
    end_turn(state, record.uid)
    if group.attempts and group.held == group.count(*PLACED) and not has_turns(state, group):
        give_up(state, group, "its members found no node")


def report_degraded(state: State, group: Group) -> None:
    """Report a group that stayed degraded."""
    group.move(GroupEvent.REPORTED)
    state.podgroups.numbers.degraded += 1
    watch_group(state, group)
    placed = group.count(*PLACED)
    text = f"{placed} of {group.min_available} members are on nodes, which stay there"
    _post(state, group, DEGRADED, text)
    request_cycle(state, CycleReason.GROUP_CHANGED)


def _post(state: State, group: Group, reason: str, text: str) -> None:
    """Post a Warning Event on the group's first pod."""
    record = state.pods.records.get(group.first.uid) if group.first is not None else None
    if record is not None:
        post(state, record, reason, f"{group.title}: {text}")


# -- beginning -------------------------------------------------------------------------------------------
