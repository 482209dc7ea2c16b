"""Handwritten patterns with the results of Go's regexp (1.26), which Paddock's must equal."""

import re

import pytest

from extender.queueconfig.patterns import PatternError, name_pattern
from tests.regexp.corpus import Case
from tests.regexp.go import REFUSED as NOT_TAKEN
from tests.regexp.go import recorded, release, verdicts_of

# pattern, texts that match, texts that do not
MATCHED: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("dev*", ("made", "xde"), ("d",)),
    ("dev.*", ("my-dev",), ("de",)),
    ("^dev$", ("dev",), ("dev\n", "mydev")),
    ("", ("", "a"), ()),
    ("a|b|", ("", "q"), ()),
    (r"\bdev", ("dev", "my-dev"), ("mydev",)),
    (r"dev\b", ("dev-1", "devé"), ("dev1",)),
    (r"\B", ("", "ab"), ("a",)),
    (r"^\B-", ("-a",), ("a-",)),
    (r"^\pL+$", ("é", "中ǅ"), ("a1",)),
    (r"[\pL]", ("ж",), ("1",)),
    (r"\p{Lu}", ("É",), ("é",)),
    (r"\p{^Lu}", ("é",), ("É",)),
    (r"\P{^Lu}", ("É",), ("é",)),
    (r"\pN", ("٣²",), ("x",)),
    (r"[^\PL\d]", ("é",), ("1",)),
    (r"\p{uppercase_letter}", ("A",), ("a",)),
    (r"\p{ l-U }", ("A",), ("a",)),
    (r"\pl", ("A",), ("1",)),
    (r"\p{Any}", ("\x00",), ("",)),
    (r"\p{Assigned}", ("a",), ("\u0378",)),
    (r"\p{ASCII}", ("a",), ("é",)),
    (r"(?i)\p{Lu}", ("é",), ("1",)),
    (r"(?i)\P{Lu}", ("1",), ("é",)),
    ("[[:alpha:]]+$", ("a1a",), ("é", "1")),
    ("[[:^digit:]]+", ("a",), ("1",)),
    ("[[:word:]-]", ("-",), ("+",)),
    ("[^[:^alpha:]]", ("a",), ("1",)),
    ("[[:a]", ("[", ":"), ("b",)),
    ("[[.a.]]", ("a]",), ("a",)),
    (r"\Qa.b\E$", ("xa.b",), ("axb",)),
    (r"\Q(a|b", ("(a|b",), ("a",)),
    (r"a\Qbc\E*$", ("ab", "abcc"), ("abcbc", "a")),
    (r"\Q\E", ("",), ()),
    (r"a\Q\E+$", ("aa",), ("b",)),
    ("(?m)^a$", ("b\na\nc",), ("ba",)),
    ("^a$", ("a",), ("b\na",)),
    ("(?m)$\nb", ("a\nb",), ("ab",)),
    ("a$", ("a",), ("a\n",)),
    (r"(?m)a\z", ("b\na",), ("a\nb",)),
    (r"(?m)\Ab", ("b",), ("a\nb",)),
    ("a.b", ("a\rb",), ("a\nb",)),
    ("(?s)a.b", ("a\nb",), ("ab",)),
    ("(?s-s)a.b", (), ("a\nb",)),
    ("[^a]", ("\n",), ("a",)),
    ("(?U)a+", ("a",), ("",)),
    ("(?-i)a$", ("a",), ("A",)),
    ("(?i-s:a)", ("A",), ("b",)),
    ("(?ims)a", ("A",), ()),
    ("(?ii)a", ("A",), ()),
    ("(?i-i)a", ("a",), ("A",)),
    ("(?)a", ("a",), ()),
    ("(?i:a)b", ("Ab",), ("AB",)),
    ("((?i)a)b", ("Ab",), ("AB",)),
    ("a(?i)b|c", ("aB", "C"), ("AB",)),
    ("(?i)a(?-i:b)", ("Ab",), ("AB",)),
    ("(?i)Admin.*", ("ADMINx",), ("admi",)),
    (r"\x41+", ("AA",), ("x41",)),
    (r"\x{41}+", ("A",), ("{",)),
    (r"[\x41]", ("A",), ("x",)),
    (r"\x{10ffff}", ("\U0010ffff",), ("a",)),
    (r"\0$", ("a\x00",), ("0",)),
    (r"\012$", ("\n",), ("2",)),
    (r"\11", ("\t",), ("1",)),
    (r"\0777", ("?7",), ("ǿ",)),
    (r"\777", ("ǿ",), ("?7",)),
    (r"\08", ("\x008",), ("8",)),
    (r"[\101-\103]", ("B",), ("1",)),
    (r"\_\.\-", ("_.-",), ("_x-",)),
    (r"\a\f\n\r\t\v", ("\x07\x0c\n\r\t\x0b",), ("afnrtv",)),
    ("\\\n", ("\n",), ()),
    (r"[\n-\r]", ("\n", "\x0b"), ("r", "n")),
    ("[]]", ("]",), ("a",)),
    ("[]a]", ("]", "a"), ("b",)),
    ("[^]]", ("a",), ("]",)),
    ("[a-]", ("-",), ("b",)),
    ("[-a]", ("-",), ()),
    ("[+--]", (",",), (".",)),
    (r"[\d-z]", ("5", "-", "z"), ("y",)),
    ("[a-b-d]", ("-", "d"), ("c",)),
    (r"[^\x00-\x{10FFFF}]", (), ("a", "")),
    ("[^^]", ("a",), ("^",)),
    ("a{2}", ("aa",), ("a",)),
    ("^a{2,3}$", ("aaa",), ("aaaa",)),
    ("^a{2,}$", ("aaaa",), ("a",)),
    ("a{0}b", ("b",), ("a",)),
    ("x{,3}", ("x{,3}",), ("xxx",)),
    ("a{01}", ("a{01}",), ("a",)),
    ("a{1,02}", ("a{1,02}",), ("a",)),
    ("a{1,²}", ("a{1,²}",), ("a",)),
    ("a{\u0661}", ("a{\u0661}",), ("a",)),
    ("{", ("{",), ()),
    ("a{", ("a{",), ("a",)),
    ("{}", ("{}",), ()),
    ("a{ 1}", ("a{ 1}",), ("a",)),
    ("{a}*", ("{a",), ("{b",)),
    ("^*a", ("ba",), ()),
    (r"\b+a", ("a",), ()),
    ("$?a", ("a",), ()),
    ("(|a)*b", ("aab",), ()),
    ("()*", ("",), ()),
    ("a(?i)*$", ("aa", "A"), ()),
    ("^a*(?i)*$", ("aaa",), ("b",)),
    ("a{0}{x", ("{x",), ()),
    ("(?P<name>x)+?", ("x",), ("y",)),
    ("(?<name>x)", ("x",), ()),
    ("(?P<1>x)", ("x",), ()),
    ("(?i)k", ("K", "\u212a"), ("x",)),
    (r"(?i)\x{212a}", ("k",), ()),
    ("(?i)[^k]", ("a",), ("\u212a",)),
    (r"(?i)\w", ("\u017f",), ("é",)),
    (r"(?i)\W", ("é",), ("\u017f",)),
    ("(?i)straße", ("STRAẞE",), ("STRASSE",)),
    ("(?i)σ", ("ς", "Σ"), ()),
    ("(?i)i", ("I",), ("\u0131", "İ")),
    ("(?i)[à-ï]", ("É",), ("ñ",)),
    ("(?i)^[θ]+$", ("Θ\u03d1\u03f4",), ("t",)),
    ("(?i)т", ("\u1c84", "\u1c85"), ("t",)),
    ("(?i)\\x{b5}", ("μ", "Μ"), ("u",)),
    ("(?i)\u0131", ("\u0131",), ("i", "I")),
    ("(a{1000}){1}", (), ("a",)),
    ("(a{1000}){0}{x", ("{x",), ()),
    (r"\p{Greek}+", ("α", "aΩ"), ("a", "ж")),
    (r"\P{^greek}", ("α",), ("a",)),
    (r"\pC", ("\x00", "\u0378", "\ue000"), ("a", "é", " ")),
    (r"^\PC+$", ("aé 1",), ("a\u0378",)),
    (r"\p{Cn}", ("\u0378",), ("\x00", "a")),
    (r"[\P{Cn}]", ("a", "\x00"), ("\u0378",)),
    (r"[\p{ASCII}\pZ]", ("a", "\u2003"), ("é",)),
    (r"(?i)\p{ASCII}", ("k", "\u212a"), ("é",)),
    (r"(?i)[\P{ASCII}]", ("é",), ("k", "\u212a")),
    (r"[\p{LC}]", ("a", "É"), ("中", "1")),
    (r"\P{LC}", ("中", "1", "\u0378"), ("a", "É")),
    (r"a|\B", ("ab", "", "Жж"), ("bЖ1", "1Ж_中b")),
    (r"(?i:x)|\B\Qb)", ("X", "ab)"), ("b)",)),
    (r"\Qa)\B", (r"a)\B",), ("a)",)),
    ("[(?P<é>]", ("é",), ("a",)),
    ("[{99999999999}]", ("9",), ("a",)),
    ("a{1,99999999999,}", ("a{1,99999999999,}",), ("a",)),
    ("a{099999999999}", ("a{099999999999}",), ("a",)),
    (r"\Q{99999999999}\C", (r"{99999999999}\C",), ("a",)),
    ("x\ufffdy", ("x\ufffdy",), ("xy",)),
]

