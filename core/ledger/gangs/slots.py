"""Slots: capacity on a node that a member of a gang takes over from a placeholder (GANG-10 to GANG-12).

A slot is open when its placeholder is deleted. Each open slot has a timer for its next check (`check_at`).
Only this module writes the fields of `GangRecord` except ``released``.
"""

from core.ids import NO_POD, NodeName, PodUid
from core.instants import earliest
from core.ledger.pods.parts import Slot
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.ledger.state.timer_heap import cancel_timer, set_timer
from core.ledger.state.timers import TimerKind
from core.workload.pod import OWN_GATE

OPEN_AT_MOST = 10.0
"""Seconds from kube-scheduler's first try of a member with an open slot to its Binding."""

UNTRIED_AT_MOST = 300.0
"""Seconds from the opening of a slot to that first try.

Thousands of pods may stand in kube-scheduler's queue before the member, each taking 50 ms under load. Or
another replica must first become the leader.
"""

LIVES_AFTER = 1.0
"""Seconds after a try. A later call about any pod shows that kube-scheduler did not stop during the try."""

EXCUSED_AT_MOST = 30.0
"""Seconds from an excused try to the next one."""

TRIED_APART = 2.0
"""Seconds from the first wake-up of a member with an open slot to the second.

Each later interval is four times as long, because such a member most likely stands in a long queue.
"""


def link(member: PodRecord, holder: PodRecord, node: NodeName, *, now: float) -> None:
    """Give a member the capacity of a placeholder, on its node or on another one."""
    member.gang.slot = Slot(holder.uid, node, now)
    yield_to(holder, member.uid)


def take_slot(member: PodRecord, placeholder: PodUid, node: NodeName, *, now: float) -> None:
    """Give a member the slot that is written on it."""
    member.gang.slot = Slot(placeholder, node, now)


def drop_slot(member: PodRecord) -> None:
    """Take the slot of a member away: it is used, or comes to nothing."""
    member.gang.slot = None


def yield_to(holder: PodRecord, uid: PodUid) -> None:
    """Hold the capacity of a placeholder for a member. ``NO_POD``: for none any more."""
    holder.gang.yields_to = uid


def unyield(holder: PodRecord) -> None:
    """Hold the capacity of a placeholder for no member any more."""
    yield_to(holder, NO_POD)


def open_slot(member: PodRecord, *, now: float) -> None:
    """Note that the placeholder was deleted, so that the member holds the capacity."""
    if member.gang.slot is not None:
        member.gang.slot = member.gang.slot._replace(opened=now)


def note_slot_lost(member: PodRecord) -> None:
    """Note that a member lost its slot, so that it gets no other."""
    member.gang.slot_lost = True


def forget_slot_lost(member: PodRecord) -> None:
    """Forget that a member lost its slot, because another instance saw it."""
    member.gang.slot_lost = False


def note_called(member: PodRecord, slot: Slot) -> None:
    """Note that kube-scheduler is made to try the member once more."""
    member.gang.slot = slot._replace(called=slot.called + 1)


def note_tried(member: PodRecord, *, now: float) -> None:
    """Note that kube-scheduler has tried a member; for a pod without a slot this does nothing."""
    if member.gang.slot is not None:
        member.gang.slot = member.gang.slot.after_try(now)


def note_offered_others(member: PodRecord) -> None:
    """Note that kube-scheduler offered a member other nodes only; without a slot this does nothing."""
    if member.gang.slot is not None:
        member.gang.slot = member.gang.slot.after_refusal()


def is_free_for(holder: PodRecord, member: PodRecord) -> bool:
    """True if a pod is a placeholder of the gang of a member and yields to no other."""
    same = holder.membership.application == member.membership.application
    return holder.facts.placeholder and not holder.gang.yields_to and same


# -- times -------------------------------------------------------------------------------------------------


def time_slot(state: State, member: PodRecord) -> None:
    """Bring the timer of a slot in line with what is now known about its member."""
    moment = check_at(member)
    if moment is None:
        cancel_timer(state, TimerKind.GANG_SLOT, member.uid)
    else:
        set_timer(state, TimerKind.GANG_SLOT, member.uid, moment)


def check_at(member: PodRecord) -> float | None:
    """Time of the next check of an open slot, in seconds. None while nothing about it ends by itself."""
    slot = member.gang.slot
    if slot is None or slot.opened is None or member.node or member.placement.binding:
        return None
    return earliest(overdue_at(member, slot, slot.opened), call_again_at(member, slot, slot.opened))


def overdue_at(member: PodRecord, slot: Slot, opened: float) -> float | None:
    """Time at which a member has not taken its slot. None while PreBind is, or may be, under way."""
    reservation = member.admission.reservation
    if reservation is not None and (reservation.ends is None or member.facts.has_volumes):
        # Admitted by filter. Its time stands still, or its volumes may bind without a sign of it (F-27).
        return None
    if slot.tried is not None:
        return slot.tried + OPEN_AT_MOST
    return opened + UNTRIED_AT_MOST if slot.excused is None else slot.excused + EXCUSED_AT_MOST


def may_have_stopped(slot: Slot, *, asked_at: float) -> bool:
    """True if a try without a Binding is excused, because kube-scheduler may have stopped during it.

    Another replica leads some 15 s later, and tries the member anew. The failure of a try from before the
    slot was open may be reported after it. Only one try is excused, since a kube-scheduler that has nothing
    to do is as silent.

    ``asked_at``: time of kube-scheduler's last call about any pod, in seconds.
    """
    return slot.tried is not None and slot.excused is None and asked_at < slot.tried + LIVES_AFTER


def call_again_at(member: PodRecord, slot: Slot, opened: float) -> float | None:
    """Time at which a member is woken once more. None if kube-scheduler tries it by itself."""
    if not (member.admission.refused or OWN_GATE in member.facts.gates):
        return None
    if member.admission.woken_at is None:
        # Not refused before its slot was open, and tried before its node was known.
        return opened
    return member.admission.woken_at + TRIED_APART * 4.0 ** max(0, slot.called - 1)
