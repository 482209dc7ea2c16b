"""Selection of the tests that run on what `make compiled` compiles.

Tests that replace a part of it or count its steps are left out: compiled code allows neither.
"""

from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

TESTS = Path(__file__).parent
SHARE = 10
"""Number of examples of a property for each that is played."""
_PARTS = ("engine", "http", "kube", "rest", "telemetry", "verbs", "views", "wire")
_FOLDERS = (
    *(TESTS / each for each in ("scenarios", "properties", "contract")),
    *(TESTS / "extender" / each for each in _PARTS),
)
MARKER = "interpreted"
"""Mark of a test that replaces a part of what is compiled, or counts its steps."""


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what plays compiled modules, with fewer examples. Deselect what replaces or traces them."""
    config.hook.pytest_deselected(items=[item for item in items if not _can_run(item)])
    items[:] = [item for item in items if _can_run(item)]
    for item in items:
        _play_fewer(item)


def _can_run(item: pytest.Item) -> bool:
    return any(item.path.is_relative_to(each) for each in _FOLDERS) and not item.get_closest_marker(MARKER)


def _play_fewer(item: pytest.Item) -> None:
    assert isinstance(item, pytest.Function)
    if is_hypothesis_test(item.obj):
        found = getattr(item.obj, "_hypothesis_internal_use_settings", None) or settings.default
        assert found is not None
        fewer = settings(found, max_examples=max(1, found.max_examples // SHARE))
        item.function._hypothesis_internal_use_settings = fewer
