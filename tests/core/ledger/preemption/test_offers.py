"""A plan offered to kube-scheduler counts as one that is carried out, for every reader (F-12, F-13)."""

from dataclasses import replace

import pytest

from core.decisions.preemption.judging import outdated
from core.decisions.preemption.receipts import NoPlan, Plan, Stop
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import Effect, WriteRecord
from core.ledger.state.preemption import OFFERED_FOR
from core.workload.pod import RESERVED_NODE, TRIGGERED, PodFacts
from tests.builders import START, drifts, make_node, reserved_on, woken
from tests.core.preemption_world import LATER, World, queue

ONE, TWO = PodUid("one"), PodUid("two")


class Offering(World):
    """Two nodes of two, all held by ``root.b``, and two asks of ``root.a``.

    ``root.a`` is guaranteed one of what they ask for, or as much as is given.
    """

    def __init__(self, *, guaranteed: int = 1) -> None:
        super().__init__(queue("root.a", guaranteed=guaranteed), queue("root.b"), nodes={"n1": 2, "n2": 2})
        self.effects: list[Effect] = []
        for number, node in enumerate(("n1", "n1", "n2", "n2")):
            self.runs(f"v{number}", "root.b", node=node, created=float(number))
        self.facts = {name: self.asks(name, "root.a") for name in (ONE, TWO)}

    def tell(self, event: on.Event, *, now: float = START) -> None:
        self.effects = [*getattr(self, "effects", ()), *self.ledger.apply(event, now=now)]

    def offer_on(self, node: str) -> Plan:
        """Offer a plan for the first ask, on a node that kube-scheduler names."""
        return self.offer(ONE, candidates=[node])

    def offer(self, uid: PodUid, *, candidates: list[str] | None = None) -> Plan:
        """Offer kube-scheduler the present plan."""
        plan = self.plan(uid, candidates=candidates)
        assert isinstance(plan, Plan)
        chosen = tuple(on.ChosenVictim(each.uid, "why") for each in plan.victims)
        self.effects.clear()
        self.tell(on.PlanOffered(uid, f"1-{uid}", plan.node, chosen), now=LATER)
        return plan

    def counted(self, path: str) -> tuple[int, int]:
        """Amounts that count as triggered and as preempting."""
        found = self.tree.get(path)
        assert found is not None
        return found.triggered.get("vcore"), found.preempting.get("vcore")

    def shown(self, pod: PodFacts, now: float = LATER, **facts: object) -> None:
        self.tell(on.PodObserved(replace(pod, version=pod.version + 1, **facts)), now=now)  # type: ignore[arg-type]

    def written(self) -> list[PodUid]:
        return [each.uid for each in self.effects if isinstance(each, WriteRecord)]

    def stands_for_none(self) -> bool:
        counted = [self.counted(path) for path in ("root", "root.a", "root.b")]
        return counted == [(0, 0)] * 3 and not self.ledger.view.reserved_nodes and drifts(self.ledger) == []


@pytest.mark.rule("F-12")
def test_an_offer_counts_as_a_triggered_ask_preempting_victims_and_a_reserved_node() -> None:
    world = Offering()
    plan = world.offer(ONE)
    assert world.counted("root.a") == (1, 0)
    assert world.counted("root.b") == (0, 1)
    assert world.ledger.view.reserved_nodes == {plan.node: ONE}
    assert world.written() == [], "a restart loses it: nothing says so on any object"
    assert drifts(world.ledger) == []


@pytest.mark.rule("F-12")
def test_no_other_plan_names_the_victims_of_an_offer() -> None:
    world = Offering(guaranteed=2)
    first = world.offer(ONE)
    second = world.plan(TWO)
    assert isinstance(second, Plan)
    assert not {each.uid for each in first.victims} & {each.uid for each in second.victims}
    assert second.node != first.node, "the room of the first is there for its ask only"


@pytest.mark.rule("F-13", "LAW-4")
def test_two_plans_of_one_instant_do_not_exceed_the_guarantee_together() -> None:
    world = Offering(guaranteed=1)
    world.offer(ONE)
    second = world.plan(TWO)
    assert isinstance(second, NoPlan)
    assert second.stop is Stop.GUARANTEE


@pytest.mark.rule("F-12", "PRE-20")
def test_a_plan_that_an_offer_has_overtaken_is_not_carried_out() -> None:
    """The plan is made before the offer and judged after it."""
    world = Offering(guaranteed=1)
    made = world.plan(TWO)
    assert isinstance(made, Plan)
    world.offer(ONE)
    assert outdated(world.ledger.view, made)


