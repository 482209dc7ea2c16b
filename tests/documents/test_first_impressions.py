"""E9: pages that describe the order say what it needs within a burst."""

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["concepts/admission-and-turns.md", "how-to/troubleshoot.md"])
def test_e9_a_page_on_order_says_that_a_burst_needs_gates(page: str) -> None:
    assert "The order within a burst needs" in (DOCS / page).read_text(encoding="utf-8")
