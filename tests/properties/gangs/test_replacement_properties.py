"""Gangs that stand in line for their take-overs, one of which is begun at a time, whatever happens between.

What must hold at every moment is what holds of all gangs, see `History`.
"""

from unittest.mock import patch

import pytest
from hypothesis import given, settings

from core.ledger.gangs import matching
from core.resource import Resource
from extender.simulator.scenario.model import Scenario
from tests.properties.gangs.test_gang_properties import Happens, histories, played, worlds


@pytest.mark.rule("GANG-12", "GANG-20")
@settings(deadline=None, max_examples=60)
@given(worlds(), histories)
def test_all_are_placed_also_one_after_the_other(scenario: Scenario, happens: list[Happens]) -> None:
    with patch.object(matching, "AT_ONCE", 1), played(scenario, happens) as history:
        assert history.half_reserved() == set()
        assert list(history.stuck()) == []
        history.nobody_left()
        assert history.placeholders() == []
        queue = history.cluster.paddock.life.view.tree.get("root.a")
        assert queue is not None
        assert queue.allocated.as_resource() == Resource({})
