"""Audit of pod groups: their members, and the role of each."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from core.ids import PodUid
from core.ledger.audit.drift import Claims, Step, compare_each
from core.ledger.podgroups.attempt import is_watched
from core.ledger.podgroups.membership import key_of, least_of, phase_of
from core.ledger.state.state import State
from core.workload.pod_group import Group, GroupKey, MemberPhase, Seniority


def pod_group_steps(state: State) -> Iterator[Step]:
    """Audit steps for pod groups."""
    groups = state.podgroups
    yield from compare_each(state, state.pods.records, _member_claims)
    keys = chain(groups.known, groups.watched)
    yield from compare_each(state, keys, _group_claims)


def _member_claims(state: State, uid: PodUid) -> Claims:
    """Claims about a pod in its group. A pod that waits in bind is a member."""
    record = state.pods.records.get(uid)
    if record is None:
        return
    key = key_of(state, record)
    group = state.podgroups.known.get(key) if key is not None else None
    filed = group.phases.get(uid) if group is not None else None
    yield "pod group", key, record.pod_group
    yield "pod group: any", key is not None, group is not None
    yield "phase", phase_of(state, record, group) if group is not None else None, filed
    yield "waits in bind", filed is MemberPhase.WAITING, record.placement.waits_bind


def _group_claims(state: State, key: GroupKey) -> Claims:
    group = state.podgroups.known.get(key)
    yield "pod group: watched", group is not None and is_watched(group), key in state.podgroups.watched
    if group is None:
        return
    records = [record for uid in group.phases if (record := state.pods.records.get(uid)) is not None]
    ages = {each.uid: Seniority(each.facts.created, each.seq, each.uid) for each in records}
    yield "pod group: strangers", [], [uid for uid in group.phases if uid not in state.pods.records]
    yield "pod group: ages", set(ages), set(group.ages)
    yield "pod group: any", True, bool(group.phases)
    yield "pod group: counts", Counter(group.phases.values()), +group.counts
    yield "pod group: sizes", {each.uid: each.facts.size for each in records}, group.sizes
    yield "pod group: alike", Counter(group.sizes.values()), group.alike
    yield "pod group: first", min(group.ages.values(), default=None), group.first
    yield "pod group: min-available", least_of(state, group), group.min_available
    yield from _standing_claims(state, group)


def _standing_claims(state: State, group: Group) -> Claims:
    yield "pod group: complete", group.there >= group.min_available, group.complete
    yield "pod group: turns timed as open", group.open, group.timed_open
    yield "pod group: attempt while open", False, group.open and group.attempts
    yield "pod group: touched", False, group.key in state.podgroups.touched
    yield "pod group: untimed", False, group.key in state.podgroups.untimed
