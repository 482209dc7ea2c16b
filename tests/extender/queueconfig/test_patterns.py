"""Regular expressions that cannot hang: matches, bounds, cost and uses.

Go's results for the same patterns are in `tests.regexp`.
"""

import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from core.queues.placement.filters import passes
from extender.queueconfig import patterns
from extender.queueconfig.patterns import MAX_COMPILED, MAX_MEMORY, PatternError, name_pattern
from extender.queueconfig.schema import RuleFilter
from extender.queueconfig.translation import filter_spec


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
    assert name_pattern(pattern)(text) is found


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("x" * 5001, "longer than 5000"),
        (r"\pC" * 300, "longer than 5000"),
        ("a{1000}" * 700, "too large"),
        ("(?:.{1000}){1}" * 90, "too large"),
        ("[^a]{1000}" * 60, "too large"),
        (r"\pL{500}", "too large"),
        (r"\pL" * 500, "too large"),
        ("a\udc00", "half of a surrogate pair"),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_bounds_that_go_does_not_have(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=says):
        name_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("test[test", "ends too early"),
        ("a\\", "ends too early"),
        ("(a", "a ( is not closed"),
        ("a)", "there is no ( for a )"),
        ("a|*", "nothing to repeat before *"),
        ("a**", "repeats a repetition: **"),
        ("a{1001}", "a repetition is of 0 to 1000 times, together with those inside it"),
        ("(a{100}){11}", "a repetition is of 0 to 1000 times, together with those inside it"),
        (r"a\Z", r"\Z has no meaning"),
        (r"\C", r"\C has no meaning"),
        ("[b-a]", "b-a is no range, class, category or script"),
        ("[[:foo:]]", "[:foo:] is no range, class, category or script"),
        (r"\p{Klingon}", r"\p{Klingon} is no range, class, category or script"),
        ("(?=a)", "(?= is not supported"),
        ("(?P<a b>x)", "the name of a group has only letters, digits and _, and is used once"),
        ("(?P<é>x)", "the name of a group has only letters, digits and _, and is used once"),
    ],
)
def test_what_is_said_of_a_mistake(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=f"^{re.escape(says)}$"):
        name_pattern(pattern)


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
        ("a{1000}" * 11, "a" * 11_000, True),
        (r"^[\pL\pN._-]{1,253}$", "é" * 253, True),
        (r"\W" * 1250 + r"[^a]" * 600, "." * 1850, True),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_up_to_the_bounds_a_pattern_is_taken(pattern: str, text: str, found: bool) -> None:
    """Without braces the length is the only bound.

    `extender.queueconfig.rules.placement_rules` counts on that.
    """
    assert name_pattern(pattern)(text) is found


@pytest.mark.parametrize(("beginning", "held"), [("plain", 0), ("{", 1)], ids=["plain", "counted"])
def test_few_patterns_are_held(beginning: str, held: int) -> None:
    """RE2's own cache, which would store another 128, adds none."""
    for number in range(2 * MAX_COMPILED):
        assert name_pattern(f"^{beginning}{number}$")(f"{beginning}{number}")
    caches = (patterns._compiled_plain, patterns._compiled_counted)
    assert [cache.cache_info().maxsize for cache in caches] == [MAX_COMPILED, MAX_COMPILED]
    assert caches[held].cache_info().currsize == MAX_COMPILED <= 128
    assert re2._Regexp._make.cache_info().currsize == 0


_pieces = st.sampled_from(
    [*"()[]{}|*+?^$\\.,:-<>=!aPpQExbdis0129²é\n", "(?", "[[:", ":]", "{1,", r"\p{", r"\x{", "(?P<"]
)
_patterns = st.one_of(st.text(max_size=20), st.lists(_pieces, max_size=20).map("".join))


@pytest.mark.rule("CFG-30", "PL-5")
@given(_patterns, st.text(max_size=5))
def test_no_text_raises_anything_else(pattern: str, name: str) -> None:
    with suppress(PatternError):
        name_pattern(pattern)(name)
    for spec in (filter_spec(RuleFilter(users=[pattern])), filter_spec(RuleFilter(groups=[pattern]))):
        assert passes(spec, name, (name,)) is not passes(replace(spec, allow=False), name, (name,))


@pytest.mark.parametrize("digits", ["9" * 4999, "1," + "9" * 4500, "9" * 9, "1,100000000"], ids=len)
def test_numbers_beyond_any_bound_are_refused(digits: str) -> None:
    with pytest.raises(PatternError):
        name_pattern(f"a{{{digits}}}")


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)(.*)(.*)(.*)x$", r"(\b|a)+x$", r"(a*x)*\Bx"]
)
def test_work_grows_with_the_name_and_no_faster(pattern: str) -> None:
    """More than linear effort would exceed pytest's time-out."""
    assert not name_pattern(pattern)("a" * 4_000_000 + "!")


