"""Regular expressions that cannot hang: what they accept, what they match, and how much work that is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.queues.filters import passes
from core.queues.pattern import PatternError, compiled
from core.queues.spec import FilterSpec


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("dev*", "xde", True),
        ("^dev$", "dev", True),
        ("^dev$", "devs", False),
        ("dev.*", "my-dev", True),
        ("[a-c]{2,3}x?", "zbcx", True),
        ("^[a-c]{2,3}$", "abca", False),
        ("a|b|", "q", True),
        ("(?i)Admin.*", "ADMINx", True),
        ("(?i:a)b", "Ab", True),
        ("(?i:a)b", "AB", False),
        (r"\d+-\w", "12-a", True),
        (r"\D", "1", False),
        ("[^a]", "a", False),
        ("a{0}b", "b", True),
        ("a{2}", "aa", True),
        ("(?P<name>x)+?", "x", True),
        (r"\.", "x", False),
        ("[]]", "]", True),
        ("[a-]", "-", True),
        ("x{,3}", "x{,3}", True),
        ("^$", "", True),
        (r"\Aab\z", "ab", True),
    ],
)
def test_what_matches(pattern: str, text: str, found: bool) -> None:
    assert compiled(pattern).search(text) is found


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "[", "a**", "*a", "(?=a)", "(?<=a)", r"(a)\1", r"\b", "a{1001}", "(a{100}){100}", "[b-a]",
     "x" * 1001, "(" * 60 + ")" * 60, "(?x)a", r"\q", "[[:alpha:]]", "\\"],
)  # fmt: skip
def test_what_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        compiled(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)(.*)(.*)(.*)x$"])
def test_work_grows_with_the_text_and_no_faster(pattern: str) -> None:
    work = []
    for length in (100, 200, 400):
        found = compiled(pattern)
        assert not found.search("a" * length + "!")
        work.append(found.steps)
    assert work[2] < 4.2 * work[0]
    assert work[0] < 5_000


_parts = st.sampled_from(
    ["a", "b", "ab", ".", "[ab]", "[^a]", "a?", "b*", "(a|b)", "(ab)+", "a{1,2}", "^", "$"]
)


@given(st.lists(_parts, max_size=5).map("".join), st.text("abc", max_size=8))
def test_it_agrees_with_the_standard_library(pattern: str, text: str) -> None:
    assert compiled(pattern).search(text) is bool(re.search(pattern, text))


@pytest.mark.rule("PL-5")
@pytest.mark.parametrize(
    ("spec", "user", "groups", "passed"),
    [
        (FilterSpec(), "alice", (), True),
        (FilterSpec(allow=False), "alice", (), False),
        (FilterSpec(users=("alice",)), "alice", (), True),
        (FilterSpec(users=("alice",)), "alicex", (), False),
        (FilterSpec(users=("ali.*",)), "xalicex", (), True),
        (FilterSpec(users=("^ali.*$",)), "xalice", (), False),
        (FilterSpec(users=("a.*", "bob")), "alice", (), False),
        (FilterSpec(users=("a.*", "bob")), "bob", (), True),
        (FilterSpec(groups=("dev*",)), "x", ("made",), True),
        (FilterSpec(groups=("dev",)), "x", ("ops", "dev"), True),
        (FilterSpec(allow=False, users=("alice",)), "alice", (), False),
        (FilterSpec(allow=False, users=("alice",)), "bob", (), True),
        (FilterSpec(users=("not a name",)), "not a name", (), False),
    ],
)
def test_filters(spec: FilterSpec, user: str, groups: tuple[str, ...], passed: bool) -> None:
    assert passes(spec, user, groups) is passed
