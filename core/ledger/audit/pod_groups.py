"""The audit of groups of pods that start together: who is in which, and what each is to it."""

from collections import Counter
from collections.abc import Iterator

from core.ledger.audit.drift import Step, compare, each
from core.ledger.podgroups.attempt import is_watched
from core.ledger.podgroups.membership import key_of, least_of, phase_of
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.workload.pod_group import Group, GroupKey, MemberPhase, Seniority


def pod_group_steps(state: State) -> Iterator[Step]:
    yield from each(state.pods.records, lambda uid: _member_drifts(state, state.pods.records.get(uid)))
    yield from each({*state.podgroups.known, *state.podgroups.watched}, lambda key: _group_drifts(state, key))


def _member_drifts(state: State, record: PodRecord | None) -> Step:
    """A pod is filed where its labels say, as what it is; one that waits in bind is a member."""
    if record is None:
        return []
    key = key_of(state, record)
    group = state.podgroups.known.get(key) if key is not None else None
    filed = group.phases.get(record.uid) if group is not None else None
    expected = phase_of(state, record, group) if group is not None else None
    return [
        *compare(f"pod group of {record.uid}", key, record.pod_group),
        *compare(f"pod group of {record.uid}: any", key is not None, group is not None),
        *compare(f"phase of {record.uid}", expected, filed),
        *compare(f"waits in bind: {record.uid}", filed is MemberPhase.WAITING, record.placement.waits_bind),
    ]


def _group_drifts(state: State, key: GroupKey) -> Step:
    group = state.podgroups.known.get(key)
    if group is None:
        return compare(f"watched: {key.name}", False, key in state.podgroups.watched)
    name = group.title
    records = [record for uid in group.phases if (record := state.pods.records.get(uid)) is not None]
    ages = {each.uid: Seniority(each.facts.created, each.seq, each.uid) for each in records}
    return [
        *compare(f"{name}: strangers", [], [uid for uid in group.phases if uid not in state.pods.records]),
        *compare(f"{name}: ages", ages.keys(), group.ages.keys()),
        *compare(f"{name}: any", True, bool(group.phases)),
        *compare(f"{name}: counts", Counter(group.phases.values()), +group.counts),
        *compare(f"{name}: sizes", {each.uid: each.facts.size for each in records}, group.sizes),
        *compare(f"{name}: alike", Counter(group.sizes.values()), group.alike),
        *compare(f"{name}: first", min(group.ages.values(), default=None), group.first),
        *compare(f"{name}: min-available", least_of(state, group), group.min_available),
        *_standing_drifts(state, group, name),
    ]


def _standing_drifts(state: State, group: Group, name: str) -> Step:
    return [
        *compare(f"{name}: complete", group.there >= group.min_available, group.complete),
        *compare(f"{name}: watched", is_watched(group), group.key in state.podgroups.watched),
        *compare(f"{name}: attempt while open", False, group.open and group.attempts),
        *compare(f"{name}: stirred", False, group.key in state.podgroups.touched),
    ]
