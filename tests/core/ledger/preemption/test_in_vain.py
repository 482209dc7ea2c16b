"""Plans whose ask vanished before it was placed count against its queue (F-25)."""

from dataclasses import replace

import pytest

from core.decisions.preemption.receipts import NoPlan, Plan, Stop
from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.effects import Effect, PostEvent
from core.ledger.preemption.in_vain import COUNTED_FOR, FIRST_WAIT, LONGEST_WAIT, forgive
from core.ledger.state.preemption import InVain, Payer
from core.ledger.state.state import State
from core.queues.spec import RuleSpec
from core.workload.pod import NamespaceFacts
from extender.telemetry.metrics import Metrics
from tests.builders import make_partition
from tests.core.preemption_world import LATER, World, queue

A = QueuePath("root.a")


class Vanishing(World):
    """Twenty nodes of one, held by ``root.b``; asks of ``root.a`` and ``root.c``, guaranteed twenty each."""

    def __init__(self) -> None:
        super().__init__(
            queue("root.a", guaranteed=20),
            queue("root.b"),
            queue("root.c", guaranteed=20),
            nodes={f"n{number:02}": 1 for number in range(20)},
        )
        self.now = LATER
        self.effects: list[Effect] = []
        self.count = 0
        for number in range(20):
            self.runs(f"v{number}", "root.b", node=f"n{number:02}", created=float(number))

    def tell(self, event: on.Event, *, now: float | None = None) -> None:
        at = getattr(self, "now", LATER) if now is None else now
        self.effects = [*getattr(self, "effects", ()), *self.ledger.apply(event, now=at)]

    def commits(self, path: str = "root.a", *, offered: bool = False) -> PodUid:
        """Create an ask and carry out a plan for it, or offer one."""
        self.count += 1
        uid = PodUid(f"ask{self.count}")
        self.asks(uid, path)
        plan = self.plan(uid, now=self.now)
        assert isinstance(plan, Plan), plan
        chosen = tuple(on.ChosenVictim(each.uid, "why") for each in plan.victims)
        kind = on.PlanOffered if offered else on.PlanCommitted
        self.tell(kind(uid, f"1-{uid}", plan.node, chosen))
        return uid

    def vanishes(self, path: str = "root.a", *, offered: bool = False) -> None:
        self.tell(on.PodDeleted(self.commits(path, offered=offered)))

    def waits(self) -> dict[QueuePath, float]:
        self.tell(on.TimePassed())
        return dict(self.ledger.view.in_vain()[2])

    def events(self) -> list[tuple[str, str]]:
        return [(each.reason, each.name) for each in self.effects if isinstance(each, PostEvent)]


@pytest.mark.rule("F-25")
@pytest.mark.parametrize("offered", [False, True])
def test_the_third_plan_in_vain_within_ten_minutes_makes_its_queue_wait(offered: bool) -> None:
    world = Vanishing()
    for _ in range(2):
        world.vanishes(offered=offered)
        assert world.waits() == {}
        world.now += COUNTED_FOR / 3
    world.vanishes(offered=offered)
    assert world.waits() == {A: FIRST_WAIT}
    assert ("PreemptionInVain", "ask3") in world.events()
    assert world.ledger.view.in_vain()[:2] == (3, 1)


@pytest.mark.rule("F-25")
def test_those_longer_ago_do_not_count() -> None:
    world = Vanishing()
    for _ in range(9):
        world.vanishes()
        world.now += COUNTED_FOR / 2
    assert world.waits() == {}


@pytest.mark.rule("F-25")
def test_each_wait_is_twice_as_long_up_to_ten_minutes_and_ten_quiet_ones_forgive() -> None:
    world = Vanishing()
    world.vanishes()
    world.vanishes()
    waits = []
    for _ in range(9):
        world.vanishes()
        waits.append(world.waits()[A])
        world.now += waits[-1]
        assert world.waits() == {}
    assert waits == [FIRST_WAIT, 30, 60, 120, 240, 480, LONGEST_WAIT, LONGEST_WAIT, LONGEST_WAIT]
    world.now += COUNTED_FOR
    world.tell(on.CleanerDue())
    world.vanishes()
    world.vanishes()
    assert world.waits() == {}
    world.vanishes()
    assert world.waits() == {A: FIRST_WAIT}


@pytest.mark.rule("F-25")
def test_what_counts_no_more_is_not_remembered() -> None:
    state, payer = State(now=LATER), Payer(A, "")
    state.preemption.in_vain[payer] = InVain((LATER - 1,), 1, LATER)
    forgive(state)
    assert list(state.preemption.in_vain) == [payer]
    state.now += COUNTED_FOR
    forgive(state)
    assert state.preemption.in_vain == {}


