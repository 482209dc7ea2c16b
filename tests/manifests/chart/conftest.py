"""Helm for the tests of the chart. `make chart` builds it first; without it these tests are skipped."""

from pathlib import Path

import pytest

from e2e.programs.helm import is_built


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    built = is_built()
    for item in items:
        if here in item.path.parents:
            # The first test of a module renders for all of them.
            item.add_marker(pytest.mark.timeout(360))
            if not built:
                item.add_marker(pytest.mark.skip(reason="Helm is not built: run `make chart`"))
