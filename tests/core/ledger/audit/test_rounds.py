"""The audit finds every wrong counter. Each is corrupted in turn."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.audit.rounds import audit
from core.ledger.state.state import State
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.nodes.free_capacity import FreeCapacity
from core.workload.nodes.node import NodeUse
from core.workload.nodes.ranking import NodeRanking
from core.workload.nodes.tainted_capacity import TaintedCapacity
from tests.builders import START, make_pod
from tests.core.ledger.audit.corruptions.busy import COUNTERS, busy_ledger
from tests.core.ledger.audit.corruptions.table import CORRUPTIONS

MESSAGES = {
    "config.settings",
    "config.generation",
    "config.rules",
    "config.limits",
    "pods.records",
    "cluster.nodes",
    "cluster.namespaces",
    "cluster.priority_classes",
    "cluster.budgets",
    "cluster.daemon_sets",
    "cluster.daemon_sets_listed",
    "pods.listed",
    "pods.listing",
    "pods.lists_begun",
    "pods.caught_up",
    "cluster.namespaces_listed",
    "cluster.nodes_listed",
    "pods.settled",
    "pods.tombstones",
    "turns.asked_at",
    "turns.came_round",
    "turns.checked_at",
    "podgroups.terms",
    "podgroups.sources",
    "podgroups.numbers",
    "gangs.touched",
    "gangs.unchecked",
    "cycle.freed",
    "cycle.nowhere",
    "cycle.group_nowhere",
    "cycle.freed_nodes",
    "cycle.overdue",
    "preemption.withdrawn",
    "pending.kinds",
    "preemption.in_vain",
    "preemption.plans_in_vain",
    "preemption.waits_for_vain",
    "preemption.due_round",
    "preemption.reclaims",
    "cluster.node_set",
    "pods.arrivals",
    "applications.endings",
    "applications.moves",
    "applications.moves_over",
    "applications.moves_due",
    "applications.timeouts",
    "applications.untimed",
    "clock_skew",
    "cycle.running",
    "turns.moved",
    "config.resolver",
    "config.node_sort",
    "config.preempts",
    "config.quota_preempts",
    "applications.resolved",
    "applications.resolving",
    "outbox",
    "cycle.due",
    "cycle.reasons",
    "cycle.begun",
    "cycle.requeued",
    "cycle.requeues",
    "now",
    "applications.terminated",
    "applications.terminated_text",
    "podgroups.touched",
    "podgroups.untimed",
    "gangs.elsewhere",
    "acts",
    "gangs.tally",
    "usage.over_max_begun",
    "unguarded.reported",
    "applications.tally",
}
"""Messages and notes, which are not derived from facts and so cannot be compared."""

CONFIGURED = {
    *("path", "spec", "max", "parent", "chain", "children", "draining", "dynamic", "entries", "properties"),
    *("paths", "is_root", "closed", "changes"),
}
"""Values of a queue that come from documents, nodes and administrators, and the number of changes.

The root's max has its own corruption.
"""


@pytest.mark.corrupts_ledger
@pytest.mark.parametrize(("field", "named", "corrupt"), CORRUPTIONS, ids=[each[1] for each in CORRUPTIONS])
def test_a_corrupted_counter_is_named(field: str, named: str, corrupt: Callable[[State], object]) -> None:
    ledger = busy_ledger()
    assert audit(ledger._state) == ()
    corrupt(ledger._state)
    assert any(drift.what.startswith(named) for drift in audit(ledger._state)), audit(ledger._state)


def _fields_of(state: State) -> Iterator[str]:
    """Dotted names of the fields of a state and its parts."""
    for each in fields(state):
        part = getattr(state, each.name)
        if is_dataclass(part):
            yield from (f"{each.name}.{field.name}" for field in fields(part))
        else:
            yield each.name


def test_no_counter_is_left_out() -> None:
    derived = {*_fields_of(State())} - MESSAGES
    assert derived == {field for field, _, _ in CORRUPTIONS}


def test_no_counter_of_a_queue_or_node_is_left_out() -> None:
    assert set(Queue.__slots__) - CONFIGURED == {
        *COUNTERS,
        *("fresh", "shown", "applications", "completing", "running", "asked", "raw_priority", "priority"),
    }
    assert {field.name for field in fields(NodeUse)} == {"allocated", "occupied", "pods", "evictable"}
    assert set(vars(FreeCapacity())) == {"_free", "_order", "ranking", "tainted", "_judged", "work"}
    assert set(TaintedCapacity.__slots__) == {"_bars", "_left", "_nodes"}
    assert set(vars(NodeRanking())) == {"sort", "_filed", "_scores", "_names", "_changed"}
    assert {field.name for field in fields(Application)} == {
        *("id", "requested", "namespace", "identity", "groups", "group", "refusal", "queue"),
        *("submitted", "starts_at_once", "states", "entered"),
        *("awaits_until", "backs_off_until", "pods", "asked", "used", "originator", "gang"),
        *("gang_progress", "holders", "holding", "foreign_pods"),
        *("forced", "let_in", "groups_assumed", "definer", "passed_over", "was_shown", "ends"),
        *("running_since", "execution"),
    }


def test_the_audit_in_steps_bears_a_ledger_that_changes_meanwhile() -> None:
    ledger = busy_ledger()
    found = []
    for at, step in enumerate(ledger.audit_steps()):
        found += step
        ledger.apply(on.PodObserved(make_pod(f"new-{at}", node="n1")), now=START)
        ledger.apply(on.PodDeleted(PodUid(f"uid-new-{at - 3}")), now=START)
    assert found == []