def test_an_ask_has_one_plan_in_flight_and_a_node_is_there_for_one_ask() -> None:
    world = Offering(guaranteed=2)
    plan = world.offer(ONE)
    assert world.refused(ONE).stop is Stop.TRIGGERED
    chosen = (on.ChosenVictim(PodUid("v0"), "why"),)
    world.tell(on.PlanOffered(TWO, "1-two", plan.node, chosen), now=LATER)
    assert TWO not in world.ledger.view.offers
    assert world.counted("root.a") == (1, 0)


@pytest.mark.rule("F-12")
def test_an_offer_that_is_not_taken_is_dropped_and_leaves_nothing() -> None:
    world = Offering()
    world.offer(ONE)
    world.tell(on.TimePassed(), now=LATER + OFFERED_FOR - 0.1)
    assert ONE in world.ledger.view.offers
    world.tell(on.TimePassed(), now=LATER + OFFERED_FOR)
    assert ONE not in world.ledger.view.offers
    assert world.stands_for_none()
    assert world.written() == []
    assert isinstance(world.plan(TWO), Plan)


@pytest.mark.rule("F-12")
@pytest.mark.parametrize("how", ["gone", "leaving", "bound"])
def test_an_offer_ends_with_its_ask(how: str) -> None:
    world = Offering()
    world.offer(ONE)
    if how == "gone":
        world.tell(on.PodDeleted(ONE), now=LATER)
    elif how == "leaving":
        world.shown(world.facts[ONE], deleting=True)
    else:
        world.shown(world.facts[ONE], node=NodeName("n2"))
    assert ONE not in world.ledger.view.offers
    assert world.stands_for_none()
    assert world.written() == []
    victim = world.ledger.view.pod(PodUid("v3"))
    assert victim is not None
    world.shown(victim.facts, deleting=True)
    assert world.written() == [], "nobody goes on with it"


@pytest.mark.rule("PRE-20")
def test_an_offer_is_committed_when_its_first_victim_goes() -> None:
    world = Offering()
    plan = world.offer(ONE)
    (victim,) = plan.victims
    record = world.ledger.view.pod(victim.uid)
    assert record is not None
    world.shown(record.facts, deleting=True, disrupted=True)
    assert ONE not in world.ledger.view.offers
    assert world.written() == [ONE]
    world.tell(on.TimePassed(), now=LATER + OFFERED_FOR)
    assert world.counted("root.a") == (1, 0)
    assert world.ledger.view.reserved_nodes == {plan.node: ONE}
    asking = world.ledger.view.pod(ONE)
    assert asking is not None
    assert asking.preemption.plans == 1


def test_offers_are_forgotten_when_another_instance_takes_over() -> None:
    world = Offering()
    world.offer(ONE)
    world.tell(on.ActingBegan(), now=LATER)
    assert world.stands_for_none()


def test_a_node_reserved_for_an_ask_so_far_is_given_up_for_that_of_its_offer() -> None:
    """The ask's own record changes, too: after a restart nothing would be reserved for it on either node."""
    world = Offering()
    reserved_on(world.ledger, ONE, "n1")
    assert world.ledger.view.reserved_nodes == {"n1": ONE}
    plan = world.offer(ONE)
    (*_, last) = [each for each in world.effects if isinstance(each, WriteRecord)]
    assert dict(last.entries) == {RESERVED_NODE: None, TRIGGERED: None}
    assert world.ledger.view.reserved_nodes == {plan.node: ONE}


@pytest.mark.rule("F-12")
def test_capacity_elsewhere_gives_the_ask_its_turn_and_leaves_the_offer_standing() -> None:
    """kube-scheduler may be carrying out the offer, and cannot be stopped."""
    world = Offering()
    plan = world.offer(ONE)
    world.tell(on.ObjectObserved(on.NODES, make_node("n3")), now=LATER)
    woken(world.ledger, now=LATER)
    turn = world.ledger.view.turns.get(ONE)
    assert turn is not None
    assert turn.node == "n3"
    assert ONE in world.ledger.view.offers
    assert world.ledger.view.reserved_nodes == {plan.node: ONE}
    world.shown(world.facts[ONE], node=NodeName("n3"))
    assert world.stands_for_none()


@pytest.mark.rule("F-12")
def test_a_turn_that_came_to_nothing_leaves_the_offer_standing() -> None:
    """kube-scheduler found no node, called preempt, and reports both in one text."""
    world = Offering()
    world.tell(on.ObjectObserved(on.NODES, make_node("n3")), now=LATER)
    woken(world.ledger, now=LATER)
    assert world.ledger.view.has_turn(ONE)
    plan = world.offer_on("n1")
    world.shown(world.facts[ONE], unscheduled="0/3 nodes are available: 3 node(s) had no ports.")
    assert not world.ledger.view.has_turn(ONE)
    assert ONE in world.ledger.view.offers
    assert world.ledger.view.reserved_nodes == {plan.node: ONE}
