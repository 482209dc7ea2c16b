"""Gangs that wait for their replacements, which begin one at a time, with any events in between.

The rules of all gangs hold at every moment. See `History`.
"""

import pytest
from hypothesis import given, settings

from core.ledger.gangs import matching
from core.resource import Resource
from extender.simulator.scenario.model import Scenario
from tests.properties.gangs.test_gang_properties import Happens, histories, played, worlds

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold until the ledgers are audited, which expects timers by it."""
    monkeypatch.setattr(matching, "AT_ONCE", 1)


@pytest.mark.rule("GANG-12", "GANG-20")
@settings(deadline=None, max_examples=60)
@given(worlds(), histories)
def test_all_are_placed_also_one_after_the_other(scenario: Scenario, happens: list[Happens]) -> None:
    with played(scenario, happens) as history:
        assert history.half_reserved() == set()
        assert list(history.stuck()) == []
        history.none_left()
        assert history.placeholders() == []
        queue = history.cluster.paddock.life.view.tree.get("root.a")
        assert queue is not None
        assert queue.allocated.as_resource() == Resource({})
