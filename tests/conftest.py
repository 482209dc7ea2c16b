"""What holds for every test: a ledger that a test has touched must pass the audit when the test ends."""

from collections.abc import Iterator

import pytest

from core.ledger.ledger import Ledger
from tests.builders import drifts


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "corrupts_ledger: breaks a ledger on purpose, so that it is not audited when the test ends"
    )


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
