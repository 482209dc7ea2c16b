"""Judgement of plans at their commit: verdicts of the laws on forged and outdated plans."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.decisions.preemption.judging import check_laws, outdated, undercut
from core.decisions.preemption.receipts import Plan, Victim
from core.ids import PodUid, QueuePath
from core.ledger import events as on
from core.resource import Resource
from tests.builders import marked
from tests.core.preemption_world import World, queue


def world_of() -> tuple[World, Plan]:
    """A plan that evicts b1. Other pods, which it must not evict, run beside it."""
    world = World(
        queue("root.p", leaf=False, preemption_policy="fence"),
        queue("root.p.a", guaranteed=3),
        queue("root.p.b"),
        queue("root.p.c", guaranteed=4),
        queue("root.p.d", guaranteed=1),
        queue("root.e"),
        nodes={"n1": 9},
    )
    for number in range(2):
        world.runs(f"b{number}", "root.p.b", created=float(number), app_id="b-app")
    world.runs("vip", "root.p.b", priority=9, app_id="b-app")
    world.runs("c", "root.p.c", app_id="c-app")
    world.runs("d", "root.p.d", 2)
    world.runs("e", "root.e", 2)
    world.runs("mine", "root.p.a", app_id="app-of-ask")
    world.asks("ask", "root.p.a")
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert [victim.name for victim in plan.victims] == ["b1"]
    return world, plan


def of(world: World, name: str) -> Victim:
    record = world.ledger.view.pod(PodUid(name))
    assert record is not None
    path = world.ledger.view.queue_of(record)
    assert path is not None
    facts = record.facts
    return Victim(
        record.uid, "default", name, record.node, path.path, facts.priority, facts.size, False, False, 0.0
    )


@pytest.mark.parametrize(
    ("name", "laws"),
    [
        ("c", {"LAW-2", "LAW-5"}),
        ("d", {"LAW-2"}),
        ("vip", {"LAW-6"}),
        ("e", {"LAW-6", "LAW-7"}),
        ("mine", {"LAW-3", "LAW-5", "LAW-6"}),
    ],
)
@pytest.mark.rule("LAW-2", "LAW-5", "LAW-7")
def test_each_law_finds_its_breach(name: str, laws: set[str]) -> None:
    world, plan = world_of()
    forged = replace(plan, victims=(of(world, name),))
    assert {breach.law for breach in check_laws(world.ledger.view, forged)} == laws
    assert check_laws(world.ledger.view, plan) == ()


@pytest.mark.rule("LAW-1")
def test_the_unwilling_before_the_willing_are_a_breach() -> None:
    world, plan = world_of()
    unwilling = replace(of(world, "b0"), opted_out=True)
    forged = replace(plan, victims=(unwilling, *plan.victims))
    assert [breach.law for breach in check_laws(world.ledger.view, forged)] == ["LAW-1"]
    assert check_laws(world.ledger.view, replace(plan, victims=(*plan.victims, unwilling))) == ()


@pytest.mark.rule("LAW-4")
def test_an_ask_whose_queue_has_got_its_share_meanwhile() -> None:
    world, plan = world_of()
    for number in range(2):
        world.runs(f"more{number}", "root.p.a")
    assert [breach.law for breach in check_laws(world.ledger.view, plan)] == ["LAW-4"]
    assert outdated(world.ledger.view, plan) == "the ask would not fit any more"


def _deleted(uid: str) -> Callable[[World], None]:
    return lambda world: world.tell(on.PodDeleted(PodUid(uid)))


@pytest.mark.rule("PRE-20")
@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (_deleted("ask"), "the ask does not wait any more"),
        (_deleted("b1"), "default/b1 does not run there any more"),
        (
            lambda world: marked(world.ledger, "b1", "root.p.b"),
            "default/b1 does not run there any more",
        ),
        (lambda world: world.tell(on.ObjectDeleted(on.NODES, world.plan().node)), "node n1 was deleted"),  # type: ignore[union-attr]
        (_deleted("b0"), "there is enough capacity without victims"),
        (lambda world: world.node("n1", 8), "the ask would not fit any more"),
        (lambda world: None, ""),
    ],
)
def test_what_makes_a_plan_old(happens: Callable[[World], None], why: str) -> None:
    world, plan = world_of()
    happens(world)
    assert outdated(world.ledger.view, plan) == why


def test_a_plan_without_its_ask_or_queue_is_unlawful_not_an_error() -> None:
    world, plan = world_of()
    nowhere = replace(of(world, "b1"), queue=QueuePath("root.ghost"), size=Resource({"vcore": 1}))
    assert [each.law for each in check_laws(world.ledger.view, replace(plan, victims=(nowhere,)))] == [
        "LAW-5"
    ]
    world.tell(on.PodDeleted(PodUid("ask")))
    assert [each.law for each in check_laws(world.ledger.view, plan)] == ["LAW-4"]


@pytest.mark.rule("LAW-2")
@pytest.mark.parametrize(
    ("names", "queue_path"),
    [
        (["b0", "b1"], None),
        (["d"], "root.p.d"),
        (["c"], "root.p.c"),
        (["b0", "mine"], "root.p.a"),
        (["e", "stranger", "ghost"], None),
    ],
)
def test_what_a_preemptor_without_a_queue_would_undercut(names: list[str], queue_path: str | None) -> None:
    world, _ = world_of()
    world.runs("stranger", "", 1, scheduler_name="x")
    assert undercut(world.ledger.view, [PodUid(name) for name in names]) == queue_path
