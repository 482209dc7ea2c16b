"""Open slots. A member loses its slot at the next timer once the node can no longer take it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.ids import NodeName
from core.ledger import events as on
from tests.builders import drifts, make_gang, make_node
from tests.core.ledger.gangs.play import GangPlay, play


def shrink(world: GangPlay) -> None:
    world.tell(on.ObjectObserved(on.NODES, make_node("n1", cpu=500)))


def lose(world: GangPlay) -> None:
    world.tell(on.ObjectDeleted(on.NODES, NodeName("n1")))


def fill(world: GangPlay) -> None:
    world.create("other", app="other", node="n1")


@pytest.mark.rule("GANG-12", "GANG-19")
@pytest.mark.parametrize("change", [shrink, lose, fill])
def test_a_slot_that_its_node_cannot_hold_any_more_ends_with_the_next_timers(
    change: Callable[[GangPlay], None],
) -> None:
    world = play(nodes=2)
    world.tell(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)))
    world.create("m1", gang=make_gang(1), task_group="g")
    world.bind_placeholders()
    assert world.ledger.view.slots == {"n1": {"uid-m1"}}
    world.wait(1)
    assert world.ledger.view.gang_tally.cancelled == 0
    change(world)
    world.wait(1)
    assert (world.ledger.view.gang_tally.cancelled, world.ledger.view.slots) == (1, {})


@pytest.mark.rule("GANG-12")
def test_a_slot_is_checked_when_its_member_is_late() -> None:
    world = play(nodes=2)
    world.create("m1", gang=make_gang(1), task_group="g")
    world.bind_placeholders()
    assert world.ledger.view.next_due() == world.now + 300


@pytest.mark.rule("GANG-12")
def test_a_member_keeps_its_slot_though_kube_scheduler_is_killed_during_its_attempt() -> None:
    """Another replica leads 15 s later, and tries the member first after others."""
    world = play(nodes=2)
    world.tell(on.ObjectObserved(on.NODES, make_node("n1", cpu=1000)))
    world.create("m1", gang=make_gang(1), task_group="g")
    world.bind_placeholders()
    assert world.admitted("uid-m1")
    world.wait(30)
    assert world.ledger.view.slots == {"n1": {"uid-m1"}}
    assert world.ledger.view.free_on(NodeName("n1"))["vcore"] == 0
    world.bind("uid-m1")
    assert world.ledger.view.gang_tally.cancelled == 0
    assert drifts(world.ledger) == []


@pytest.mark.rule("GANG-12")
def test_a_late_report_of_a_failure_takes_no_slot_from_a_member_whose_kube_scheduler_was_killed() -> None:
    """Seen in the end-to-end test: the attempt was from before the slot was open."""
    world = play(nodes=2)
    member = world.create("m1", gang=make_gang(1), task_group="g")
    world.bind_placeholders()
    world._show(replace(world.pods[member], unscheduled="0/2 nodes are available: 2 Insufficient cpu."))
    world.wait(20)
    assert world.ledger.view.slots == {"n1": {member}}
    world.bind(member)
    assert world.ledger.view.gang_tally.cancelled == 0
    assert drifts(world.ledger) == []


@pytest.mark.rule("GANG-12")
def test_only_one_try_is_excused_by_a_silent_kube_scheduler() -> None:
    world = play(nodes=2)
    world.create("m1", gang=make_gang(1), task_group="g")
    world.bind_placeholders()
    for cancelled in (0, 1):
        assert world.ledger.view.gang_tally.cancelled == 0
        assert world.admitted("uid-m1")
        world.wait(11)
        assert world.ledger.view.gang_tally.cancelled == cancelled
    assert drifts(world.ledger) == []