REFUSED = [
    "(", ")", "a)", "(a", "[", "[]", "[^]", "[a", "[a-", "[b-a]", "\\", "a\\", "a**", "a*+", "a+*",
    "a???", "a*{2}", "a{2}{3}", "a{2}??", "*", "*a", "+", "?", "a|*", "(*a)", "(?i:*)", "(?i)*",
    "a|(?i)*", r"(\Q\E*)", "{2}", "a|{2}", "({2})", "a{1001}", "a{2,1}", "a{1,1001}", "a{99999999999}",
    "{1001}", "(a{100}){11}", "((a{10}){10}){11}", "(a{501}){2,}", "(?:a{2}){501}", r"a\Z", r"(a)\1",
    r"\8", r"\18", r"\q", r"\e", r"\C", r"\G", r"\X", r"\E", r"\–$", r"\é", r"\x", r"\x4", r"\xg1",
    r"\x{}", r"\x{110000}", r"\x{41", r"\x{4 1}", "(?P<a b>x)", "(?P<>x)", "(?P‹é>x)+", "(?P<é>x)",
    "(?P<a", "(?<a", "(?P=a)", "(?<=a)", "(?<!a)", "(?=a)", "(?!a)", "(?>a)", "(?#a)", "(?x)a", "(?i",
    "(?", "(?-)", "(?i-)", "(?--i)", "(?-i-s)a", "(?i a)", r"[a-\d]", r"[\b]", r"[\Q]", r"[a-\pL]",
    r"[\8]", "[[:foo:]]", "[[:Alpha:]]", "[[:a]b:]]", r"\p", r"\p{", r"\p{}", r"\p{Lx}", r"\p{^}",
    r"\p{^^L}", r"\pé", r"[\p{L]",
]  # fmt: skip


