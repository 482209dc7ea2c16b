"""Every cited rule is in the specification exactly once, and the index page lists it."""

from pathlib import Path

import pytest

from tests.documents.rule_ids import (
    INDEX,
    SPECIFICATION,
    Page,
    citations,
    cited_in,
    cites_a_section,
    index,
    page_of,
    pages,
    slug,
    texts,
    times_written,
)
from tests.rules import LAST_NUMBERS, required

CITED = citations()
WRITTEN = times_written(pages())


def missing(cited: dict[str, list[str]]) -> dict[str, list[str]]:
    """Files that cite unknown rules."""
    return {rule: files for rule, files in cited.items() if rule not in WRITTEN}


def test_every_cited_rule_is_written_down() -> None:
    assert missing(CITED) == {}


def test_every_rule_that_needs_a_test_is_written_down() -> None:
    assert [rule for rule in required() if rule not in WRITTEN] == []


def test_no_text_cites_a_section_instead_of_a_rule() -> None:
    assert [path for path, text in texts() if cites_a_section(text)] == []


@pytest.mark.parametrize(
    ("text", "cites"), [("as the design\n" + "section 3 says", True), ("DESIGN-3", False)]
)
def test_a_cited_section_is_found(text: str, *, cites: bool) -> None:
    assert cites_a_section(text) == cites


@pytest.mark.parametrize("chapter", LAST_NUMBERS)
def test_a_chapter_that_is_tested_whole_ends_with_its_last_rule(chapter: str) -> None:
    numbers = [int(rule.removeprefix(f"{chapter}-")) for rule in WRITTEN if rule.startswith(f"{chapter}-")]
    assert max(numbers) == LAST_NUMBERS[chapter]


def test_no_rule_is_written_down_twice() -> None:
    assert [rule for rule, times in WRITTEN.items() if times > 1] == []


def test_anchors_of_a_page_differ() -> None:
    for page in pages():
        assert len({slug(rule) for rule in page.rules}) == len(page.rules), page.name


def test_the_index_is_current() -> None:
    assert (SPECIFICATION / INDEX).read_text() == index(pages()), "run python -m tests.documents.rule_ids"


def test_a_citation_of_no_rule_is_found(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    planted = "QUO-" + "990"
    (tmp_path / "core" / "planted.py").write_text(f'"""Capacity for an ask (QUO-3, {planted})."""')
    assert missing(citations(tmp_path)) == {planted: ["core/planted.py"]}


def test_a_rule_that_is_written_twice_is_found() -> None:
    twice = page_of("planted.md", "# Planted\n\n### QUO-3\nOne.\n\n### QUO-3\nTwo.\n")
    assert times_written([twice]) == {"QUO-3": 2}


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("as (LAW-2), CONTRACT-3.2.", {"LAW-2", "CONTRACT-3.2"}),
        ("UTF-8 and SHA-256", set()),
        ("[a-zA-Z0-9] and x-LAW-2 and LAW-2x", set()),
    ],
)
def test_rule_ids_in_a_text(text: str, rules: set[str]) -> None:
    assert cited_in(text) == rules


def test_a_new_rule_changes_the_index() -> None:
    page = Page("planted.md", "Planted", ("QUO-1",))
    assert index([page]) != index([page._replace(rules=("QUO-1", "QUO-2"))])
