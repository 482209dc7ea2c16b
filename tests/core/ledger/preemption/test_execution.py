"""The order in which victims of a plan are evicted, and a budget that forbids an eviction."""

import pytest

from core.ids import NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.effects import DeletePod, Effect, EvictPod, WriteRecord
from core.ledger.outcomes import EvictionOutcome, Purpose
from core.ledger.settings import LedgerSettings, PreemptionSettings
from core.workload.budget import BudgetFacts
from core.workload.nodes.affinity import Requirement
from core.workload.pod import PREEMPTED_FOR, TRIGGERED
from tests.builders import START, make_ledger, make_node, make_partition, make_pod, make_queue, record_of

ASK, PLAN = PodUid("uid-ask"), "1-uid-ask"
QUEUES = (make_queue("root.a"), make_queue("root.b"))


class Plan:
    """A plan for an ask that needs all pods of a node. ``x-one`` and ``x-two`` have a budget each."""

    def __init__(self, *victims: str, allowed: int = 1, direct: bool = False) -> None:
        self.ledger = make_ledger(*QUEUES)
        self.effects: list[Effect] = []
        settings = LedgerSettings(preemption=PreemptionSettings(direct_delete=direct))
        self.tell(on.Configured(make_partition(*QUEUES), settings))
        self.tell(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000 * len(victims))))
        for name in ("one", "two"):
            covers = (Requirement("budget", "In", (name,)),)
            self.tell(on.ObjectObserved(on.BUDGETS, BudgetFacts("default", name, covers, allowed)))
        for name in victims:
            budget = name.partition("-")[2]
            labels = {"budget": budget} if budget else {}
            self.tell(on.PodObserved(make_pod(name, queue="root.b", node="n1", labels=labels)))
        self.tell(on.PodObserved(make_pod("ask", queue="root.a", cpu=1000 * len(victims))))
        chosen = tuple(on.ChosenVictim(PodUid(f"uid-{name}"), "why") for name in victims)
        self.tell(on.PlanCommitted(ASK, PLAN, NodeName("n1"), chosen))

    def tell(self, event: on.Event) -> None:
        self.effects += self.ledger.apply(event, now=START)

    def write(self) -> None:
        """Perform all requested writes on pods."""
        while pending := [each for each in self.effects if isinstance(each, WriteRecord)]:
            self.effects = [each for each in self.effects if each not in pending]
            for each in pending:
                self.tell(on.RecordWritten(each.uid, each.entries, True, each.purpose))

    def asked(self) -> list[str]:
        """Pods whose eviction was requested since the last call."""
        found = [each.name for each in self.effects if isinstance(each, EvictPod | DeletePod)]
        self.effects = [each for each in self.effects if not isinstance(each, EvictPod | DeletePod)]
        return found

    def answer(self, name: str, outcome: EvictionOutcome = EvictionOutcome.DONE) -> None:
        self.tell(on.PodEvicted(PodUid(f"uid-{name}"), outcome, Purpose.VICTIM, ASK))

    def spared(self) -> list[str]:
        written = [each for each in self.effects if isinstance(each, WriteRecord)]
        return sorted(each.name for each in written if (PREEMPTED_FOR, None) in each.entries)

    @property
    def reserved_nodes(self) -> dict[str, str]:
        return dict(self.ledger.view.reserved_nodes)


def test_without_budgets_all_go_at_once() -> None:
    plan = Plan("a", "b")
    plan.write()
    assert plan.asked() == ["a", "b"]


@pytest.mark.rule("PRE-20")
def test_those_that_a_budget_may_hold_back_go_first_one_by_one() -> None:
    plan = Plan("a", "x-one", "b", "y-two")
    plan.write()
    assert plan.asked() == ["x-one"]
    plan.answer("x-one")
    assert plan.asked() == ["y-two"]
    plan.answer("y-two")
    assert plan.asked() == ["a", "b"]


def test_the_one_least_likely_to_be_evicted_is_the_first() -> None:
    plan = Plan("x-one", "y-two")
    plan.tell(
        on.ObjectObserved(
            on.BUDGETS, BudgetFacts("default", "two", (Requirement("budget", "In", ("two",)),), 0)
        )
    )
    plan.write()
    assert plan.asked() == ["y-two"]


