"""Open plans obey the laws together, whatever happens between the verb and the ticker (F-12, F-13)."""

import pytest

from tests.histories.preemption import played

SEEDS = 300


@pytest.mark.rule("LAW-1", "LAW-2", "LAW-4")
def test_plans_in_flight_keep_the_laws_together() -> None:
    """`make histories` plays many more."""
    worlds = [played(seed) for seed in range(SEEDS)]
    assert sum(world.plans for world in worlds) > SEEDS, "histories without plans say nothing"
    assert sum(world.taken for world in worlds) > SEEDS / 10, "nor those in which kube-scheduler takes none"
