"""How each rule of groups is switched off, for the scenarios whose names begin with ``coscheduling-``."""

from collections.abc import Callable, Iterator
from typing import Any

from core.decisions import binding
from core.decisions.decision import Admitted, BindNow
from core.ids import NodeName, PodUid
from core.ledger.events import BindCalled
from core.ledger.podgroups import admission as muster
from core.ledger.podgroups import attempt as coscheduling
from core.ledger.podgroups import membership as pod_groups
from core.ledger.pods import registry
from core.ledger.pods.record import PodRecord
from core.ledger.state import State
from core.workload.gangs.gang import PodGroup
from core.workload.pod_group import Group, Phase
from extender.wire import translate
from tests.scenarios.mutating import Mutate, answering, both, replaced

Rule = Callable[..., Any]

NO_GROUPS = answering(pod_groups, "key_of", None)


def _at_once(
    rule: Rule, group: Group, admitted: Admitted, uid: PodUid, node: NodeName, *, now: float
) -> BindNow:
    """Nobody waits in bind."""
    return BindNow((*admitted.events, BindCalled(uid, node)))


NO_WAIT = replaced(binding, "_with_the_others", _at_once)


def _at_its_worst(rule: Rule, self: muster.Muster, record: PodRecord) -> bool:
    """A group stands where its least member does."""
    is_least = record.facts.priority == 1
    return bool(rule(self, record)) if is_least else pod_groups.unopened(self._state, record) is not None


def _wherever(rule: Rule, state: State, record: PodRecord, group: Group) -> Phase:
    """Members of any queue count."""
    before, group.queue = group.queue, None
    found: Phase = rule(state, record, group)
    group.queue = before
    return found


def _still_counted(rule: Rule, state: State, record: PodRecord) -> None:
    """A member that has ended stays one."""
    group = pod_groups.group_of(state, record)
    rule(state, record)
    if group is not None:
        group.counts[Phase.BOUND] += 1


def _for_ever(rule: Rule, state: State, group: Group) -> None:
    """A group outlives its members."""
    if group.phases:
        rule(state, group)


def _nobody(rule: Rule, self: muster.Muster) -> Iterator[Any]:
    return iter(())


COSCHEDULING: dict[str, Mutate] = {
    "coscheduling-broken-labels": answering(translate, "pod_group_from", PodGroup("g", 2)),
    "coscheduling-finished-members-do-not-count": replaced(registry, "forget_member", _still_counted),
    "coscheduling-killed-between-two-bindings": replaced(muster.Muster, "those_under_way", _nobody),
    "coscheduling-larger-than-its-queue": answering(pod_groups, "refusal_of_size", None),
    "coscheduling-last-one-comes-during-the-wait": NO_WAIT,
    "coscheduling-member-deleted-while-it-waits": answering(pod_groups, "_note_loss", None),
    "coscheduling-member-in-another-queue": replaced(pod_groups, "phase_of", _wherever),
    "coscheduling-members-are-adjacent": NO_GROUPS,
    "coscheduling-more-members-than-needed": answering(pod_groups, "least_of", 4),
    "coscheduling-never-half-of-two-groups": NO_GROUPS,
    "coscheduling-quota-for-half-of-it": answering(muster, "has_leave", True),
    "coscheduling-restart-loses-waits": NO_WAIT,
    "coscheduling-rests-after-a-wait-in-vain": answering(coscheduling, "rest_of", 0.0),
    "coscheduling-rests-longer-each-time": replaced(
        coscheduling, "rest_of", lambda rule, uid, timeouts: rule(uid, 1)
    ),
    "coscheduling-same-name-again": both(
        replaced(registry, "forget_member", _still_counted), replaced(coscheduling, "_tend", _for_ever)
    ),
    "coscheduling-scheduler-restarts-during-the-wait": NO_WAIT,
    "coscheduling-three-priorities": replaced(muster.Muster, "takes", _at_its_worst),
    "coscheduling-wait-in-vain": answering(coscheduling, "wait_of", 1000.0),
    "coscheduling-waits-until-all-exist": NO_GROUPS,
}
