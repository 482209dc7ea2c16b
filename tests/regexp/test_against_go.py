"""Random patterns, all sets of characters and all case folds are accepted and matched as by Go's regexp.

Go's answers come from the record, and from Go itself if the same release is installed.
"""

from collections.abc import Iterator

import pytest
import re2

from extender.queueconfig.patterns import PatternError, name_pattern, translated
from tests.regexp.corpus import COUNT, Case, digest, random_cases
from tests.regexp.go import REFUSED, Answers, asked, characters_of, digest_of, recorded, release

ALL = characters_of((0, 0x10FFFF))
NEWER = characters_of((0x2FFC, 0x2FFF, 0x31EF, 0x31EF, 0x2EBF0, 0x2EE5D))
"""The characters of Unicode 15.1 that 15.0 has not: five symbols and 622 ideographs."""
NEWER_IN = frozenset({"Assigned", "C", "Cn", "Common", "Han", "L", "Lo", "S", "So"})
"""Sets that have some of them, or have lost them."""
DIFFERENCES = {
    "cannot stand in a class": 20,
    "too large when its repetitions and categories are written out": 5,
}
"""Reasons why RE2 refuses random patterns that Go accepts, with their numbers."""


@pytest.fixture(scope="module")
def go() -> Answers:
    return asked() if release() == recorded().release else recorded()


def test_the_record_is_of_this_corpus_and_of_this_go(go: Answers) -> None:
    """`python -m tests.regexp.go` writes it anew."""
    assert recorded().cases == digest(random_cases())
    assert recorded() == go


@pytest.mark.rule("CFG-30", "PL-5")
def test_random_patterns_are_accepted_and_matched_as_by_go(go: Answers) -> None:
    reasons: dict[str, int] = dict.fromkeys(DIFFERENCES, 0)
    wrong = []
    assert len(go.verdicts) == COUNT
    for case, verdict in zip(random_cases(), go.verdicts, strict=True):
        ours, why = verdict_of(case)
        reason = next((reason for reason in DIFFERENCES if why.endswith(reason)), None)
        if ours != verdict and reason and verdict != REFUSED:
            reasons[reason] += 1
        elif ours != verdict:
            wrong.append((case, verdict, ours, why))
    assert not wrong
    assert reasons == DIFFERENCES


def verdict_of(case: Case) -> tuple[str, str]:
    """The verdict as Go writes it, and the reason of a refusal."""
    try:
        matches = name_pattern(case.pattern)
    except PatternError as error:
        return REFUSED, str(error)
    return "".join(str(int(matches(text))) for text in case.texts), ""


def test_random_patterns_are_of_all_kinds() -> None:
    """The cases are neither all refused nor all equal, so a difference would be visible."""
    refused = sum(verdict == REFUSED for verdict in recorded().verdicts)
    decisive = sum("0" in verdict and "1" in verdict for verdict in recorded().verdicts)
    assert COUNT / 4 < refused < COUNT / 2
    assert decisive > COUNT / 8


@pytest.mark.rule("CFG-30")
def test_categories_and_scripts_hold_what_they_hold_in_go(go: Answers) -> None:
    assert {name for name, (taken, _) in go.sets.items() if not taken} == set(with_underscore(go))
    wrong = [name for name, (_, expected) in go.sets.items() if digest_of(without_newer(name)) != expected]
    assert wrong == ["SignWriting"]


def with_underscore(go: Answers) -> Iterator[str]:
    """Scripts that Go does not find since 1.25, as it drops the underscore of the name."""
    return (name for name in go.sets if "_" in name or name == "SignWriting")


def without_newer(name: str) -> str:
    """The characters of a category or script, as they were in Unicode 15.0."""
    try:
        found = matched(rf"\p{{{name}}}")
    except PatternError:
        return ""
    if name in ("C", "Cn"):
        return "".join({*found, *NEWER})
    return "".join(set(found).difference(NEWER)) if name in NEWER_IN else found


def matched(pattern: str) -> str:
    """All characters that a pattern of one character matches, read by RE2 at once."""
    return among(f"(?:{translated(name_pattern(pattern).text)})+", ALL)


def among(pattern: str, characters: str) -> str:
    return b"".join(re2.findall(pattern.encode(), characters.encode())).decode()


@pytest.mark.rule("CFG-30")
def test_case_makes_no_difference_where_it_makes_none_in_go(go: Answers) -> None:
    cased = "".join(go.folds)
    assert [same for same in go.folds if "".join(sorted(among(f"(?i:{same[0]})", cased))) != same] == []
    assert set(among(f"(?i:[{cased}])", ALL)) == set(cased)
