"""Fixtures of all tests: each ledger that a test has touched must pass the audit when the test ends.

The rules of the specification that passing tests have shown are counted, too.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from core.ledger.ledger import Ledger
from tests.builders import drifts
from tests.rules import SHOWN, Shown

TESTS = Path(__file__).parent

# Both would fail a test because the machine is slow.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "corrupts_ledger: breaks a ledger on purpose, so that it is not audited when the test ends"
    )
    config.stash[SHOWN] = Shown()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The count of rules comes last, and only where everything that counts has been collected."""
    counting = [item for item in items if item.path.name == "test_every_rule.py"]
    others = [item for item in items if item.path.name != "test_every_rule.py"]
    narrowed = any(config.getoption(name, default=None) for name in ("keyword", "markexpr", "lf", "deselect"))
    whole = any(Path(arg).resolve() in (TESTS, TESTS.parent) for arg in config.args) and not narrowed
    items[:] = [*others, *counting] if whole else others
    if counting and not whole:
        config.hook.pytest_deselected(items=counting)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call" and report.passed:
        item.config.stash[SHOWN].note(item)
    return report


@pytest.fixture(autouse=True)
def audited_ledgers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Ledger]]:
    """Every ledger made during the test, wherever it was made."""
    made: list[Ledger] = []
    plain = Ledger.__init__

    def registered(ledger: Ledger) -> None:
        plain(ledger)
        made.append(ledger)

    monkeypatch.setattr(Ledger, "__init__", registered)
    yield made
    if request.node.get_closest_marker("corrupts_ledger") is None:
        found = [drift for ledger in made for drift in drifts(ledger)]
        assert not found, f"the audit found {len(found)} differences: {found[:5]}"
