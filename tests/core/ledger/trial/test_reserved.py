"""Trials with reserved nodes: a node that is released requests a cycle, which serves all such asks again."""

import pytest

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.ledger.trial.change import NO_CHANGE, Change, Raise
from core.ledger.trial.trial import Trial
from core.queues.limit_state import LimitKey, LimitKind
from tests.builders import START, make_ledger, make_node, make_queue
from tests.core.decisions.explanation.scenes import cycled, observed
from tests.picture import picture_of

OWNER, LATER, ASK = PodUid("uid-owner"), PodUid("uid-later"), PodUid("uid-ask")
FULL = make_queue("root.full", max={"vcore": 500})


def released() -> Ledger:
    """Two owners of nodes. The queue of the later one is full, so that the next cycle releases its node."""
    ledger = make_ledger(make_queue("root.a"), FULL, nodes=0)
    for name in ("n1", "n2"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=2000)), now=START)
    observed(ledger, "owner", cpu=2000, app="owner", created=1.0, reserved_node="n1")
    observed(ledger, "later", queue="root.full", cpu=1000, app="later", created=2.0, reserved_node="n2")
    observed(ledger, "runs", cpu=1000, app="first", node="n1")
    ledger.apply(on.ActingBegan(), now=START)
    return ledger


def played(ledger: Ledger, uid: PodUid, change: Change = NO_CHANGE, *, exact: bool = False) -> Trial:
    trial = ledger.view.trial(uid, change, exact=exact)
    assert all(units >= 0 for units in trial.run())
    return trial


def test_an_ask_that_was_served_before_takes_a_node_that_is_released_later() -> None:
    ledger = released()
    assert ledger.view.reserved_nodes == {"n1": OWNER, "n2": LATER}
    before = picture_of(ledger)
    trial = played(ledger, OWNER)
    assert trial.placed
    assert trial.state.turns.of[OWNER].node == "n2"
    assert picture_of(ledger) == before
    assert cycled(ledger).view.has_turn(OWNER)


def test_no_turn_is_given_before_the_owners_are_served_again() -> None:
    ledger = released()
    observed(ledger, "ask", cpu=2000, app="mine", created=3.0)
    assert not played(ledger, ASK).placed
    assert not cycled(ledger).view.has_turn(ASK)


def test_an_ask_takes_the_node_that_an_owner_leaves_in_the_end() -> None:
    ledger = released()
    observed(ledger, "ask", cpu=1000, app="mine", created=3.0)
    trial = played(ledger, ASK)
    assert trial.placed
    assert trial.state.turns.of[ASK].node == "n1"
    assert cycled(ledger).view.has_turn(ASK)


@pytest.mark.parametrize("cpu", [300, 600])
def test_asks_of_other_queues_are_checked_only_if_a_released_node_takes_them(cpu: int) -> None:
    """A pod has used up the quota of the owner, whose node has 500m free."""
    small, owned = make_queue("root.a", max={"vcore": 50}), make_queue("root.o", max={"vcore": 1000})
    ledger = make_ledger(small, make_queue("root.b"), owned, nodes=0)
    for name, size in (("n1", 2000), ("n2", 1000)):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=size)), now=START)
    observed(ledger, "runs", queue="root.b", cpu=1500, app="first", node="n1")
    observed(ledger, "also", queue="root.b", cpu=950, app="first", node="n2")
    observed(ledger, "owner", queue="root.o", cpu=1000, app="owner", reserved_node="n1")
    ledger.apply(on.ActingBegan(), now=START)
    observed(ledger, "ask", cpu=100, app="mine")
    observed(ledger, "beside", queue="root.b", cpu=cpu, app="beside", priority=5)
    observed(cycled(ledger), "takes", queue="root.o", cpu=100, app="other", node="n2")
    assert ledger.view.reserved_nodes == {"n1": OWNER}
    raised = Change((Raise(LimitKey(LimitKind.QUEUE, small.path, "", "vcore"), 50),))
    trial = ledger.view.trial(ASK, raised, [small.path])
    assert all(units >= 0 for units in trial.run())
    assert trial.placed
    assert ("uid-beside" in trial.state.turns.of) == (cpu == 300)


def test_a_search_before_the_first_turn_is_served_with_the_owners() -> None:
    """The ask finds no node, as the owner has found none. A search then gives it the released one."""
    ledger = released()
    for name in ("n3", "n4"):
        ledger.apply(on.ObjectObserved(on.NODES, make_node(name, cpu=500)), now=START)
    observed(ledger, "ask", cpu=2000, app="mine", created=0.5, priority=-1)
    assert played(ledger, ASK).unsure
    trial = played(ledger, ASK, exact=True)
    assert trial.placed
    assert trial.state.turns.of[ASK].node == "n2"
    assert cycled(ledger).view.has_turn(ASK)
    assert not ledger.view.has_turn(OWNER)


@pytest.mark.parametrize("queue", ["root.a", "root.b"])
def test_less_of_a_max_may_release_the_node_of_an_ask_that_keeps_it(queue: str) -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 500}), make_queue("root.b"), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)), now=START)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n2", cpu=1000)), now=START)
    observed(ledger, "runs", queue="root.b", cpu=1000, app="first", node="n1")
    observed(ledger, "owner", queue=queue, cpu=2000, app="owner", created=1.0, reserved_node="n1")
    observed(ledger, "ask", cpu=1000, app="mine", created=2.0)
    ledger.apply(on.ActingBegan(), now=START)
    vcores = LimitKey(LimitKind.QUEUE, make_queue("root.a").path, "", "vcore")
    trial = played(ledger, ASK, Change((Raise(vcores, 2**60),)))
    assert trial.placed
    assert trial.is_plain == (queue == "root.b")
