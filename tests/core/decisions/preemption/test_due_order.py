"""The order in which asks get victims: that of their queues, computed again after each plan (F-14)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from core.decisions.preemption.due_order import CONTENDERS_PER_SLICE, DueOrder
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.queues.spec import QueueSpec
from tests.builders import START
from tests.core.preemption_world import LATER, World, queue

GUARANTEES: Mapping[str, int] = {"root.full": 10, "root.empty": 10}


def due(*queues: QueueSpec, held: Mapping[str, int], asks: Mapping[str, tuple[str, int]]) -> World:
    """Due asks by name, with queue and priority. ``held``: amounts of running pods, one each."""
    world = World(*queues, nodes={"n1": sum(held.values()) + 50})
    for path, count in held.items():
        for number in range(count):
            world.runs(f"{path}-{number}", path)
    for name, (path, priority) in asks.items():
        world.asks(name, path, priority=priority)
    world.tell(on.TimePassed(), now=LATER)
    return world


def order_of(world: World, *, carried_out: bool = False) -> list[str]:
    """The asks as they are taken; with ``carried_out`` each is given its plan at once."""
    order, found = DueOrder(), []
    while True:
        while not order.prepare(world.ledger.view):
            pass
        uid = order.first(world.ledger.view)
        if uid is None:
            return found
        found.append(str(uid))
        world.tell(on.PreemptionTried(uid), now=LATER)
        if carried_out:
            world.tell(on.PlanCommitted(uid, f"1-{uid}", NodeName(f"of-{uid}"), ()), now=LATER)


QUEUES = tuple(queue(path, guaranteed=amount) for path, amount in GUARANTEES.items())


@pytest.mark.rule("F-14", "SORT-3")
def test_a_queue_at_nothing_of_its_guarantee_goes_before_one_at_nine_tenths() -> None:
    """The age and the names of the other queue's asks do not matter."""
    asks = {"a-old": ("root.full", 0), "b-old": ("root.full", 0), "c-new": ("root.empty", 0)}
    world = due(*QUEUES, held={"root.full": 9}, asks=asks)
    assert order_of(world) == ["c-new", "a-old", "b-old"]


@pytest.mark.rule("F-14", "SORT-1")
def test_priority_goes_before_the_share_where_it_counts() -> None:
    asks = {"low": ("root.empty", 0), "high": ("root.full", 5)}
    assert order_of(due(*QUEUES, held={"root.full": 9}, asks=asks)) == ["high", "low"]


@pytest.mark.rule("F-14", "SORT-2")
def test_without_priority_the_share_goes_first() -> None:
    world = World(*QUEUES, nodes={"n1": 50})
    root = world.tree.root
    root.properties = replace(root.properties, sort_by_priority=False)
    for number in range(9):
        world.runs(f"v{number}", "root.full")
    world.asks("low", "root.empty")
    world.asks("high", "root.full", priority=5)
    world.tell(on.TimePassed(), now=LATER)
    assert order_of(world) == ["low", "high"]


@pytest.mark.rule("F-14", "DIV-14")
def test_an_ask_with_a_plan_counts_as_placed_so_that_queues_alternate() -> None:
    asks = {f"{path[5]}{number}": (path, 0) for path in GUARANTEES for number in range(3)}
    world = due(*QUEUES, held={"root.full": 1}, asks=asks)
    assert order_of(world, carried_out=True) == ["e0", "f0", "e1", "f1", "e2", "f2"]


@pytest.mark.rule("F-14", "SORT-5")
def test_within_a_leaf_the_order_is_that_of_its_applications() -> None:
    """The leaf's policy puts the oldest application first, whatever the priorities of its asks."""
    world = World(queue("root.a", guaranteed=9, application_sort_priority="disabled"), nodes={"n1": 50})
    world.asks("young", "root.a", app_id="young", priority=9)
    world.asks("old", "root.a", app_id="old", created=START - 500)
    world.asks("older", "root.a", app_id="old", created=START - 501, priority=-1)
    world.tell(on.TimePassed(), now=LATER)
    assert list(world.ledger.view.trying) == ["old", "older", "young"]


@pytest.mark.rule("F-14")
def test_below_parents_the_order_is_that_of_each_level() -> None:
    queues = (
        queue("root.p", leaf=False, guaranteed=4),
        queue("root.p.a", guaranteed=4),
        queue("root.p.b", guaranteed=4),
        queue("root.q", guaranteed=4),
    )
    asks = {"a": ("root.p.a", 0), "b": ("root.p.b", 0), "q": ("root.q", 0)}
    world = due(*queues, held={"root.p.a": 3, "root.q": 2}, asks=asks)
    assert order_of(world) == ["q", "b", "a"]


@pytest.mark.rule("F-14")
def test_an_ask_deleted_meanwhile_is_skipped() -> None:
    world = due(*QUEUES, held={}, asks={"e": ("root.empty", 0), "f": ("root.full", 0)})
    order = DueOrder()
    assert order.prepare(world.ledger.view)
    world.tell(on.PodDeleted(PodUid("e")), now=LATER)
    assert order.first(world.ledger.view) == "f"
    assert order.first(world.ledger.view) is None


@pytest.mark.rule("F-14")
def test_many_queues_are_weighed_some_at_a_time() -> None:
    count = 2 * CONTENDERS_PER_SLICE + 1
    queues = [queue(f"root.q{number:03}", guaranteed=1) for number in range(count)]
    asks = {f"ask{number:03}": (f"root.q{number:03}", 0) for number in range(count)}
    world = due(*queues, held={}, asks=asks)
    order = DueOrder()
    assert [order.prepare(world.ledger.view) for _ in range(3)] == [False, False, True]
    assert order.first(world.ledger.view) == "ask000"
