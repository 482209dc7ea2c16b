"""Replacements seen by an instance that does not act, or by one that finds contradicting records."""

from dataclasses import replace

import pytest

from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.gangs.slots import UNTRIED_AT_MOST
from tests.builders import drifts, make_gang, make_ledger, make_queue, usage
from tests.core.ledger.gangs.play import GangPlay


def linked() -> GangPlay:
    """A member that is to replace a placeholder, which is not deleted yet."""
    world = GangPlay(make_ledger(make_queue("root.a"), nodes=2))
    world.create("m1", gang=make_gang(1), task_group="g")
    world.failing.add("DeletePod")
    world.bind_placeholders()
    assert world.pods[PodUid("uid-m1")].replaces
    return world


@pytest.mark.rule("GANG-12")
def test_a_member_that_another_instance_has_placed_leaves_its_placeholder_to_that_one() -> None:
    world = linked()
    world.tell(on.ActingEnded())
    world._show(replace(world.pods[PodUid("uid-m1")], node=NodeName("n2")))
    assert drifts(world.ledger) == []


@pytest.mark.rule("GANG-12", "GANG-20")
def test_of_two_members_that_name_one_placeholder_one_has_its_capacity() -> None:
    """The record of the first was written without Paddock's knowledge, and another member was chosen."""
    world = linked()
    first = world.pods[PodUid("uid-m1")]
    world.create("m2", task_group="g")
    world.pods[PodUid("uid-m2")] = replace(
        world.pods[PodUid("uid-m2")], replaces=first.replaces, reserved_node=first.reserved_node
    )
    world.restarted(make_ledger(make_queue("root.a"), listed=False))
    assert usage(world.ledger, "root.a") == (1000, 0, 1000)
    assert world.pods[PodUid("uid-m2")].replaces == ""
    world.failing.clear()
    world.wait(5)
    assert usage(world.ledger, "root.a") == (0, 1000, 1000)
    world.bind("uid-m1")


@pytest.mark.rule("GANG-20")
def test_a_member_that_names_a_pod_which_is_no_placeholder_has_no_capacity() -> None:
    world = GangPlay(make_ledger(make_queue("root.a"), listed=False))
    gang = make_gang(1)
    world.create("m1", gang=gang, task_group="g", node="n1", gang_noted="Started")
    world.create("m2", task_group="g", replaces=PodUid("uid-m1"), reserved_node=NodeName("n1"))
    world.tell(on.PodsListed(frozenset(world.pods)))
    assert usage(world.ledger, "root.a") == (1000, 0, 1000)


@pytest.mark.rule("GANG-12", "GANG-20")
def test_a_member_names_the_node_reserved_for_it_after_a_failed_replacement() -> None:
    """The node was reserved for it before the restart, after another replacement that failed."""
    world = GangPlay(make_ledger(make_queue("root.a"), nodes=2, listed=False))
    gang = make_gang(1)
    world.create("m1", gang=gang, task_group="g", node="n1", gang_noted="Started")
    world.create("tg", gang=gang, task_group="g", placeholder=True, node="n1", owner=PodUid("uid-m1"))
    world.create("m2", task_group="g", reserved_node=NodeName("n2"))
    world.tell(on.PodsListed(frozenset(world.pods)))
    assert world.ledger.view.slots == {"n1": {"uid-m2"}}
    world.wait(UNTRIED_AT_MOST + 1)
    assert world.ledger.view.reserved_nodes == {"n2": "uid-m2"}
    assert world.pods[PodUid("uid-m2")].reserved_node == "n2"
