"""Some histories of the quota. `make histories` plays any number."""

import pytest

from tests.histories.quota import FEATURES, STEPS, played

SEEDS_PER_TEST = 100


@pytest.mark.rule("QUO-7", "QUO-8")
@pytest.mark.parametrize("first", range(0, 600, SEEDS_PER_TEST))
def test_nothing_gets_past_a_quota(first: int) -> None:
    worlds = [played(seed) for seed in range(first, first + SEEDS_PER_TEST)]
    assert sum(world.judged for world in worlds) > 2 * SEEDS_PER_TEST, "histories without placing say nothing"


def test_every_feature_takes_part() -> None:
    """A step is a method of the world. Rare steps occur often enough in a hundred histories."""
    shortest = 100 * STEPS * min(FEATURES.values()) / sum(FEATURES.values())
    assert shortest > 20
