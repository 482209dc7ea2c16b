"""What requests a scheduling cycle, and what the requests come to."""

from core.ledger import events as on
from core.ledger.admission.requests import note_time, request_cycle, request_cycle_at
from core.ledger.state.admission import CycleReason
from core.ledger.state.state import State
from core.ledger.state.timer_heap import next_timer
from tests.builders import START, make_ledger, make_node, make_pod, make_queue

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
    ledger.apply(on.PassDue(), now=START)
    before = dict(ledger.view.cycle.begun)
    for name in ("n2", "n3"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name)), now=START)
    ledger.apply(on.PodObserved(make_pod("one", queue="root.a", node="n2")), now=START)
    ledger.apply(on.PodDeleted(make_pod("one").uid), now=START)
    ledger.apply(on.PassDue(), now=START)
    begun = ledger.view.cycle.begun
    assert {reason: begun[reason] - before.get(reason, 0) for reason in begun} == {
        **dict.fromkeys(before, 0),
        # The pod was the last one of its application, so that another may run.
        CycleReason.APPLICATION_CHANGED: 1,
        CycleReason.CAPACITY_FREED: 1,
        CycleReason.CLUSTER_CHANGED: 1,
    }