def test_every_place_of_a_name_is_read_once() -> None:
    r"""An ``\B`` matches inside of characters only: searching on after each would be quadratic."""
    assert not name_pattern(r".*x|\B")("aЖ" * 1_000_000 + "a")


GROWING = """
import re, sys
from pathlib import Path
from extender.queueconfig import patterns


def most_held():
    return 1024 * int(re.search("VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1])


patterns.MAX_MEMORY = int(sys.argv[1])
matches = patterns.name_pattern(sys.argv[2])
number, signs = 1, []
for _ in range(1_000_000):
    number = number * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
    signs.append("ab"[number >> 63])
name = "".join(signs) + "!"
matches("b")
before = most_held()
matches(name)
print(most_held() - before)
"""
MANY_STATES = "a" + "(?:a|b)" * 30 + "c"
"""A pattern with a state for each name of 30 characters that it may have read."""


def grown(max_memory: int) -> int:
    """Bytes by which the process grows when it matches a hostile name."""
    arguments = [sys.executable, "-c", GROWING, str(max_memory), MANY_STATES]
    done = subprocess.run(
        arguments, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    return int(done.stdout)


def test_memory_of_a_hostile_name_is_bounded() -> None:
    """Without the bound the same name takes many times as much. The name itself is 1 MB, twice."""
    assert grown(MAX_MEMORY) < MAX_MEMORY + 4_000_000
    assert grown(32 * MAX_MEMORY) > 4 * MAX_MEMORY


def test_states_that_are_forgotten_make_no_difference() -> None:
    name = "".join("ab"[ord(sign) % 3 % 2] for sign in map(chr, range(200_000)))
    assert not name_pattern(MANY_STATES)(name + "a" + "b" * 29 + "c")
    assert name_pattern(MANY_STATES)(name + "a" + "b" * 30 + "c")


def test_half_of_a_surrogate_pair_in_a_name_is_one_unknown_character() -> None:
    assert name_pattern("^a.b$")("a\ud800b")
    assert name_pattern("^a\ufffdb$")("a\udfffb")
    assert not name_pattern("^ab?$")("a\ud800b")


def test_patterns_of_one_text_are_equal() -> None:
    """A document that is read again must be equal."""
    assert name_pattern("^a$") == name_pattern("^a$") != name_pattern("^b$")
    assert filter_spec(RuleFilter(users=["^a$"])) == filter_spec(RuleFilter(users=["^a$"]))
    assert hash(filter_spec(RuleFilter(users=["^a$"]))) == hash(filter_spec(RuleFilter(users=["^a$"])))


_parts = st.sampled_from(
    ["a", "b", "ab", ".", "[ab]", "[^a]", "a?", "b*", "(a|b)", "(ab)+", "a{1,2}", "^", "$"]
)


@given(st.lists(_parts, max_size=5).map("".join), st.text("abc", max_size=8))
def test_it_agrees_with_the_standard_library(pattern: str, text: str) -> None:
    assert name_pattern(pattern)(text) is bool(re.search(pattern, text))


@pytest.mark.rule("PL-5")
@pytest.mark.parametrize(
    ("section", "user", "groups", "passed"),
    [
        (RuleFilter(), "alice", (), True),
        (RuleFilter(type="deny"), "alice", (), False),
        (RuleFilter(users=["alice"]), "alice", (), True),
        (RuleFilter(users=["alice"]), "alicex", (), False),
        (RuleFilter(users=["ali.*"]), "xalicex", (), True),
        (RuleFilter(users=["^ali.*$"]), "xalice", (), False),
        (RuleFilter(users=["a.*", "bob"]), "alice", (), False),
        (RuleFilter(users=["a.*", "bob"]), "bob", (), True),
        (RuleFilter(groups=["dev*"]), "x", ("made",), True),
        (RuleFilter(groups=["dev"]), "x", ("ops", "dev"), True),
        (RuleFilter(type="deny", users=["alice"]), "alice", (), False),
        (RuleFilter(type="deny", users=["alice"]), "bob", (), True),
        (RuleFilter(users=["not a name"]), "not a name", (), False),
        (RuleFilter(users=[r"^\pL+\b"]), "alice-1", (), True),
        (RuleFilter(users=["alice{1,²}"]), "alice{1,²}", (), True),
        (RuleFilter(users=["alice("]), "alice(", (), False),
        (RuleFilter(type="deny", users=["alice("]), "alice(", (), True),
        (RuleFilter(groups=[r"^dev\Z"]), "x", ("dev", "devZ"), False),
    ],
)
def test_filters(section: RuleFilter, user: str, groups: tuple[str, ...], passed: bool) -> None:
    assert passes(filter_spec(section), user, groups) is passed