@pytest.mark.rule("F-25")
def test_many_that_vanish_at_once_cost_one_wait() -> None:
    """A user may cancel one large job without a penalty."""
    world = Vanishing()
    for uid in [world.commits() for _ in range(6)]:
        world.tell(on.PodDeleted(uid))
    assert world.waits() == {A: FIRST_WAIT}


@pytest.mark.rule("F-25")
def test_no_plan_is_made_while_a_queue_waits_and_others_go_on() -> None:
    world = Vanishing()
    for _ in range(3):
        world.vanishes()
    for name, path in (("mine", "root.a"), ("next", "root.a"), ("theirs", "root.c")):
        world.asks(name, path)
    stopped = world.plan("mine", now=world.now)
    assert isinstance(stopped, NoPlan)
    assert stopped.stop is Stop.HELD_BACK
    assert isinstance(world.plan("theirs", now=world.now), Plan)
    world.tell(on.TimePassed())
    assert list(world.ledger.view.trying) == ["theirs"]
    assert [each for each in world.events() if each[0] == "PreemptionWaits"] == [("PreemptionWaits", "mine")]
    world.now += FIRST_WAIT
    world.tell(on.TimePassed())
    assert list(world.ledger.view.trying) == ["theirs", "mine", "next"]
    assert isinstance(world.plan("mine", now=world.now), Plan)


@pytest.mark.rule("F-25", "RNP-1")
def test_a_pod_for_one_node_waits_with_its_queue_too() -> None:
    world = Vanishing()
    for _ in range(3):
        world.vanishes()
    world.asks("daemon", "root.a", required_node=NodeName("n19"))
    assert world.refused("daemon", now=world.now).stop is Stop.HELD_BACK
    assert isinstance(world.plan("daemon", now=world.now + FIRST_WAIT), Plan)


@pytest.mark.rule("F-25")
def test_one_that_was_placed_or_had_no_plan_costs_nothing() -> None:
    world = Vanishing()
    for number in range(4):
        world.asks(f"idle{number}", "root.a")
        world.tell(on.PodDeleted(PodUid(f"idle{number}")))
        world.tell(on.PodsListed(frozenset(each.uid for each in world.ledger.view.pods())))
        uid = world.commits()
        record = world.ledger.view.pod(uid)
        assert record is not None
        world.tell(on.PodObserved(replace(record.facts, node=NodeName("n1"), version=2)))
        world.tell(on.PodDeleted(uid))
    assert world.ledger.view.in_vain() == (0, 0, {})


@pytest.mark.rule("F-25")
def test_an_ask_that_lingers_behind_a_finalizer_is_counted_once_and_at_once() -> None:
    world = Vanishing()
    for number in range(1, 4):
        uid = world.commits()
        record = world.ledger.view.pod(uid)
        assert record is not None
        world.tell(on.PodObserved(replace(record.facts, deleting=True, version=2)))
        assert world.ledger.view.in_vain()[0] == number
    assert world.waits() == {A: FIRST_WAIT}
    world.now += FIRST_WAIT
    for number in range(1, 4):
        world.tell(on.PodDeleted(PodUid(f"ask{number}")))
    assert world.ledger.view.in_vain() == (3, 1, {})


@pytest.mark.rule("F-25", "PL-4")
def test_new_queues_are_no_way_round_and_no_pod_waits_for_another_namespace() -> None:
    """Dynamic leaves of one namespace below a queue count together."""
    world = Vanishing()
    parent = queue("root.d", leaf=False, guaranteed=20)
    partition = make_partition(queue("root.b"), parent)
    world.tell(on.Configured(replace(partition, rules=(RuleSpec("provided", create=True),)), world.settings))
    world.tell(on.ObjectObserved(on.NAMESPACES, NamespaceFacts("other")))
    for number in range(3):
        world.vanishes(f"root.d.new{number}")
    assert world.waits() == {QueuePath("root.d"): FIRST_WAIT}
    world.asks("again", "root.d.new4")
    world.asks("neighbour", "root.d.new5", namespace="other")
    assert world.refused("again", now=world.now).stop is Stop.HELD_BACK
    assert isinstance(world.plan("neighbour", now=world.now), Plan)


@pytest.mark.rule("F-25")
def test_metrics_say_how_many_there_were_and_which_queues_wait() -> None:
    world = Vanishing()
    for _ in range(3):
        world.vanishes()
    text = Metrics(lambda: world.ledger.view).exposition().decode()
    assert "paddock_preemption_in_vain_total 3.0" in text
    assert "paddock_preemption_waits_total 1.0" in text
    assert 'paddock_queue_preemption_wait_seconds{queue="root.a"} 15.0' in text
