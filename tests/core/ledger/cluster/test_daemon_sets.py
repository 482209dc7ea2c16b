"""F-10: a pod belongs to a DaemonSet only if the DaemonSet selects it, whatever the pod claims."""

from dataclasses import replace

import pytest

from core.decisions.preemption.judging import check_laws, outdated
from core.decisions.preemption.receipts import Kind, Plan
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.workload.daemon_set import Controller, DaemonSetFacts, DaemonSetKey
from core.workload.nodes.affinity import Requirement
from tests.builders import AGENTS, OF_AGENTS, START, drifts
from tests.core.preemption_world import World, queue

HERE = NodeName("n1")
KEY = AGENTS.key
SELECTOR = AGENTS.selector


def world_of(*sets: DaemonSetFacts, **settings: bool) -> World:
    """``victim`` of ``root.b`` fills ``n1``, on which ``ask`` of ``root.a`` must run."""
    world = World(queue("root.a"), queue("root.b", guaranteed=1), nodes={"n1": 1}, **settings)
    world.first_pods("app", queue="root.b")
    world.runs("victim", "root.b", app_id="app")
    for each in sets:
        world.tell(on.ObjectObserved(on.DAEMON_SETS, each))
    return world


def ask(world: World, **facts: object) -> None:
    """A pod that claims that `AGENTS` made it for ``n1``, whether or not there is such a DaemonSet."""
    pod = world.asks("ask", "root.a", **{**OF_AGENTS, **facts})
    world.tell(on.PodObserved(replace(pod, required_node=HERE, version=2)))


def required(world: World) -> str:
    record = world.ledger.view.pod(PodUid("ask"))
    assert record is not None
    assert drifts(world.ledger) == []
    return record.daemon.required_node


@pytest.mark.rule("RNP-1")
def test_a_pod_that_its_daemon_set_knows_gets_capacity() -> None:
    world = world_of(AGENTS)
    ask(world)
    assert (required(world), world.victims()) == ("n1", {"victim"})


FORGED: list[tuple[str, tuple[DaemonSetFacts, ...], dict[str, object]]] = [
    ("none exists", (), {}),
    ("another uid", (replace(AGENTS, uid="uid-of-another"),), {}),
    ("no uid", (replace(AGENTS, uid=""),), {"daemon_set": Controller("agents", "")}),
    ("another name", (replace(AGENTS, key=DaemonSetKey("default", "other")),), {}),
    ("another namespace", (replace(AGENTS, key=DaemonSetKey("kube-system", "agents")),), {}),
    ("labels that it does not select", (AGENTS,), {"labels": {"app": "other"}}),
    ("no labels", (AGENTS,), {"labels": {}}),
    ("a selector without anything", (replace(AGENTS, selector=()),), {}),
    (
        "a selector that holds in part",
        (replace(AGENTS, selector=(*SELECTOR, Requirement("tier", "Exists", ()))),),
        {},
    ),
]


@pytest.mark.rule("RNP-1")
@pytest.mark.parametrize(("sets", "facts"), [each[1:] for each in FORGED], ids=[each[0] for each in FORGED])
def test_a_pod_that_no_daemon_set_knows_evicts_no_pod(
    sets: tuple[DaemonSetFacts, ...], facts: dict[str, object]
) -> None:
    world = world_of(*sets)
    ask(world, **facts)
    assert (required(world), world.victims()) == ("", set())
    record = world.ledger.view.pod(PodUid("ask"))
    assert record is not None
    assert record.is_unproved


def test_without_a_claim_a_node_named_by_fields_gives_no_rights() -> None:
    """A ``matchFields`` affinity alone is one like any other."""
    world = world_of(AGENTS)
    ask(world, daemon_set=None)
    assert (required(world), world.victims()) == ("", set())
    record = world.ledger.view.pod(PodUid("ask"))
    assert record is not None
    assert not record.is_unproved


@pytest.mark.parametrize(
    "deletion",
    [
        on.ObjectDeleted(on.DAEMON_SETS, KEY),
        on.ObjectsListed(on.DAEMON_SETS, frozenset()),
        on.ObjectObserved(on.DAEMON_SETS, replace(AGENTS, uid="uid-of-the-next")),
        on.ObjectObserved(
            on.DAEMON_SETS, replace(AGENTS, selector=(Requirement("app", "NotIn", ("agents",)),))
        ),
    ],
    ids=["deleted", "not in the list", "made anew", "selects others"],
)
def test_updates_of_a_daemon_set_count_at_once(deletion: on.Event) -> None:
    world = world_of()
    ask(world)
    for _ in range(2):
        assert (required(world), world.victims()) == ("", set())
        world.tell(on.ObjectObserved(on.DAEMON_SETS, AGENTS))
        assert (required(world), world.victims()) == ("n1", {"victim"})
        world.tell(deletion)
    assert (required(world), world.victims()) == ("", set())


