"""Some histories of administration. `make histories` plays any number."""

import pytest

from tests.histories.administration.orders import play
from tests.histories.administration.scene import CHOICES, STEPS

SEEDS_PER_TEST = 25


@pytest.mark.rule("ACT-30", "ACT-33", "ACT-41")
@pytest.mark.parametrize("first", range(0, 100, SEEDS_PER_TEST))
def test_orders_and_time_outs_hold_in_any_order(first: int) -> None:
    for seed in range(first, first + SEEDS_PER_TEST):
        play(seed)


def test_every_kind_of_step_takes_part() -> None:
    """A step is a method of the history. Rare ones occur often enough in a hundred histories."""
    assert 100 * STEPS / len(CHOICES) > 20
