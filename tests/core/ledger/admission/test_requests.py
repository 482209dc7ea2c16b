"""Requests for a scheduling cycle, and the cycles that follow."""

from core.ids import NodeName
from core.ledger import events as on
from core.ledger.admission.requests import (
    COMPARED_AT_MOST,
    begin_cycle,
    end_cycle,
    note_group_nowhere,
    note_time,
    request_cycle,
    request_cycle_at,
    request_cycle_for_node,
)
from core.ledger.pods.record import PodRecord
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.state.timer_heap import next_timer
from core.ledger.usage.counters import file_node
from core.resource import Resource
from core.workload.nodes.affinity import Constraints
from core.workload.pending_index import Kind
from tests.builders import START, make_ledger, make_node, make_pod, make_queue

N1 = NodeName("n1")

FOR_FRESH_ASKS = (CycleReason.POD_ARRIVED, CycleReason.POD_AGED, CycleReason.GROUP_COMPLETE)


def test_a_reason_about_single_asks_requests_a_cycle_over_fresh_asks_and_any_other_one_over_all() -> None:
    for reason in CycleReason:
        state = State()
        request_cycle(state, reason)
        concerns_all = reason not in FOR_FRESH_ASKS
        assert (state.cycle.freed, state.cycle.due) == (concerns_all, not concerns_all)


def test_the_earliest_time_requests_one_cycle_when_it_has_come() -> None:
    state = State()
    request_cycle_at(state, START + 5)
    request_cycle_at(state, START + 9)
    state.now = START + 4.9
    note_time(state)
    assert not state.cycle.freed
    state.now = START + 5
    note_time(state)
    assert (state.cycle.freed, next_timer(state)) == (True, None)
    assert list(state.cycle.reasons) == [CycleReason.RETRY_AT]


def test_a_cycle_counts_once_under_each_reason_for_which_it_was_requested() -> None:
    ledger = make_ledger(make_queue("root.a"))
    ledger.apply(on.CycleDue(), now=START)
    before = dict(ledger.view.cycle.begun)
    for name in ("n2", "n3"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name)), now=START)
    ledger.apply(on.PodObserved(make_pod("one", queue="root.a", node="n2")), now=START)
    ledger.apply(on.PodDeleted(make_pod("one").uid), now=START)
    ledger.apply(on.CycleDue(), now=START)
    begun = ledger.view.cycle.begun
    assert {reason: begun[reason] - before.get(reason, 0) for reason in begun} == {
        **dict.fromkeys(before, 0),
        # The pod was the last one of its application, so another application may run.
        CycleReason.APPLICATION_CHANGED: 1,
        CycleReason.CAPACITY_FREED: 1,
        CycleReason.CLUSTER_CHANGED: 1,
    }


def test_capacity_freed_on_a_node_requests_a_cycle_only_for_asks_that_found_no_node() -> None:
    state = state_with_node(cpu=2)
    request_cycle_for_node(state, N1)
    assert not state.cycle.freed
    end_cycle(state, {kind(cpu=3)})
    request_cycle_for_node(state, N1)
    assert not state.cycle.freed
    end_cycle(state, {kind(cpu=3), kind(cpu=2)})
    request_cycle_for_node(state, N1)
    assert list(state.cycle.reasons) == [CycleReason.CAPACITY_FREED]


def test_capacity_freed_on_a_node_while_a_cycle_runs_is_compared_when_it_ends() -> None:
    for size, freed in ((2, True), (3, False)):
        state = state_with_node(cpu=2)
        begin_cycle(state)
        request_cycle_for_node(state, N1)
        assert not state.cycle.freed
        end_cycle(state, {kind(cpu=size)})
        assert (state.cycle.freed, state.cycle.freed_nodes) == (freed, {})


def test_capacity_freed_for_the_owner_of_a_node_reservation_or_for_a_pod_group_requests_a_cycle() -> None:
    for size, freed in ((2, True), (3, False)):
        state = state_with_node(cpu=2)
        owner = PodRecord(make_pod("one", cpu=size), seq=0)
        state.pods.records[owner.uid] = owner
        state.reservations.of[N1] = owner.uid
        request_cycle_for_node(state, N1)
        assert state.cycle.freed is freed
    state = state_with_node(cpu=2)
    note_group_nowhere(state)
    request_cycle_for_node(state, N1)
    assert state.cycle.freed
    # A cycle over every ask checks again whether a pod group lacks a node.
    begin_cycle(state)
    end_cycle(state, set())
    request_cycle_for_node(state, N1)
    assert not state.cycle.freed


def test_kinds_of_asks_are_compared_up_to_a_number_and_beyond_it_a_cycle_finds_out() -> None:
    state = state_with_node(cpu=2)
    end_cycle(state, {kind(cpu=3 + number) for number in range(COMPARED_AT_MOST)})
    request_cycle_for_node(state, N1)
    assert not state.cycle.freed
    end_cycle(state, {kind(cpu=3 + number) for number in range(COMPARED_AT_MOST + 1)})
    request_cycle_for_node(state, N1)
    assert state.cycle.freed


def state_with_node(*, cpu: int) -> State:
    state = State()
    file_node(state, N1, make_node("n1", cpu=cpu))
    return state


def kind(*, cpu: int) -> Kind:
    return Resource({"vcore": cpu}), Constraints()
