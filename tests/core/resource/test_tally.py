"""Tallies against plain sums by name, since they store some names apart from others."""

import random

import pytest

from core.resource import Resource, Tally

NAMES = ("memory", "pods", "vcore", "ephemeral-storage", "nvidia.com/gpu")


def size_of(chance: random.Random) -> dict[str, int]:
    """A size with some names, often the same amounts, at times huge ones, zeros or negative ones."""
    names = chance.sample(NAMES, chance.randrange(len(NAMES) + 1))
    return {name: chance.choice((0, 1, 1, 2, 3, 2**62, -1)) for name in names}


def added(sums: dict[str, int], size: dict[str, int]) -> dict[str, int]:
    """Sums after an addition. Zeros are left out."""
    found = {name: sums.get(name, 0) + size.get(name, 0) for name in sums.keys() | size.keys()}
    return {name: amount for name, amount in found.items() if amount}


def subtracted(sums: dict[str, int], size: dict[str, int]) -> tuple[dict[str, int], list[str]]:
    """Sums after a subtraction that stops at zero, and the names that it stopped."""
    left = {name: sums.get(name, 0) - amount for name, amount in size.items()}
    found = {**sums, **{name: max(0, amount) for name, amount in left.items()}}
    stopped = sorted(name for name, amount in left.items() if amount < 0)
    return {name: amount for name, amount in found.items() if amount}, stopped


@pytest.mark.rule("QUO-2")
@pytest.mark.parametrize("seed", range(40))
def test_a_tally_counts_as_sums_by_name_do(seed: int) -> None:
    chance, tally, sums = random.Random(seed), Tally(), dict[str, int]()
    for step in range(60):
        size = size_of(chance)
        if chance.random() < 0.6:
            tally.add(Resource(size))
            sums = added(sums, size)
        else:
            names = tally.subtract(Resource(size))
            sums, stopped = subtracted(sums, size)
            assert list(names) == stopped, step
        assert tally.by_name() == sums, step
        assert list(tally.names()) == sorted(sums), "in the order of names"
        assert [tally.get(name) for name in NAMES] == [sums.get(name, 0) for name in NAMES]
        assert bool(tally) == bool(sums)
        assert tally == tally.copy() == Tally(sums)


@pytest.mark.rule("QUO-2")
def test_amounts_that_were_read_do_not_change_with_the_tally() -> None:
    tally = Tally({"vcore": 1})
    read = tally.by_name()
    tally.add(Resource({"vcore": 1, "pods": 1}))
    assert read == {"vcore": 1}
    assert tally.by_name() == {"pods": 1, "vcore": 2}
    tally.clear()
    assert not tally
    assert tally.by_name() == {}
