"""The order of nodes by free vcore: equal to a fresh sort, however many changes it has not read yet."""

from random import Random

import pytest

from core.ids import NodeName
from core.workload.nodes.free_order import AWAITED, FEW, QUICK, FreeOrder

NODES = 60


class World:
    """Free amounts of nodes, and their order."""

    def __init__(self, nodes: int) -> None:
        self.free: dict[NodeName, dict[str, int]] = {}
        self.order = FreeOrder(self.free)
        for at in range(nodes):
            self.add(NodeName(f"n{at}"), 8)

    def add(self, name: NodeName, amount: int) -> None:
        self.free[name] = {"vcore": amount}
        self.order.add(name)

    def drop(self, name: NodeName) -> None:
        self.order.drop(name, self.free.pop(name)["vcore"])

    def change(self, name: NodeName, amount: int) -> None:
        before = self.free[name]["vcore"]
        self.free[name] = {"vcore": amount}
        self.order.note_change(name, before)

    def sorted(self) -> list[tuple[int, NodeName]]:
        return sorted((amounts["vcore"], name) for name, amounts in self.free.items())


@pytest.mark.parametrize("seed", range(40))
def test_the_order_is_that_of_the_present_amounts(seed: int) -> None:
    chance, world = Random(seed), World(NODES)
    for at in range(400):
        name = chance.choice(list(world.free))
        drawn = chance.random()
        if drawn < 0.05:
            world.drop(name)
            world.add(NodeName(f"new-{at}"), chance.randrange(-3, 9))
        elif drawn < 0.9:
            world.change(name, chance.randrange(-3, 9))
        elif drawn < 0.97:
            assert world.order.has(name)
        else:
            assert world.order.places() == world.sorted()
    assert world.order.places() == world.sorted()
    assert len(world.order) == NODES


@pytest.mark.parametrize("changed", [1, NODES // FEW, NODES // FEW + 1, NODES])
def test_few_and_many_changes_end_in_the_same_order(changed: int) -> None:
    world = World(NODES)
    for at in range(changed):
        world.change(NodeName(f"n{at}"), 7 - at % 3)
    assert world.order.places() == world.sorted()


def test_a_node_that_changes_twice_leaves_the_place_where_it_stood() -> None:
    world, name = World(NODES), NodeName("n7")
    world.change(name, 5)
    world.change(name, 3)
    assert world.order.places() == world.sorted()


@pytest.mark.parametrize(("nodes", "are_moved"), [(QUICK, False), (QUICK + 1, True)])
def test_of_many_nodes_a_bound_of_changes_are_left_to_the_next_reader(nodes: int, are_moved: bool) -> None:
    world = World(nodes)
    for at in range(AWAITED):
        world.change(NodeName(f"n{at}"), 1)
    assert world.order._places != world.sorted()
    world.change(NodeName(f"n{AWAITED}"), 1)
    assert (world.order._places == world.sorted()) is are_moved
    assert world.order.places() == world.sorted()


def test_a_copy_has_the_changes_that_are_not_read_yet_and_then_changes_by_itself() -> None:
    world = World(NODES)
    world.change(NodeName("n3"), 2)
    free = dict(world.free)
    copy = world.order.copy(free)
    assert copy.places() == world.sorted()
    free[NodeName("n4")] = {"vcore": 1}
    copy.note_change(NodeName("n4"), 8)
    assert copy.has(NodeName("n4"))
    assert copy.places()[0] == (1, "n4")
    assert world.order.places() == world.sorted()


def test_a_node_that_lacks_the_resource_counts_as_zero() -> None:
    free = {NodeName("a"): {"memory": 5}, NodeName("b"): {"vcore": -1}}
    order = FreeOrder(free)
    for name in free:
        order.add(name)
    assert order.places() == [(-1, "b"), (0, "a")]
