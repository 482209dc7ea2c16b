"""Each panel of YuniKorn's published dashboard finds series by name and labels."""

import pytest

from tests.builders import make_queue
from tests.extender.telemetry.yunikorn.board import BOARD, Query
from tests.extender.telemetry.yunikorn.reading import Read, Watched


@pytest.fixture(scope="module")
def quiet() -> Read:
    return Watched(make_queue("root.a")).read()


@pytest.mark.parametrize("query", BOARD, ids=lambda query: query.panel)
def test_a_panel_has_series_from_the_start(quiet: Read, query: Query) -> None:
    found = [each for each in quiet.labels(query.series) if query.labels.items() <= each.items()]
    assert found
    assert query.legend is None or all(query.legend in each for each in found)


@pytest.mark.rule("METRIC-18")
def test_the_variable_of_the_board_finds_the_queues(quiet: Read) -> None:
    """Grafana lists names with this ending, and extracts the queue from them."""
    names = {name for name in quiet.names() if name.startswith("yunikorn_root_")}
    assert "yunikorn_root_a_queue_resource" in names