@pytest.mark.rule("PL-5", "CFG-30")
@pytest.mark.parametrize(("pattern", "found", "missed"), MATCHED, ids=[repr(row[0]) for row in MATCHED])
def test_it_matches_as_in_go(pattern: str, found: tuple[str, ...], missed: tuple[str, ...]) -> None:
    matches = name_pattern(pattern)
    assert [text for text in found + missed if matches(text)] == list(found)


@pytest.mark.rule("CFG-30")
@pytest.mark.parametrize("pattern", REFUSED, ids=repr)
def test_it_refuses_what_go_refuses(pattern: str) -> None:
    with pytest.raises(PatternError):
        name_pattern(pattern)


@pytest.mark.rule("CFG-30")
@pytest.mark.parametrize("pattern", ["(?:b" * 900 + "a" + ")" * 900, "(?:" * 1000 + "a" + ")" * 1000])
def test_parentheses_alone_are_no_level(pattern: str) -> None:
    assert name_pattern(pattern)("b" * 900 + "a")
    assert not name_pattern(pattern)("b" * 900)


@pytest.mark.rule("CFG-30")
@pytest.mark.parametrize(
    ("pattern", "copies"),
    [("a{1000}", 1000), ("(a{10}){100}", 1000), ("((a{10}){10}){10}", 1000), ("(a{500}){2,}", 1000)],
)
def test_a_thousand_copies_are_as_many_as_written(pattern: str, copies: int) -> None:
    assert name_pattern(pattern)("a" * copies)
    assert not name_pattern(pattern)("a" * (copies - 1))


