"""Membership of pods in pod groups, and the role of each (COS-1, COS-2). Filing only.

`core.ledger.podgroups.attempt` handles every touched group once an event has been applied.
"""

from collections.abc import Iterator

from core.ids import PodUid
from core.ledger.effects import EndWait
from core.ledger.pods.binding import end_binding, end_binding_wait
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import GANG_SCHEDULING, post
from core.ledger.state.outbox import emit
from core.ledger.state.state import State
from core.workload.gangs.gang import GroupSource, Misdefined, PodGroup
from core.workload.pod_group import HOLDING, Group, GroupKey, MemberPhase, Seniority, Terms
from core.workload.pod_group_phase import AttemptEvent, AttemptPhase, GroupEvent, GroupPhase

MISDEFINED = "PodGroupError"
"""Action of Events about groups that are wrongly defined (REST-17)."""

GOING = "the pod is being deleted"
UNKNOWN = 2**31
"""Members that must start together while the number is unknown: the PodGroup object is missing."""


def key_of(state: State, record: PodRecord) -> GroupKey | None:
    """Key of the group of a managed pod. Names have no effect where the cluster lacks such objects."""
    group = record.facts.pod_group
    if not isinstance(group, PodGroup) or not record.membership.managed:
        return None
    if group.source is not GroupSource.LABELS and group.source not in state.podgroups.sources:
        return None
    return GroupKey(record.facts.namespace, group.name)


def group_of(state: State, record: PodRecord) -> Group | None:
    """Group of a pod. Cost: two look-ups for a pod of a group, one comparison for any other."""
    if record.facts.pod_group is None:
        return None
    key = key_of(state, record)
    return state.podgroups.known.get(key) if key is not None else None


def unopened(state: State, record: PodRecord) -> Group | None:
    """Group of a pod while not enough of its members are on nodes."""
    group = group_of(state, record)
    return None if group is None or group.open else group


def phase_of(state: State, record: PodRecord, group: Group) -> MemberPhase:
    """Current role of a member in its group."""
    application = state.application_of(record)
    if application is None or application.queue is None or record.facts.deleting:
        return MemberPhase.AWAY
    if group.is_gang and group.queue is not None and application.queue != group.queue:
        return MemberPhase.STRAY
    if record.node:
        return MemberPhase.BOUND
    if not record.is_ask:
        return MemberPhase.AWAY
    if record.placement.binding:
        return MemberPhase.WAITING if record.placement.waits_bind else MemberPhase.POSTING
    return (
        MemberPhase.RESERVED
        if record.admission.reservation is not None or record.is_unguarded
        else MemberPhase.PENDING
    )


def note_member(state: State, record: PodRecord) -> None:
    """Bring a pod's group in line with what is now known about the pod."""
    if record.facts.pod_group is None and record.pod_group is None:
        return
    key = key_of(state, record)
    if record.pod_group is not None and record.pod_group != key:
        _drop(state, record)
    if key is None:
        return
    group = state.podgroups.known.get(key)
    if group is None:
        group = state.podgroups.known[key] = Group(key)
    if record.pod_group is None:
        _join(state, record, group)
    if group.sizes[record.uid] != record.facts.size or group.min_available != least_of(state, group):
        group.measure(record.uid, record.facts.size)
        group.min_available = least_of(state, group)
        touch_group(state, key)
    _choose_queue(state, record, group)
    _file(state, record, group)
    retime_group(state, key)


def warn_of_labels(state: State, record: PodRecord) -> None:
    """Report labels of a lightweight group that make no sense, so that the pod is in no group (COS-1)."""
    group = record.facts.pod_group
    if isinstance(group, Misdefined):
        text = f"{group.why}; the pod is in no group"
        post(state, record, GANG_SCHEDULING, text, action=MISDEFINED)


def touch_group(state: State, key: GroupKey) -> None:
    """Have the ledger check a group before the event ends."""
    state.podgroups.touched[key] = None


def touch_all_groups(state: State) -> None:
    """Touch every group that has members."""
    for key in state.podgroups.known:
        touch_group(state, key)


def retime_group(state: State, key: GroupKey) -> None:
    """Have the timers of a group set anew before the event ends."""
    state.podgroups.untimed[key] = None


def take_untimed_groups(state: State) -> list[GroupKey]:
    """Remove and return the groups whose timers are to be set anew."""
    found = list(state.podgroups.untimed)
    state.podgroups.untimed.clear()
    return found


def take_touched_groups(state: State) -> Iterator[Group]:
    """Remove and return the touched groups. Groups touched meanwhile come last."""
    while state.podgroups.touched:
        key = next(iter(state.podgroups.touched))
        del state.podgroups.touched[key]
        group = state.podgroups.known.get(key)
        if group is not None:
            yield group


def forget_group(state: State, group: Group) -> None:
    """Forget a group that has no members."""
    del state.podgroups.known[group.key]
    retime_group(state, group.key)


def forget_member(state: State, record: PodRecord) -> None:
    """Take a deleted pod out of its group."""
    if record.pod_group is not None:
        _drop(state, record)


def end_wait(state: State, record: PodRecord, why: str) -> None:
    """End the wait of a bind call: for its Binding, or for a failure with the reason ``why``."""
    if record.placement.waits_bind:
        (end_binding if why else end_binding_wait)(record)
        emit(state, EndWait(record.uid, why))