@pytest.mark.rule("PRE-20")
@pytest.mark.parametrize("outcome", [EvictionOutcome.BUDGET, EvictionOutcome.FAILED])
def test_where_the_first_may_not_be_evicted_none_is(outcome: EvictionOutcome) -> None:
    plan = Plan("a", "x-one")
    plan.write()
    assert plan.asked() == ["x-one"]
    plan.answer("x-one", outcome)
    assert plan.asked() == []
    assert (plan.spared(), plan.reserved_nodes) == (["a", "x-one"], {})


@pytest.mark.rule("PRE-20")
def test_where_the_second_may_not_be_evicted_the_capacity_of_the_first_stays_reserved() -> None:
    plan = Plan("a", "x-one", "y-two")
    plan.write()
    plan.answer("x-one")
    plan.asked()
    plan.answer("y-two", EvictionOutcome.BUDGET)
    assert plan.asked() == []
    assert (plan.spared(), plan.reserved_nodes) == (["a", "y-two"], {"n1": ASK})
    assert plan.ledger.view.coming(record_of(plan.ledger, ASK))["vcore"] == 1000
    record = plan.ledger.view.pod(ASK)
    assert record is not None
    assert record.preemption.triggered == ""


def test_one_that_was_asked_to_go_counts_as_leaving_until_the_answer() -> None:
    """Another eviction fails meanwhile. Other asks cannot use the capacity of either victim yet."""
    plan = Plan("a", "b")
    plan.write()
    plan.answer("a", EvictionOutcome.FAILED)
    assert (plan.spared(), plan.reserved_nodes) == (["a"], {"n1": ASK})
    plan.answer("b")
    assert plan.reserved_nodes == {"n1": ASK}


@pytest.mark.parametrize("how", ["deleted", "deleting"])
def test_a_guarded_one_that_leaves_by_itself_holds_no_pod_up(how: str) -> None:
    plan = Plan("a", "x-one")
    terminating = make_pod("x-one", queue="root.b", node="n1", deleting=True, version=9)
    plan.tell(on.PodDeleted(terminating.uid) if how == "deleted" else on.PodObserved(terminating))
    plan.write()
    assert plan.asked() == ["a"]


@pytest.mark.parametrize("how", ["before it was asked", "while it is asked"])
def test_nor_does_one_that_goes_when_the_others_are_marked(how: str) -> None:
    plan = Plan("a", "x-one", "y-two")
    plan.write()
    assert plan.asked() == ["x-one"]
    name = "x-one" if how == "while it is asked" else "y-two"
    plan.tell(on.PodDeleted(PodUid(f"uid-{name}")))
    plan.answer("x-one", EvictionOutcome.NOT_FOUND)
    if how == "while it is asked":
        assert plan.asked() == ["y-two"]
        plan.answer("y-two")
    assert plan.asked() == ["a"]


def test_no_pod_is_evicted_any_more_when_the_ask_is_deleted() -> None:
    plan = Plan("a", "x-one")
    plan.write()
    assert plan.asked() == ["x-one"]
    plan.tell(on.PodDeleted(ASK))
    plan.answer("x-one")
    assert plan.asked() == []
    assert plan.spared() == ["a"]


def test_deletion_asks_no_budget() -> None:
    plan = Plan("a", "x-one", direct=True)
    plan.write()
    assert plan.asked() == ["a", "x-one"]


def test_what_a_queue_gives_up_it_gives_up_one_by_one() -> None:
    plan = Plan("a", "x-one")
    plan.tell(on.RecordWritten(ASK, ((TRIGGERED, PLAN),), False, Purpose.PLAN))
    chosen = tuple(on.ChosenVictim(PodUid(f"uid-{name}"), "why") for name in ("a", "x-one"))
    plan.tell(on.QuotaReclaimed(PodUid(""), QueuePath("root.b"), chosen))
    plan.write()
    assert sorted(plan.asked()) == ["a", "x-one"]
