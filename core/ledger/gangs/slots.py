"""Slots: capacity on a node that a member of a gang takes over from a placeholder (GANG-10 to GANG-12).

Only this module writes the fields of `GangRecord` except ``released``.
"""

from core.ids import NO_POD, NodeName, PodUid
from core.ledger.pods.record import PodRecord, Slot


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
    """Keep the capacity of a placeholder for a member; ``NO_POD``: for none any more."""
    holder.gang.yields_to = uid


def unyield(holder: PodRecord) -> None:
    """Keep the capacity of a placeholder for no member any more."""
    yield_to(holder, NO_POD)


def open_slot(member: PodRecord, *, now: float) -> None:
    """Note that the placeholder is gone, so that the member holds the capacity."""
    if member.gang.slot is not None:
        member.gang.slot = member.gang.slot._replace(opened=now)


def note_forgone(member: PodRecord) -> None:
    """Note that the slot of a member came to nothing, so that it gets no other."""
    member.gang.forgone = True


def forget_forgone(member: PodRecord) -> None:
    """Forget that the slot of a member came to nothing: another instance saw it."""
    member.gang.forgone = False


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