def test_go_itself_says_all_that() -> None:
    """Without this release of Go, the rows replace it. Paddock is compared with them above."""
    rows = [
        (Case(pattern, found + missed), "1" * len(found) + "0" * len(missed))
        for pattern, found, missed in MATCHED
    ]
    rows += [(Case(pattern, ()), NOT_TAKEN) for pattern in REFUSED]
    rows += [(case, verdict) for case, verdict in GO_ALONE]
    said = (
        verdicts_of([case for case, _ in rows])
        if release() == recorded().release
        else [row[1] for row in rows]
    )
    assert [(case, found) for (case, _), found in zip(rows, said, strict=True)] == rows


DEEP = "(" * 1000 + "a" + ")" * 1000
GO_ALONE = [
    (Case("((a{1000}){0}){1000}", ("",)), "1"),
    (Case(r"[\pC]", ("\x00",)), "1"),
    (Case(r"[\p{Cn}]", ("\u0378",)), "1"),
    (Case(r"[^\P{LC}]", ("a",)), "1"),
    (Case(r"[\P{Assigned}]", ("\u0378",)), "1"),
    (Case(r"\pL{500}", ("a",)), "0"),
    (Case("x" * 5001, ("a",)), "0"),
    (Case(DEEP, ()), NOT_TAKEN),
    (Case("(" * 999 + "a" + ")" * 999, ("a",)), "1"),
    (Case(r"\p{Old_Italic}", ()), NOT_TAKEN),
]
"""The differences of the table in `extender.queueconfig.patterns`, as Go sees them."""


@pytest.mark.rule("CFG-30")
@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("((a{1000}){0}){1000}", "a repetition is of 0 to 1000 times"),
        (r"[\pC]", r"\pC cannot stand in a class"),
        (r"[\p{Cn}]", r"\p{Cn} cannot stand in a class"),
        (r"[^\P{LC}]", r"\P{LC} cannot stand in a class"),
        (r"[\P{Assigned}]", r"\P{Assigned} cannot stand in a class"),
        (r"\pL{500}", "too large when its repetitions and categories are written out"),
        ("x" * 5001, "longer than 5000 characters"),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_what_go_alone_takes(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=re.escape(says)):
        name_pattern(pattern)


@pytest.mark.rule("CFG-30")
@pytest.mark.parametrize(
    ("pattern", "name"), [(DEEP, "a"), (r"^\p{Old_Italic}$", "\U00010300")], ids=["deep", "script"]
)
def test_what_go_alone_refuses(pattern: str, name: str) -> None:
    assert name_pattern(pattern)(name)
    assert not name_pattern(pattern)("b")