def test_one_that_becomes_known_is_tried_at_once() -> None:
    """RNP-1: neither the delay nor the 15 s of other asks apply."""
    world = world_of()
    ask(world)
    before = world.ledger.view.next_due()
    world.tell(on.ObjectObserved(on.DAEMON_SETS, AGENTS))
    assert before is None or before > START
    assert world.ledger.view.next_due() == START


def test_labels_and_owners_that_are_edited_count_at_once() -> None:
    world = world_of(AGENTS)
    ask(world)
    record = world.ledger.view.pod(PodUid("ask"))
    assert record is not None
    facts = record.facts
    edits: tuple[dict[str, object], ...] = (
        {"labels": {}},
        {"daemon_set": None},
        {"daemon_set": Controller("other", AGENTS.uid)},
        {"required_node": NodeName("")},
    )
    for version, edit in enumerate(edits):
        world.tell(on.PodObserved(replace(facts, version=10 + 2 * version, **edit)))
        assert required(world) == ""
        world.tell(on.PodObserved(replace(facts, version=11 + 2 * version)))
        assert required(world) == "n1"
    world.tell(on.PodDeleted(PodUid("ask")))
    assert drifts(world.ledger) == []


@pytest.mark.rule("PRE-6")
@pytest.mark.parametrize("known", [True, False])
def test_a_pod_that_only_claims_to_be_bound_to_its_node_may_be_evicted(known: bool) -> None:
    world = World(queue("root.a", guaranteed=1), queue("root.b"), nodes={"n1": 1})
    world.first_pods("app", queue="root.b")
    world.runs("victim", "root.b", app_id="app", required_node=HERE)
    if not known:
        world.tell(on.ObjectDeleted(on.DAEMON_SETS, KEY))
    world.asks("ask", "root.a")
    assert world.victims() == (set() if known else {"victim"})


def test_a_plan_falls_when_its_daemon_set_goes() -> None:
    world = world_of(AGENTS)
    ask(world)
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert outdated(world.ledger.view, plan) == ""
    world.tell(on.ObjectDeleted(on.DAEMON_SETS, KEY))
    assert outdated(world.ledger.view, plan) == "no DaemonSet has made it for this node"


# -- where guarantees bind DaemonSets too -----------------------------------------------------------------


def test_where_guarantees_count_they_are_respected() -> None:
    world = world_of(AGENTS, daemon_sets_keep_guarantees=True)
    ask(world, priority=5)
    refusal = world.refused()
    assert refusal.text == "no fit on required node, preemption does not help (1 guaranteed to its queue)"


def test_where_guarantees_count_an_equal_is_spared() -> None:
    world = World(queue("root.a"), queue("root.b"), nodes={"n1": 1}, daemon_sets_keep_guarantees=True)
    world.first_pods("app", queue="root.b", node="n2")
    world.runs("victim", "root.b", app_id="app")
    world.tell(on.ObjectObserved(on.DAEMON_SETS, AGENTS))
    ask(world)
    assert world.refused().text == "no fit on required node, preemption does not help (1 as important)"
    record = world.ledger.view.pod(PodUid("ask"))
    assert record is not None
    world.tell(on.PodObserved(replace(record.facts, priority=1, version=9)))
    assert world.victims() == {"victim"}


def test_where_guarantees_count_each_victim_is_reckoned_with() -> None:
    """Of two pods of a queue that is guaranteed one, one may be evicted, so two are not found."""
    world = World(
        queue("root.a"), queue("root.b", guaranteed=1), nodes={"n1": 2}, daemon_sets_keep_guarantees=True
    )
    world.first_pods("app", queue="root.b")
    world.runs("v1", "root.b", app_id="app")
    world.runs("v2", "root.b", app_id="app")
    world.tell(on.ObjectObserved(on.DAEMON_SETS, AGENTS))
    pod = world.asks("ask", "root.a", 2, priority=5, **OF_AGENTS)
    world.tell(on.PodObserved(replace(pod, required_node=HERE, version=2)))
    assert "1 guaranteed to its queue" in world.refused().text
    small = replace(pod, required_node=HERE, version=3, size=world.asks("s", "root.a").size)
    world.tell(on.PodObserved(small))
    assert len(world.victims()) == 1


@pytest.mark.parametrize(("strict", "law"), [(False, []), (True, ["LAW-6"])])
def test_a_plan_is_judged_by_the_setting_as_it_is_when_it_is_carried_out(
    strict: bool, law: list[str]
) -> None:
    world = world_of(AGENTS)
    ask(world)
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert plan.kind is Kind.REQUIRED_NODE
    preemption = replace(world.settings.preemption, daemon_sets_keep_guarantees=strict)
    world.settings = replace(world.settings, preemption=preemption)
    world.configure(*world.queues)
    assert [breach.law for breach in check_laws(world.ledger.view, plan)] == law
