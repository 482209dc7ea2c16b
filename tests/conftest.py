"""Fixtures of all tests: each ledger that a test has touched must pass the audit when the test ends.

The rules of the specification that passing tests have shown are counted, too.

With the core of `make compiled` only scenarios and properties run, the latter with a tenth of their examples.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from core.ledger.ledger import Ledger
from e2e.programs.compiled import ENVIRONMENT, beside_sources, is_compiled
from extender.engine.engine import Engine
from extender.simulator import paddock
from tests import builders, compiled_core
from tests.builders import drifts
from tests.rules import SHOWN, Shown

TESTS = Path(__file__).parent

# Both would fail a test because the machine is slow.
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    if found := beside_sources():
        raise pytest.UsageError(
            f"this shared object would be tested instead of its source, remove it: {found[0]}"
        )
    if Path(sys.prefix) == ENVIRONMENT and not is_compiled():
        raise pytest.UsageError(
            "the sources come before the compiled core and would be tested instead: add --import-mode=append"
        )
    config.addinivalue_line(
        "markers", "corrupts_ledger: breaks a ledger on purpose, so that it is not audited when the test ends"
    )
    config.addinivalue_line(
        "markers", f"{compiled_core.MARKER}: not run on a compiled core: replaces a part of it, or counts"
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
    if is_compiled():
        compiled_core.select(config, items)


def pytest_report_header() -> str:
    return f"core: {'compiled' if is_compiled() else 'interpreted'}"


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
    """Every ledger made during the test, wherever it was made.

    A compiled class cannot be changed. Then ledgers of `builders` and of simulations are noted.
    """
    made: list[Ledger] = []
    plain = Ledger.__init__

    def registered(ledger: Ledger) -> None:
        plain(ledger)
        made.append(ledger)

    def new() -> Ledger:
        made.append(Ledger())
        return made[-1]

    if is_compiled():
        monkeypatch.setattr(builders, "Ledger", new)
        monkeypatch.setattr(paddock, "Engine", lambda outward: Engine(outward, new()))
    else:
        monkeypatch.setattr(Ledger, "__init__", registered)
    yield made
    if request.node.get_closest_marker("corrupts_ledger") is None:
        found = [drift for ledger in made for drift in drifts(ledger)]
        assert not found, f"the audit found {len(found)} differences: {found[:5]}"
