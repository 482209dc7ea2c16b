"""Some histories of the order. `make histories` plays any number."""

import pytest

from tests.histories.ordering import USED_ONLY, play

SEEDS_PER_TEST = 50


@pytest.mark.rule("CYC-4", "CYC-7", "PRI-2")
@pytest.mark.parametrize("first", range(0, 300, SEEDS_PER_TEST))
def test_a_cycle_in_slices_gives_the_turns_of_the_reference(first: int) -> None:
    for seed in range(first, first + SEEDS_PER_TEST):
        play(seed)


@pytest.mark.rule("PRI-2", "SORT-5")
@pytest.mark.parametrize("seed", [103, 270, 324, 884])
def test_turns_used_between_slices_are_not_counted_twice(seed: int) -> None:
    """F-11: asks of priority 100 waited while other asks of the same queue were placed."""
    play(seed, USED_ONLY)
