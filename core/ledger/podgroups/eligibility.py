"""Eligibility of a pod group to begin, considering its own back-off and other groups."""

from core.ids import PodUid
from core.instants import has_come
from core.ledger.podgroups.membership import members, terms_of
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.workload.nodes.affinity import admits
from core.workload.pod_group import HELD, Group, MemberPhase

KINDS_WEIGHED = 32
"""Limit of the work to judge whether a node is for members of two groups."""


def may_begin(state: State, group: Group) -> bool:
    """True if members of a group may get turns, as far as its back-off and other groups go.

    Turns hold capacity, so groups whose members all have turns start side by side. Only one group at a time
    goes where the ledger cannot judge nodes. The same holds where a part of a group is on nodes already.
    """
    if not group.complete or group.open or is_backing_off(state, group):
        return False
    if group.attempts:
        return True
    if not _is_covered(state, group):
        return False
    alone = is_alone(state, group)
    for key in state.podgroups.watched:
        other = state.podgroups.known[key]
        if other is group:
            continue
        goes_first = other.urgent and not group.urgent and other.complete and not is_backing_off(state, other)
        under_way = other.attempts and (alone or is_alone(state, other))
        if (goes_first or under_way) and _share_nodes(state, group, other):
            return False
    return True


def _is_covered(state: State, group: Group) -> bool:
    """True if free capacity and what the group holds cover the demand of its object (COS-10, COS-13)."""
    terms = terms_of(state, group)
    if terms is None or not terms.least:
        return True
    for name, amount in terms.least:
        holding = (uid for uid, phase in group.phases.items() if phase in HELD)
        held = sum(group.sizes[uid].get(name) for uid in holding)
        if held + sum(max(0, free.get(name, 0)) for _, free in state.usage.free_capacity) < amount:
            return False
    return True


def is_backing_off(state: State, group: Group) -> bool:
    """True while a group is in back-off."""
    return group.backs_off_until is not None and not has_come(group.backs_off_until, now=state.now)


def is_alone(state: State, group: Group) -> bool:
    """True if only one such group may go at a time."""
    return group.urgent or any(record.facts.complex for record in members(state, group))


def _share_nodes(state: State, group: Group, other: Group) -> bool:
    """True if a node admits members of both groups. Also True for very many kinds of members (F-17)."""
    ours = {record.facts.constraints for record in members(state, group)}
    theirs = {record.facts.constraints for record in members(state, other)}
    if ours & theirs or sum(each.weight for each in (*ours, *theirs)) > KINDS_WEIGHED:
        return True
    return any(
        any(admits(node, each) for each in ours) and any(admits(node, each) for each in theirs)
        for node in state.cluster.nodes.values()
    )


def candidates(state: State, group: Group) -> list[PodRecord]:
    """Members that want a turn, the best first."""
    wanting: list[PodUid] = [
        uid
        for uid, phase in group.phases.items()
        if phase is MemberPhase.PENDING and uid not in state.turns.of and uid in state.pending.waits_at
    ]
    return sorted((state.pods.records[uid] for uid in wanting), key=lambda each: each.rank)
