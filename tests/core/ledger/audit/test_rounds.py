"""The audit names every counter that is wrong: each is corrupted in turn."""

from collections.abc import Callable
from dataclasses import fields

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.audit.rounds import audit
from core.ledger.state import State
from core.queues.queue import Queue
from core.workload.application import Application
from core.workload.nodes.barred_room import BarredRoom
from core.workload.nodes.node import NodeUse
from core.workload.nodes.ranking import NodeRanking
from core.workload.nodes.room import NodeRoom
from tests.builders import START, make_pod
from tests.core.ledger.audit.corruptions import CORRUPTIONS, COUNTERS, busy_ledger

TOLD = {
    "settings",
    "generation",
    "rules",
    "limits",
    "pods",
    "nodes",
    "namespaces",
    "priority_classes",
    "budgets",
    "daemon_sets",
    "pods_listed",
    "listing",
    "lists_begun",
    "caught_up",
    "namespaces_listed",
    "nodes_listed",
    "gone",
    "asked_at",
    "group_terms",
    "group_sources",
    "group_numbers",
    "stirred_gangs",
    "freed",
    "nowhere",
    "deferred",
    "age_due",
    "overdue",
    "withdrawn",
    "in_vain",
    "plans_in_vain",
    "waits_for_vain",
    "due_round",
    "tries_due",
    "quota_starts",
    "reclaims",
    "node_set",
    "arrivals",
    "passing",
    "moved",
    "resolver",
    "node_sort",
    "preempts",
    "quota_preempts",
    "resolved",
    "looking_up",
    "outbox",
    "due",
    "now",
    "terminated",
    "stirred",
    "elsewhere",
    "acts",
    "gang_tally",
    "over_max_begun",
    "identity_tally",
}
"""What was told or is only a note: nothing follows it from, so there is nothing to compare it with."""

CONFIGURED = {
    *("path", "spec", "max", "parent", "chain", "children", "draining", "dynamic", "entries", "properties")
}
"""What a queue is told by documents and nodes; the root's max has a corruption of its own."""


@pytest.mark.corrupts_ledger
@pytest.mark.parametrize(("field", "named", "corrupt"), CORRUPTIONS, ids=[each[1] for each in CORRUPTIONS])
def test_a_corrupted_counter_is_named(field: str, named: str, corrupt: Callable[[State], object]) -> None:
    ledger = busy_ledger()
    assert audit(ledger._state) == ()
    corrupt(ledger._state)
    assert any(drift.what.startswith(named) for drift in audit(ledger._state)), audit(ledger._state)


def test_no_counter_is_left_out() -> None:
    derived = {field.name for field in fields(State)} - TOLD
    assert derived == {field for field, _, _ in CORRUPTIONS}


def test_no_counter_of_a_queue_or_node_is_left_out() -> None:
    assert set(Queue.__slots__) - CONFIGURED == {
        *COUNTERS,
        *("fresh", "shown", "applications", "completing", "running", "asked", "raw_priority", "priority"),
    }
    assert {field.name for field in fields(NodeUse)} == {"allocated", "occupied", "pods", "evictable"}
    assert set(vars(NodeRoom())) == {"_free", "_order", "ranking", "barred", "_judged", "work"}
    assert set(BarredRoom.__slots__) == {"_bars", "_left", "_nodes"}
    assert set(vars(NodeRanking())) == {"sort", "_filed", "_scores", "_names", "_changed"}
    assert {field.name for field in fields(Application)} == {
        *("id", "requested", "namespace", "identity", "groups", "group", "refusal", "queue"),
        *("submitted", "starts_at_once", "states"),
        *("awaits_until", "backs_off_until", "pods", "asked", "used", "originator", "gang"),
        *("formation", "holders", "holding", "guests"),
        *("forced", "let_in", "groups_assumed", "definer", "passed_over", "vouched"),
    }


def test_the_audit_in_steps_bears_a_ledger_that_changes_meanwhile() -> None:
    ledger = busy_ledger()
    found = []
    for at, step in enumerate(ledger.audit_steps()):
        found += step
        ledger.apply(on.PodObserved(make_pod(f"new-{at}", node="n1")), now=START)
        ledger.apply(on.PodDeleted(PodUid(f"uid-new-{at - 3}")), now=START)
    assert found == []
