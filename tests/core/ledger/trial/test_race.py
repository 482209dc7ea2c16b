"""Races: turns before an ask where a new node takes every ask, and the states in which a race gives up."""

from dataclasses import replace

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.trial.figures import Figures
from core.queues.limit_state import LimitKey, LimitKind
from core.queues.spec import QueueSpec
from core.resource import Resource
from core.workload.nodes.affinity import Constraints
from core.workload.nodes.node import NodeFacts
from tests.builders import START, make_ledger, make_node, make_queue
from tests.core.decisions.explanation.scenes import ASK, LIMITED, cycled, limited, observed
from tests.picture import picture_of

NEW = NodeFacts(NodeName("new"), Resource({"vcore": 1000, "memory": 1, "pods": 1}))


def full(*queues: QueueSpec, cpu: int = 1000, **of_ask: object) -> Ledger:
    """A full node, and an older pod of another application that waits before the ask."""
    ledger = make_ledger(*queues or (make_queue("root.a"),))
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)), now=START)
    observed(ledger, "runs", node="n1", app="first", cpu=1000)
    observed(ledger, "older", app="older", created=1.0, cpu=cpu)
    observed(ledger, "ask", app="mine", created=2.0, cpu=1000, **of_ask)
    return cycled(ledger)


def raced(ledger: Ledger, lifted: tuple[LimitKey, ...] = ()) -> Figures | None:
    record, before = ledger.view.pod(ASK), picture_of(ledger)
    assert record is not None
    race = ledger.view.race(record, lifted, NEW)
    assert all(units >= 0 for units in race.run())
    assert picture_of(ledger) == before
    return race.figures


def test_the_asks_before_it_take_their_part_of_the_new_node() -> None:
    figures = raced(full())
    assert figures is not None
    assert figures.on_node["vcore"] == 2000
    assert figures.used[LimitKey(LimitKind.CLUSTER, make_queue("root").path, "", "vcore")] == 3000


def test_an_ask_whose_queue_is_full_goes_without_a_turn() -> None:
    figures = raced(full(make_queue("root.a", max={"vcore": 2500}), cpu=2000))
    assert figures is not None
    assert figures.on_node["vcore"] == 1000


def test_a_lifted_limit_counts_what_is_taken_under_it() -> None:
    key = LimitKey(LimitKind.QUEUE, make_queue("root.a").path, "", "vcore")
    figures = raced(full(make_queue("root.a", max={"vcore": 1000})), (key,))
    assert figures is not None
    assert figures.used[key] == 3000


def _small_before() -> Ledger:
    """An ask before it that another node takes."""
    ledger = full(cpu=1000)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2", cpu=900)), now=START)
    observed(ledger, "small", app="older", created=0.5, cpu=500)
    return ledger


GIVEN_UP = {
    "a user is limited": lambda: full(limited("user", max=9000), identity=LIMITED),
    "applications are limited": lambda: full(replace(make_queue("root.a"), max_applications=9)),
    "the ask does not run there": lambda: full(constraints=Constraints((("zone", "b"),))),
    "another node takes one before it": _small_before,
    "only kube-scheduler can judge": lambda: full(constraints=Constraints(unread=True)),
}


@pytest.mark.parametrize("state", GIVEN_UP.values(), ids=GIVEN_UP)
def test_a_race_gives_up_where_more_than_quotas_and_the_order_may_count(state) -> None:  # type: ignore[no-untyped-def]
    assert raced(state()) is None


def test_a_race_gives_up_on_limits_other_than_amounts_of_queues() -> None:
    assert raced(full(), (LimitKey(LimitKind.QUEUE, make_queue("root.a").path),)) is None


def test_an_application_that_has_all_its_turns_does_not_count() -> None:
    """A limit of its user binds nothing any more."""
    ledger = make_ledger(limited("user", max=9000))
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)), now=START)
    observed(ledger, "older", app="older", created=1.0, cpu=1000, identity=LIMITED)
    cycled(ledger)
    assert ledger.view.has_turn(PodUid("uid-older"))
    observed(ledger, "ask", app="mine", created=2.0, cpu=1000)
    figures = raced(cycled(ledger))
    assert figures is not None
    assert figures.on_node["vcore"] == 1000


def test_an_ask_with_a_turn_before_the_race_has_no_second_one() -> None:
    ledger = full()
    assert not ledger.view.has_turn(PodUid("uid-older"))
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2", cpu=1000)), now=START)
    cycled(ledger)
    assert ledger.view.has_turn(PodUid("uid-older"))
    figures = raced(ledger)
    assert figures is not None
    assert figures.on_node["vcore"] == 1000
