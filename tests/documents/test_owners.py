"""The page of owners is current, and every field in it has a meaning."""

from dataclasses import replace

from tests.architecture.reading.classes import Index
from tests.architecture.reading.sources import Source, sources
from tests.architecture.tables import tables
from tests.documents.owners import PAGE, current, meaning_of, page, rows

OWNERSHIP = tables().ownership
INDEX = Index(sources(packages=("core",)))


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == current(), "run python -m tests.documents.owners"


def test_every_field_says_what_it_means() -> None:
    assert [row.path for row in rows(OWNERSHIP, INDEX) if not row.meaning] == []


def test_a_new_owner_changes_the_page() -> None:
    changed = replace(OWNERSHIP, owners={**OWNERSHIP.owners, "state.now": "core.ledger.timers"})
    assert page(rows(changed, INDEX)) != page(rows(OWNERSHIP, INDEX))


def test_a_meaning_of_two_lines_is_read_whole_and_a_missing_one_is_empty() -> None:
    text = "class A:\n    #: One,\n    #: two.\n    x: int = 0\n    y: int = 0\n"
    planted = Index([Source("planted", text)])
    found = [meaning_of(f"a.{name}", {"a": "planted.A"}, planted) for name in "xy"]
    assert found == ["One, two.", ""]
