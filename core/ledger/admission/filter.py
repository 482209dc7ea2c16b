"""Effects of a filter call and its answer on a pod's record (DESIGN-3)."""

from core.ids import NO_NODE
from core.ledger import events as on
from core.ledger.admission.answers import note_admitted, note_refused
from core.ledger.admission.bind import admit_again
from core.ledger.admission.leases import note_called, time_lease
from core.ledger.admission.requests import request_cycle
from core.ledger.admission.turns import (
    check_again,
    end_turn,
    end_waking,
    note_checked,
    restore_rank,
)
from core.ledger.gangs.slots import note_offered_others, note_tried
from core.ledger.podgroups.membership import end_wait, unopened
from core.ledger.pods.record import PodRecord
from core.ledger.pods.update import time_runs
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.touched import Rounds, touch
from core.ledger.usage.reservations import expect_on, give_back, reserve
from core.reasons import Code, Refusal
from core.workload.ask import Reservation
from core.workload.gangs.gang import GroupSource, PodGroup
from core.workload.pod_group_phase import AttemptEvent

NATIVE_TTL = 5.0
"""Upper bound, in seconds, of a quota reservation for a member of Kubernetes' own PodGroup (DESIGN-3).

kube-scheduler may try such a group again and again without placing it.
"""

VOLUMES_TTL = 600.0
"""Lower bound, in seconds, of a quota reservation for a pod with volumes by claims (DESIGN-3, F-27).

kube-scheduler gives volumes this long to bind. Before Kubernetes 1.35 it writes no nominated node meanwhile.
"""

_TURN_STANDS = (Code.NODE_RESERVED, Code.WAITING_FOR_TURN)


def note_filter(state: State, event: on.FilterCalled | on.PodAdmitted | on.PodRefused) -> Rounds:
    """Note a filter call or its answer. Nothing is noted of a deleted pod."""
    record = state.pods.records.get(event.uid)
    if record is None:
        return
    if isinstance(event, on.PodAdmitted):
        if event.called:
            _note_call(state, record)
        _reserve(state, record, event.version, called=event.called)
    elif isinstance(event, on.PodRefused):
        if event.called:
            _note_call(state, record)
            if _give_up(state, record):
                # The refusal is noted on a pod that is pending again.
                touch(state, record)
                yield
        note_refused(record, event.sent)
        note_offered_others(record)
        _note_refusal(state, record, event.refusal)
    else:
        _note_call(state, record)
        _give_up(state, record)
        touch(state, record)
    if record.pod_group is not None or record.gang.slot is not None:
        # The group may choose its queue anew if no other member is left in it. The slot is timed anew.
        touch(state, record)


def _note_call(state: State, record: PodRecord) -> None:
    """Note a call.

    A Binding that was already sent may still succeed, so the reservation survives a new call.
    """
    note_called(state, record)
    note_tried(record, now=state.now)
    _end_waits(state, record)
    if state.cycle.running and (record.admission.passed_over or record.admission.backs_off_until is not None):
        # The ask is back in its rank, which the running cycle has already passed.
        check_again(state, record.uid)
    restore_rank(record)
    end_waking(record)


def _give_up(state: State, record: PodRecord) -> bool:
    """End the reservation of a pod that has no open bind call. Return True if there was one."""
    held = record.admission.reservation is not None
    if record.placement.binding:
        return False
    give_back(state, record)
    if not record.is_unguarded:
        expect_on(record, NO_NODE)
    return held


def _end_waits(state: State, record: PodRecord) -> None:
    """Fail the attempt of a group if kube-scheduler tries a member anew whose bind call waits.

    kube-scheduler was restarted and has forgotten its calls. The calls of the other members may also be old,
    and their nodes may be given away.
    """
    if record.placement.waits_bind:
        group = unopened(state, record)
        if group is not None:
            group.move_attempt(AttemptEvent.SCHEDULER_RESTARTED)
        end_wait(state, record, "kube-scheduler tries the pod anew")
        touch(state, record)


def _note_refusal(state: State, record: PodRecord, refusal: Refusal) -> None:
    """End the turn of a pod that was refused after all, and request a cycle if asks wait for one.

    The turn stands if only reserved nodes were offered, because kube-scheduler has not tried all nodes yet.
    It also stands while the group is being given its turns.
    """
    if refusal.code not in _TURN_STANDS:
        end_turn(state, record.uid)
    elif record.uid in state.turns.of:
        time_lease(state, record)
    if refusal.code is Code.WAITING_FOR_TURN:
        if state.turns.fresh:
            request_cycle(state, CycleReason.POD_ARRIVED)
    else:
        note_checked(state, record.uid)


def _reserve(state: State, record: PodRecord, version: int, *, called: bool) -> None:
    """Reserve the quota of an admitted pod. A retry reserves anew in place of its reservation."""
    note_admitted(record)
    if record.placement.binding and record.is_ask:
        admit_again(state, record, Reservation(_ttl(state, record), None, version))
        touch(state, record)
    elif record.is_ask and (called or record.admission.reservation is None):
        turn = state.turns.of.get(record.uid)
        if turn is not None:
            expect_on(record, turn.node)
        elif called and record.admission.reservation is None and not record.is_unguarded:
            expect_on(record, NO_NODE)
        whole = Reservation(_ttl(state, record), state.now, version)
        reserve(state, record, whole.running(time_runs(record), now=state.now))
        touch(state, record)


def _ttl(state: State, record: PodRecord) -> float:
    named, ttl = record.facts.pod_group, state.config.settings.reservation_ttl
    if isinstance(named, PodGroup) and named.source is GroupSource.NATIVE:
        return min(NATIVE_TTL, ttl)
    return max(VOLUMES_TTL, ttl) if record.facts.has_volumes else ttl
