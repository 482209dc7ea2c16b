"""Loops of preemption: victims are created again at once, and evictions must still come to an end."""

import pytest

from tests.core.preemption_world import World, queue


def two(
    total: int, prod: tuple[int, int], test: tuple[int, int], *, size: int = 1, **settings: bool
) -> World:
    """Two siblings with (guarantee, usage), full of pods of one size; three asks of prod wait."""
    world = World(
        queue("root.prod", guaranteed=prod[0]),
        queue("root.test", guaranteed=test[0]),
        nodes={"n1": total},
        **settings,
    )
    for path, used in (("root.prod", prod[1]), ("root.test", test[1])):
        for number in range(used // size):
            world.runs(f"{path[5:]}{number}", path, size, created=float(number))
    for number in range(3):
        world.asks(f"ask{number}", "root.prod", size)
    return world


@pytest.mark.rule("LAW-4", "LAW-5")
def test_case_1_one_pod_goes_and_then_both_stop() -> None:
    world = two(10, prod=(5, 4), test=(5, 6))
    assert world.until_quiet() == ["test5"]
    assert (world.used("root.prod"), world.used("root.test")) == (5, 5)


@pytest.mark.rule("PRE-10", "DIV-10")
def test_case_1b_an_ask_that_would_end_above_its_guarantee_is_refused() -> None:
    world = two(12, prod=(5, 4), test=(5, 8), size=2)
    assert world.refused("ask0").law == "LAW-4"
    assert world.until_quiet() == []


@pytest.mark.rule("DIV-10")
def test_case_1b_with_the_switch_ends_above_the_guarantee_and_is_quiet() -> None:
    world = two(12, prod=(5, 4), test=(5, 8), size=2, may_exceed_guarantee=True)
    assert world.until_quiet() == ["test3"]
    assert (world.used("root.prod"), world.used("root.test")) == (6, 6)


@pytest.mark.rule("LAW-2", "DIV-9", "DIV-22")
def test_case_2_no_queue_falls_below_its_guarantee() -> None:
    world = World(queue("root.prod", guaranteed=8), queue("root.test", guaranteed=10), nodes={"n1": 12})
    for number in range(3):
        world.runs(f"test{number}", "root.test", 4, created=float(number))
    world.asks("ask", "root.prod", 4)
    refusal = world.refused()
    assert dict(refusal.nodes.lost) == {"too few pods may be evicted": 1}


@pytest.mark.rule("PRE-10")
def test_case_3_four_rounds_and_then_both_stop() -> None:
    world = two(10, prod=(6, 2), test=(3, 8))
    for number in range(3, 6):
        world.asks(f"ask{number}", "root.prod")
    assert world.until_quiet() == ["test7", "test6", "test5", "test4"]
    assert (world.used("root.prod"), world.used("root.test")) == (6, 4)


def region(*, total: int, other: int = 0) -> World:
    world = World(
        queue("root.region", leaf=False, guaranteed=10),
        queue("root.region.state1"),
        queue("root.region.state2"),
        queue("root.other"),
        nodes={"n1": total},
    )
    for path, used in (("root.region.state1", 4), ("root.region.state2", 4), ("root.other", other)):
        for number in range(used):
            world.runs(f"{path.rpartition('.')[2]}-{number}", path, created=float(number))
    world.asks("ask1", "root.region.state1")
    world.asks("ask2", "root.region.state2")
    return world


@pytest.mark.rule("PRE-8", "LAW-5")
def test_storm_siblings_that_share_a_guarantee_do_not_take_from_each_other() -> None:
    world = region(total=8)
    assert world.until_quiet() == []
    assert [found.law for _, found in world.refused("ask1").queues] == ["LAW-5"]


@pytest.mark.rule("LAW-5")
def test_bigger_they_take_from_a_queue_without_any_guarantee() -> None:
    world = region(total=10, other=2)
    assert world.victims("ask1") == {"other-1"}
    assert sorted(world.until_quiet()) == ["other-0", "other-1"]


@pytest.mark.rule("PRE-10")
def test_a_queue_over_its_guarantee_gives_until_the_other_has_its_own() -> None:
    """Queue-1 (max 10, guaranteed 5) uses 10, queue-2 2 of 5, below a max of 12: 7 and 5 at the end."""
    world = World(
        queue("root.p", leaf=False, max=12),
        queue("root.p.queue-1", max=10, guaranteed=5),
        queue("root.p.queue-2", guaranteed=5),
        nodes={"n1": 100},
    )
    for path, used in (("root.p.queue-1", 10), ("root.p.queue-2", 2)):
        for number in range(used):
            world.runs(f"{path[-1]}-{number}", path, created=float(number))
    for number in range(5):
        world.asks(f"ask{number}", "root.p.queue-2")
    assert len(world.until_quiet()) == 3
    assert (world.used("root.p.queue-1"), world.used("root.p.queue-2")) == (7, 5)


@pytest.mark.rule("LAW-6")
def test_offsets_of_plus_and_minus_100() -> None:
    """Guarantees of 6 each, norm uses 18 in pods of 3: high takes two, low none."""
    world = World(
        queue("root.high", guaranteed=6, priority_offset="100"),
        queue("root.norm", guaranteed=6),
        queue("root.low", guaranteed=6, priority_offset="-100"),
        nodes={"n1": 18},
    )
    for number in range(6):
        world.runs(f"norm{number}", "root.norm", 3, created=float(number))
    for number in range(3):
        world.asks(f"high{number}", "root.high", 3)
        world.asks(f"low{number}", "root.low", 3)
    assert world.until_quiet() == ["norm5", "norm4"]
    assert (world.used("root.high"), world.used("root.norm"), world.used("root.low")) == (6, 12, 0)
