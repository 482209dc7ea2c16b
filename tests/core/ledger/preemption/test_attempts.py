"""Asks for which plans are made, and the times of the attempts (PRE-5)."""

import pytest

from core.decisions.preemption.eligibility import why_not_eligible
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.preemption.attempts import ATTEMPTS_PER_LEAF, PUT_OFF, REQUIRED_APART
from core.ledger.preemption.victims import PLANS_AT_MOST
from tests.builders import START
from tests.core.preemption_world import LATER, World, queue


def world() -> World:
    return World(queue("root.a", guaranteed=5), queue("root.b", guaranteed=5), queue("root.c"), nodes={})


def due(world: World, now: float) -> list[str]:
    world.tell(on.TimePassed(), now=now)
    return [str(uid) for uid in world.ledger.view.trying]


@pytest.mark.rule("PRE-5")
def test_from_creation_plus_delay_on_and_every_15_seconds_after() -> None:
    """With a delay of 30 s and creation at 0, the attempts are at 30, 45 and 60."""
    found = world()
    found.asks("ask", "root.a")
    tried = []
    for second in range(62):
        if due(found, START + second):
            tried.append(second)
            found.tell(on.PreemptionTried(PodUid("ask")), now=START + second)
    assert tried == [30, 45, 60]


@pytest.mark.rule("PRE-5")
def test_ten_asks_of_a_leaf_at_most_the_most_important_first() -> None:
    found = world()
    for number in range(ATTEMPTS_PER_LEAF + 2):
        found.asks(f"a{number:02}", "root.a", priority=number)
    found.asks("b", "root.b")
    first = due(found, LATER)
    assert first == [*(f"a{number:02}" for number in range(11, 1, -1)), "b"]
    for uid in first:
        found.tell(on.PreemptionTried(PodUid(uid)), now=LATER)
    assert due(found, LATER) == []
    assert due(found, LATER + PUT_OFF) == ["a01", "a00"]


def test_not_one_that_only_kube_scheduler_can_judge_unless_a_setting_says_so() -> None:
    """An attempt would find no plan, and would delay a preempt call by 15 s."""
    found = world()
    found.asks("port", "root.a", complex=True)
    found.asks("daemon", "root.a", complex=True, required_node=NodeName("n1"))
    assert due(found, LATER) == ["daemon"]
    bold = World(queue("root.a", guaranteed=5), nodes={}, plans_complex=True)
    bold.asks("port", "root.a", complex=True)
    assert due(bold, LATER) == ["port"]


@pytest.mark.rule("LAW-4")
def test_none_for_a_queue_without_any_guarantee_on_its_path() -> None:
    found = world()
    found.asks("c", "root.c")
    assert due(found, LATER) == []
    found.configure(queue("root.a"), queue("root.b"), queue("root.c", guaranteed=1))
    assert due(found, LATER) == ["c"]


@pytest.mark.rule("RNP-1")
def test_one_for_a_single_node_waits_for_no_delay() -> None:
    found = world()
    found.asks("ask", "root.c", required_node=NodeName("n1"), never_preempts=True)
    found.configure(*found.queues, preemption=False)
    assert due(found, START) == ["ask"]
    found.tell(on.PreemptionTried(PodUid("ask")), now=START)
    assert due(found, START) == []
    assert due(found, START + REQUIRED_APART) == ["ask"]


@pytest.mark.rule("PRE-1", "PRE-4")
def test_not_one_that_never_preempts_nor_any_with_the_switch_off() -> None:
    found = world()
    found.asks("never", "root.a", never_preempts=True)
    found.asks("ask", "root.a")
    assert due(found, LATER) == ["ask"]
    other = world()
    other.asks("ask", "root.a")
    other.configure(*other.queues, preemption=False)
    assert due(other, LATER) == []


def test_not_one_that_waits_no_more() -> None:
    found = world()
    found.asks("ask", "root.a")
    found.asks("due", "root.b")
    assert due(found, LATER) == ["ask", "due"]
    found.tell(on.PodDeleted(PodUid("ask")))
    assert due(found, LATER) == ["due"]
    found.tell(on.PodDeleted(PodUid("due")))
    assert due(found, LATER + 60) == []


@pytest.mark.rule("PRE-5")
def test_three_plans_are_carried_out_for_an_ask_at_most() -> None:
    """DESIGN-4: the change to PRE-5."""
    found = world()
    found.asks("ask", "root.a")
    view = found.ledger.view
    record = view.pod(PodUid("ask"))
    assert record is not None
    leaf = view.queue_of(record)
    assert leaf is not None
    record.preemption.plans = PLANS_AT_MOST - 1
    assert why_not_eligible(view, record, leaf, now=LATER) is None
    record.preemption.plans = PLANS_AT_MOST
    assert why_not_eligible(view, record, leaf, now=LATER) is not None
