"""Stories of pods: their contents, and a limit on their memory (F-22)."""

import tracemalloc

import pytest

from core.ids import PodUid
from extender.views.journal import BYTES, LINES, PODS, TEXT, Journal

ALLOWED = 1.1
"""Fraction of the limit that dictionaries and lists reserve for growth."""

LARGE = 400_000
"""Bytes of one block that only a table of all texts has. That of 2,000 stories is smaller."""


def lines(journal: Journal, uid: str) -> list[tuple[str, str, int]]:
    return [(line.what, line.detail, line.times) for line in journal.story(PodUid(uid))]


def test_a_line_that_comes_again_is_counted() -> None:
    journal = Journal()
    for now in (1.0, 2.0, 3.0):
        journal.note(PodUid("a"), "filter: WaitingForTurn", "of root.a", now=now)
    journal.note(PodUid("a"), "gone", now=4.0)
    assert lines(journal, "a") == [("filter: WaitingForTurn", "of root.a", 3), ("gone", "", 1)]
    assert journal.story(PodUid("a"))[0].at == 3.0


def test_a_story_keeps_its_last_lines() -> None:
    journal = Journal()
    for at in range(LINES + 2):
        journal.note(PodUid("a"), f"line {at}", now=at)
    assert [what for what, _, _ in lines(journal, "a")] == [f"line {at}" for at in range(2, LINES + 2)]


def test_of_too_many_pods_those_not_heard_of_for_longest_are_forgotten() -> None:
    journal = Journal(pods=2)
    for name in ("a", "b", "a", "c"):
        journal.note(PodUid(name), f"{name} is seen", now=1.0)
    assert [bool(lines(journal, name)) for name in "abc"] == [True, False, True]


def test_a_long_text_is_cut() -> None:
    journal = Journal()
    journal.note(PodUid("a"), "w" * 5_000, "d" * 5_000, now=1.0)
    assert lines(journal, "a") == [("w" * TEXT, "d" * TEXT, 1)]


@pytest.mark.parametrize("text", ["d" * 200, "d" * TEXT, "\N{CIRCLED DIGIT ONE}" * TEXT])
def test_stories_take_no_more_than_the_limit(text: str) -> None:
    """The story that is being written stays, whatever the limit."""
    limit = 20_000
    journal = Journal(limit=limit)
    for at in range(200):
        journal.note(PodUid(f"p{at // 5}"), "filter: QuotaExceeded", f"{at} {text}", now=at)
        assert journal.bytes <= limit or len(journal) == 1
        assert lines(journal, f"p{at // 5}")
    for name in [f"p{at}" for at in range(40)]:
        assert all(line.detail for line in journal.story(PodUid(name)))


def _tell(journal: Journal, start: int, pods: int, lines: int) -> None:
    for pod in range(start, start + pods):
        for at in range(lines):
            journal.note(PodUid(f"uid-{pod:036}"), "filter: QuotaExceeded", f"{pod} {at} max vcore=2", now=at)


def _memory() -> int:
    """Traced memory without the interpreter's table of shared texts, which may be replaced at any time."""
    return sum(trace.size for trace in tracemalloc.take_snapshot().traces if trace.size < LARGE)


@pytest.mark.parametrize(("pods", "lines"), [(2_000, LINES), (6_000, 4)], ids=["many lines", "few lines"])
def test_the_memory_that_is_counted_is_what_is_used(pods: int, lines: int) -> None:
    """A tenth of the remembered pods, with a tenth of the limit. A second round adds nothing."""
    journal = Journal(pods=PODS // 10, limit=BYTES // 10)
    tracemalloc.start()
    try:
        _tell(journal, 0, pods, lines)
        first = _memory()
        _tell(journal, pods, pods, lines)
        second = _memory()
    finally:
        tracemalloc.stop()
    assert first <= ALLOWED * BYTES / 10
    assert second <= 1.02 * first
    assert first <= ALLOWED * journal.bytes + 600_000, "the texts that are shared come on top"
