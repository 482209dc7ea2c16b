"""Place of each pod in its gang, and the index of places.

A place follows from the facts about a pod and its gang (`place_of`). `file` updates the indexes.
"""

from core.ids import NO_NODE, NodeName, PodUid
from core.ledger.gangs.due import note_node, touch_gang
from core.ledger.gangs.slots import drop_slot, time_slot
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import GANG_SCHEDULING, post
from core.ledger.state.gangs import Place, Role
from core.ledger.state.state import State
from core.workload.gangs.phase import GangPhase
from core.workload.gangs.progress import GangProgress, TaskGroupProgress

ALLOCATED = "PlaceholderAllocated"


def gang_progress_of(state: State, record: PodRecord) -> GangProgress | None:
    """Progress of the gang of a pod's application, or None."""
    application = state.application_of(record)
    return application.gang_progress if application is not None else None


def progress_of(state: State, record: PodRecord) -> TaskGroupProgress | None:
    """Progress of the task group that a pod is a member or a placeholder of."""
    gang_progress = gang_progress_of(state, record)
    return gang_progress.groups.get(record.facts.task_group) if gang_progress is not None else None


def awaits_gang(state: State, record: PodRecord) -> bool:
    """True if a pod is no ask yet, because its gang or its placeholder is not ready (GANG-9, GANG-10)."""
    gang_progress = gang_progress_of(state, record)
    if gang_progress is None or record.facts.placeholder:
        return False
    if gang_progress.phase is GangPhase.ORDINARY:
        return False
    if gang_progress.phase is not GangPhase.STARTED:
        return True
    if record.gang.slot is not None:
        return record.gang.slot.opened is None
    progress = gang_progress.groups.get(record.facts.task_group)
    return progress is not None and not progress.closed and not record.gang.slot_lost


def place_of(state: State, record: PodRecord) -> Place | None:
    """Place under which a pod should be filed, or None."""
    application = state.application_of(record)
    if application is None or application.gang_progress is None:
        return None
    role = _role(state, record, application.gang_progress)
    return Place(role, application.id, record.facts.task_group, record.rank) if role else None


def _role(state: State, record: PodRecord, gang_progress: GangProgress) -> Role | None:
    group = record.facts.task_group
    if record.facts.placeholder:
        if (
            record.gang.released
            or record.gang.yields_to
            or record.facts.deleting
            or group not in gang_progress.groups
        ):
            return Role.LEAVING
        return Role.HELD if record.node else Role.PENDING
    if (
        record.node
        or record.admission.reservation is not None
        or not record.is_ask
        or not awaits_gang(state, record)
    ):
        return None
    if (
        gang_progress.phase is GangPhase.STARTED
        and record.gang.slot is None
        and group in gang_progress.groups
    ):
        return Role.WANTING
    return Role.WAITING


def file(state: State, record: PodRecord) -> None:
    """Bring the indexes in line with what is now known of a pod."""
    gangs, uid = state.gangs, record.uid
    old, new = gangs.places.get(uid), place_of(state, record)
    if old != new:
        _move(state, uid, old, adding=False)
        _move(state, uid, new, adding=True)
        if old is not None and new is not None and (old.role, new.role) == (Role.PENDING, Role.HELD):
            _report_allocated(state, record)
    if record.gang.slot is not None or uid in gangs.slots_at or uid in gangs.opening:
        _file_slot(state, record)
    if state.gangs.slots:
        _note_nodes(state, record)


def _note_nodes(state: State, record: PodRecord) -> None:
    """Have the slots checked on the nodes on which a pod is counted."""
    charge = state.usage.charges.get(record.uid)
    for node in (state.gangs.slots_at.get(record.uid), charge.node if charge is not None else None):
        if node:
            note_node(state, node)


def _report_allocated(state: State, record: PodRecord) -> None:
    text = f"holds capacity for a member of {record.facts.task_group} on {record.node}"
    post(state, record, GANG_SCHEDULING, text, warning=False, action=ALLOCATED)


def unfile(state: State, record: PodRecord) -> None:
    """Take a pod out of the indexes."""
    uid = record.uid
    _move(state, uid, state.gangs.places.get(uid), adding=False)
    if record.gang.slot is not None or uid in state.gangs.slots_at or uid in state.gangs.opening:
        drop_slot(record)
        _file_slot(state, record)


def _move(state: State, uid: PodUid, place: Place | None, *, adding: bool) -> None:
    application = state.applications.known.get(place.app) if place is not None else None
    if place is None or application is None or application.gang_progress is None:
        return
    gang_progress = application.gang_progress
    touch_gang(state, place.app)
    if adding:
        state.gangs.places[uid] = place
    else:
        del state.gangs.places[uid]
    progress = gang_progress.groups.get(place.group)
    match place.role:
        case Role.PENDING if progress is not None:
            (progress.pending.add if adding else progress.pending.discard)(uid)
        case Role.HELD if progress is not None:
            (progress.held.add if adding else progress.held.remove)(place.rank)
        case Role.WANTING | Role.WAITING:
            (gang_progress.waiting.add if adding else gang_progress.waiting.discard)(uid)
            if place.role is Role.WANTING and progress is not None:
                (progress.wanting.add if adding else progress.wanting.remove)(place.rank)
        case _:
            pass


def _file_slot(state: State, record: PodRecord) -> None:
    """File the node of a member's slot."""
    slot, known = record.gang.slot, state.gangs.slots_at.get(record.uid)
    wanted = slot.node if slot is not None and not record.node else None
    _file_opening(state, record)
    time_slot(state, record)
    if known == wanted:
        return
    if known is not None:
        del state.gangs.slots_at[record.uid]
        state.gangs.slots[known].discard(record.uid)
        if not state.gangs.slots[known]:
            del state.gangs.slots[known]
    if wanted is not None:
        state.gangs.slots_at[record.uid] = wanted
        state.gangs.slots.setdefault(wanted, set()).add(record.uid)


def _file_opening(state: State, record: PodRecord) -> None:
    """File members that are linked and whose placeholder still exists, the latest last."""
    linked = linked_at(record)
    if linked is None:
        state.gangs.opening.pop(record.uid, None)
    elif state.gangs.opening.get(record.uid) != linked:
        state.gangs.opening.pop(record.uid, None)
        state.gangs.opening[record.uid] = linked


def linked_at(record: PodRecord) -> float | None:
    """Time at which a member was linked with its placeholder; None once the placeholder is deleted."""
    slot = record.gang.slot
    return slot.linked if slot is not None and slot.opened is None and not record.node else None


def is_promised(record: PodRecord) -> bool:
    """True for a pending pod whose quota is held for it, by filter or by an opened gate."""
    return record.admission.reservation is not None or holds_otherwise(record)


def holds_otherwise(record: PodRecord) -> bool:
    """True for a pending pod whose quota is held for it whatever filter answers."""
    return bool(slot_node(record)) or (record.is_unguarded and not record.bypasses)


def slot_node(record: PodRecord) -> NodeName:
    """Node with capacity held for a member whose placeholder is deleted."""
    slot = record.gang.slot
    return slot.node if slot is not None and slot.opened is not None else NO_NODE