def members(state: State, group: Group) -> Iterator[PodRecord]:
    """Members of a group, in no particular order."""
    return (state.pods.records[uid] for uid in group.phases)


def least_of(state: State, group: Group) -> int:
    """Number of members that must start together, by the first member (COS-2) or by an object (COS-10)."""
    named = named_by_first(state, group)
    if named is None:
        return 1
    if named.source is GroupSource.LABELS:
        return named.min_available
    terms = terms_of(state, group)
    return terms.min_available if terms is not None else UNKNOWN


def terms_of(state: State, group: Group) -> Terms | None:
    """Terms of the object that the first member names, if there is one."""
    named = named_by_first(state, group)
    return state.podgroups.terms.get((named.source, group.key)) if named is not None else None


def named_by_first(state: State, group: Group) -> PodGroup | None:
    """Group as its first member names it, or None."""
    record = state.pods.records.get(group.first.uid) if group.first is not None else None
    named = record.facts.pod_group if record is not None else None
    return named if isinstance(named, PodGroup) else None


# -- filing ----------------------------------------------------------------------------------------------


def _join(state: State, record: PodRecord, group: Group) -> None:
    record.pod_group = group.key
    _compare_with_first(state, record, group)
    age = Seniority(record.facts.created, record.seq, record.uid)
    group.ages[record.uid] = age
    group.measure(record.uid, record.facts.size)
    if group.first is None or age < group.first:
        group.first = age
    group.file(record.uid, MemberPhase.AWAY)
    group.min_available = least_of(state, group)
    touch_group(state, group.key)


def _compare_with_first(state: State, record: PodRecord, group: Group) -> None:
    """Report once that members differ in what they should share. The group goes on (COS-1)."""
    first = state.pods.records.get(group.first.uid) if group.first is not None else None
    if first is None or not group.is_gang:
        return
    if first.facts.priority != record.facts.priority:
        _warn(state, record, group, "priority", "its members differ in priority: the highest counts")
    if first.facts.pod_group != record.facts.pod_group:
        _warn(
            state, record, group, "min", f"its members differ in min-available: {group.min_available} counts"
        )


def _warn(state: State, record: PodRecord, group: Group, once: str, message: str) -> None:
    if once not in group.warned:
        group.warned.add(once)
        post(state, record, GANG_SCHEDULING, f"{group.title}: {message}", action=MISDEFINED)


def _choose_queue(state: State, record: PodRecord, group: Group) -> None:
    """Choose the queue of the first member that has one. Choose anew when no member is left in it."""
    application = state.application_of(record)
    if application is None or application.queue is None:
        return
    if group.queue is None or (application.queue != group.queue and not group.there):
        group.queue = application.queue
        for each in list(members(state, group)):
            _file(state, each, group)


def follow_move(state: State, record: PodRecord) -> None:
    """Have a pod's group belong to the queue to which the application of all its members was moved."""
    application, group = state.application_of(record), group_of(state, record)
    if application is None or group is None or application.queue in (None, group.queue):
        return
    if all(each.membership.application == application.id for each in members(state, group)):
        group.queue = application.queue
        for each in list(members(state, group)):
            _file(state, each, group)


def _file(state: State, record: PodRecord, group: Group) -> None:
    phase, before = phase_of(state, record, group), group.phases[record.uid]
    if record.placement.waits_bind and phase is not MemberPhase.WAITING:
        end_wait(state, record, GOING if record.facts.deleting else "it is bound already")
    if phase is before:
        return
    if phase is MemberPhase.AWAY:
        _note_loss(state, record, group)
    if phase is MemberPhase.STRAY:
        _warn(state, record, group, record.uid, f"all members belong into one queue, which is {group.queue}")
    if before is MemberPhase.POSTING and phase is not MemberPhase.BOUND:
        _note_failed_binding(group)
    group.file(record.uid, phase)
    touch_group(state, group.key)


def _drop(state: State, record: PodRecord) -> None:
    key, record.pod_group = record.pod_group, None
    group = state.podgroups.known[key] if key is not None else None
    if group is None:
        return
    _note_loss(state, record, group)
    if group.phases[record.uid] is MemberPhase.POSTING:
        _note_failed_binding(group)
    end_wait(state, record, "the pod is gone")
    group.drop(record.uid)
    if group.first is not None and group.first.uid == record.uid:
        group.first = min(group.ages.values(), default=None)
        group.min_available = least_of(state, group)
    touch_group(state, group.key)
    retime_group(state, group.key)


def _note_loss(state: State, record: PodRecord, group: Group) -> None:
    """Fail the attempt of a group when a member with a turn or quota leaves (COS-6)."""
    held = group.phases[record.uid] in HOLDING or record.uid in state.turns.of
    if held and group.attempts and group.attempt_phase is not AttemptPhase.LOST:
        group.move_attempt(AttemptEvent.MEMBER_LEFT)


def _note_failed_binding(group: Group) -> None:
    """Note that a released member is not on its node. A degraded group cannot get worse."""
    if group.phase in (GroupPhase.UNSTARTED, GroupPhase.STARTED):
        group.move(GroupEvent.BINDING_FAILED)


def has_turns(state: State, group: Group) -> list[PodUid]:
    """Members that have a turn and have not come yet."""
    return [
        uid for uid, phase in group.phases.items() if phase is MemberPhase.PENDING and uid in state.turns.of
    ]
