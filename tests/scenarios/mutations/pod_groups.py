"""Mutations for rules of pod groups, for scenarios whose names begin with ``coscheduling-``."""

from collections.abc import Iterator
from typing import Any

from core.decisions.decision import BindNow, BindWaits
from core.ledger.events import BindCalled
from core.ledger.podgroups.membership import group_of
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.workload.gangs.gang import PodGroup
from core.workload.pod_group import Group, MemberPhase
from tests.scenarios.mutations.seam import Mutate, Rule, answering, both, replaced

NO_GROUPS = answering("pod_group_of_pod", None)


def _at_once(rule: Rule, *args: Any, **more: Any) -> Any:
    """No pod waits in bind."""
    found = rule(*args, **more)
    if not isinstance(found, BindWaits):
        return found
    return BindNow(
        tuple(
            BindCalled(each.uid, each.node) if isinstance(each, BindCalled) else each for each in found.events
        )
    )


NO_WAIT = replaced("binding", _at_once)


def _at_its_worst(rule: Rule, admission: Any, record: PodRecord) -> bool:
    """A pod group has the rank of its lowest member."""
    is_least = record.facts.priority == 1
    return bool(rule(admission, record)) if is_least else record.facts.pod_group is not None


def _wherever(rule: Rule, state: State, record: PodRecord, group: Group) -> MemberPhase:
    """Members of any queue count."""
    before, group.queue = group.queue, None
    found: MemberPhase = rule(state, record, group)
    group.queue = before
    return found


def _still_counted(rule: Rule, state: State, record: PodRecord) -> None:
    """A member that has ended stays one."""
    group = group_of(state, record)
    rule(state, record)
    if group is not None:
        group.counts[MemberPhase.BOUND] += 1


def _for_ever(rule: Rule, state: State, group: Group) -> None:
    """A group outlives its members."""
    if group.phases:
        rule(state, group)


def _no_member(rule: Rule, admission: Any) -> Iterator[Any]:
    return iter(())


COSCHEDULING: dict[str, Mutate] = {
    "coscheduling-broken-labels": answering("pod_group_labels", PodGroup("g", 2)),
    "coscheduling-finished-members-do-not-count": replaced("pod_group_member_goes", _still_counted),
    "coscheduling-killed-between-two-bindings": replaced("pod_groups_under_way", _no_member),
    "coscheduling-larger-than-its-queue": answering("size_of_gang", None),
    "coscheduling-last-one-comes-during-the-wait": NO_WAIT,
    "coscheduling-member-deleted-while-it-waits": answering("pod_group_fails", None),
    "coscheduling-member-in-another-queue": replaced("pod_group_phase", _wherever),
    "coscheduling-members-are-adjacent": NO_GROUPS,
    "coscheduling-more-members-than-needed": answering("pod_group_minimum", 4),
    "coscheduling-never-half-of-two-groups": NO_GROUPS,
    "coscheduling-quota-for-half-of-it": answering("pod_group_quota", True),
    "coscheduling-restart-loses-waits": NO_WAIT,
    "coscheduling-rests-after-a-wait-in-vain": answering("pod_group_back_off", 0.0),
    "coscheduling-rests-longer-each-time": replaced(
        "pod_group_back_off", lambda rule, uid, timeouts: rule(uid, 1)
    ),
    "coscheduling-same-name-again": both(
        replaced("pod_group_member_goes", _still_counted), replaced("pod_group_is_tended", _for_ever)
    ),
    "coscheduling-scheduler-restarts-during-the-wait": NO_WAIT,
    "coscheduling-three-priorities": replaced("pod_group_takes_pod", _at_its_worst),
    "coscheduling-wait-in-vain": answering("pod_group_wait", 1000.0),
    "coscheduling-waits-until-all-exist": NO_GROUPS,
}
