"""Regular expressions that cannot hang: what they match, their bounds, how much work they are, who uses them.

What Go makes of the same patterns is in `test_pattern_in_go`.
"""

import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.queues.pattern import PatternError, compiled
from core.queues.placement.filters import passes
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
    ("pattern", "says"),
    [
        ("x" * 5001, "longer than 5000"),
        ("a{1000}" * 11, "too large"),
        ("(?:a{1000}){1}" * 11, "too large"),
        ("|a{1000}" * 10, "too large"),
        ("(?:" + "ab" * 51 + "){100}", "too large"),
        ("(?:" + "a" * 20 + "){0,500}", "too large"),
        (r"\p{Greek}+", "Greek is no general category of Unicode; scripts are not supported"),
        ("a\udc00", "half of a surrogate pair"),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_bounds_that_go_does_not_have(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=says):
        compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("x" * 5000, "x" * 50, False),
        ("|" * 5000, "", True),
        ("a*" * 2499 + "b", "ab", True),
        ("a|" * 2499 + "b", "b", True),
        ("(?:" * 1249 + "a" + ")" * 1249, "a", True),
        ("a{1000}" * 10, "a" * 50, False),
        ("^" + "(?:a?){1000}" * 4 + "(?:a?){999}$", "a" * 50, True),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_up_to_the_bounds_a_pattern_is_taken(pattern: str, text: str, found: bool) -> None:
    """Without braces the length is the only bound.

    `extender.queueconfig.rules.placement_rules` counts on that.
    """
    assert compiled(pattern).search(text) is found


def test_few_patterns_are_held() -> None:
    assert 0 < (compiled.cache_info().maxsize or 0) <= 128


_pieces = st.sampled_from(
    [*"()[]{}|*+?^$\\.,:-<>=!aPpQExbdis0129²é\n", "(?", "[[:", ":]", "{1,", r"\p{", r"\x{", "(?P<"]
)
_patterns = st.one_of(st.text(max_size=20), st.lists(_pieces, max_size=20).map("".join))


@pytest.mark.rule("CFG-30", "PL-5")
@given(_patterns, st.text(max_size=5))
def test_no_text_raises_anything_else(pattern: str, name: str) -> None:
    with suppress(PatternError):
        compiled(pattern).search(name)
    for spec in (FilterSpec(users=(pattern,)), FilterSpec(groups=(pattern,))):
        assert passes(spec, name, (name,)) is not passes(replace(spec, allow=False), name, (name,))


@pytest.mark.parametrize("digits", ["9" * 4999, "1," + "9" * 4500, "9" * 9, "1,100000000"], ids=len)
def test_numbers_beyond_any_bound_are_refused(digits: str) -> None:
    with pytest.raises(PatternError):
        compiled(f"a{{{digits}}}")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)(.*)(.*)(.*)x$", r"(\b|a|)+x$"])
def test_work_grows_with_the_text_and_no_faster(pattern: str) -> None:
    work = []
    for length in (100, 200, 400):
        found = compiled(pattern)
        assert not found.search("a" * length + "!")
        work.append(found.steps)
    assert work[2] < 4.2 * work[0]
    assert work[0] < 5_000


def test_work_is_at_most_the_states_for_every_place() -> None:
    pattern = compiled("(?:a?){1000}" * 4 + "b")
    assert not pattern.search("a" * 30)
    assert pattern.steps <= 8_001 * 31


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
        (FilterSpec(users=(r"^\pL+\b",)), "alice-1", (), True),
        (FilterSpec(users=("alice{1,²}",)), "alice{1,²}", (), True),
        (FilterSpec(users=("alice(",)), "alice(", (), False),
        (FilterSpec(allow=False, users=("alice(",)), "alice(", (), True),
        (FilterSpec(groups=(r"^dev\Z",)), "x", ("dev", "devZ"), False),
    ],
)
def test_filters(spec: FilterSpec, user: str, groups: tuple[str, ...], passed: bool) -> None:
    assert passes(spec, user, groups) is passed
