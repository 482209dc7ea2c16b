"""Patterns and texts for the comparison of Go and RE2: random, but equal in every run.

Patterns are written by a small grammar of Go's syntax, mistakes included. Every fourth one is then damaged.
Texts are short, of the characters that the patterns name and of their relatives.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from random import Random

SEED = 16
COUNT = 20_000
TEXTS = 8
"""Texts of each pattern."""

LITERALS = (
    "a", "a", "b", "b", "c", "k", "K", "s", "S", "i", "I", "1", "2", "9", "0", "_", "-", ".", ":", "@", "/",
    " ", "é", "ß", "Σ", "ς", "\u017f", "\u212a", "中", "ж", "\n", "\t", "😀", "\ufffd",
)  # fmt: skip
SPECIAL = (
    "(", ")", "[", "]", "{", "}", "|", "*", "+", "?", "^", "$", "\\", ".", ",", ":", "-", "<", ">", "=", "!",
    "P", "p", "Q", "E", "C", "b", "d", "i", "z", "(?", "(?P<", "[[:", ":]", "{2,", r"\p{", r"\x{", r"\Q",
    r"\E", "(?i)",
)  # fmt: skip
CLASSES = (r"\d", r"\D", r"\s", r"\S", r"\w", r"\W")
ESCAPES = (
    r"\.", r"\*", r"\+", r"\?", r"\(", r"\)", r"\[", r"\]", r"\{", r"\}", r"\|", r"\^", r"\$", r"\\", r"\-",
    r"\_", r"\/", r"\ ", '\\"', r"\'", r"\!", r"\@", r"\#", r"\%", r"\&", r"\,", r"\:", r"\;", r"\<", r"\=",
    r"\>", r"\~", r"\`", r"\a", r"\f", r"\n", r"\r", r"\t", r"\v", r"\x41", r"\x{e9}", r"\x{10ffff}",
    r"\x{110000}", r"\x4", r"\0", r"\07", r"\101", r"\1", r"\8", r"\C", r"\G", r"\X", r"\Z", r"\e", r"\q",
    r"\é", r"\E", r"\K", r"\R", r"\N", r"\h", r"\u0041",
)  # fmt: skip
ASSERTIONS = ("^", "$", r"\A", r"\z", r"\b", r"\B")
NAMES = (
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Co", "Cs",
    "Cn", "LC", "Any", "ASCII", "Assigned", "Greek", "Latin", "Cyrillic", "Han", "Hiragana", "Common",
    "Inherited", "Arabic", "letter", "Uppercase_Letter", "lowercaseletter", "Cased Letter", "decimal-number",
    "punct", "digit", "cntrl", "other", "unassigned", "ascii", "any", "assigned", "lu", "n", "lc", "GREEK",
    "latin", "l_u", "symbol", "Mark", "Lx", "", "Klingon", "IsGreek", "Script=Greek", "XID_Start",
    "White_Space", "^", "^L", "^Greek", "^ASCII", "^^L",
)  # fmt: skip
POSIX = (
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit", "^alpha", "^ascii", "^digit", "Alpha", "foo", "",
)  # fmt: skip
FLAGS = ("i", "m", "s", "U", "i", "im", "is-m", "-i", "i-s", "-", "ii", "x", "u", "n", "", "i-", "P")
COUNTS = (
    "{2}", "{0}", "{1}", "{0,1}", "{1,3}", "{2,}", "{,3}", "{01}", "{3,1}", "{1000}", "{1001}", "{1,1000}",
    "{}", "{ 1}", "{1,²}", "{99}", "{32}", "{999999999}", "{99999999999}", "{1,99999999999}",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A case. ``pattern``: may be invalid."""

    pattern: str
    texts: tuple[str, ...]


class Writer:
    """Random pieces of Go's syntax."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def case(self) -> Case:
        pattern = self._choice(self._random.choice((1, 2, 2, 3)))
        if self._one_in(4):
            pattern = self._damaged(pattern)
        return Case(pattern, tuple(self._text(pattern) for _ in range(TEXTS)))

    def _one_in(self, count: int) -> bool:
        return self._random.randrange(count) == 0

    def _some(self, most: int) -> range:
        return range(self._random.randint(0, most))

    def _choice(self, depth: int) -> str:
        branches = [self._sequence(depth)]
        while self._one_in(4):
            branches.append(self._sequence(depth))
        return "|".join(branches)

    def _sequence(self, depth: int) -> str:
        return "".join(self._repeated(self._item(depth)) for _ in self._some(4))

    def _repeated(self, item: str) -> str:
        if not self._one_in(3):
            return item
        sign = self._random.choice(("*", "+", "?", self._random.choice(COUNTS)))
        return item + sign + self._random.choice(("", "", "", "", "?", "?", "*"))

    def _item(self, depth: int) -> str:
        kind = self._random.randrange(20)
        if kind < 8:
            return self._random.choice(LITERALS)
        if kind < 11 and depth:
            return self._group(depth - 1)
        if kind < 13:
            return self._bracketed()
        if kind < 15:
            return self._random.choice((self._named(), self._random.choice(CLASSES)))
        if kind < 17:
            return self._random.choice(ASSERTIONS)
        return self._random.choice((".", ".", self._random.choice(ESCAPES), self._quoted()))

    def _group(self, depth: int) -> str:
        flags = self._random.choice(FLAGS)
        beginning = self._random.choice(
            (
                "(",
                "(",
                "(?:",
                f"(?{flags}:",
                f"(?{flags})(",
                "(?P<n>",
                "(?<n2>",
                "(?P<é>",
                "(?P<>",
                "(?=",
                "(?<!",
                "(?>",
                "(?#",
            )
        )
        return beginning + self._choice(depth) + ")"

    def _named(self) -> str:
        if self._one_in(3):
            return self._random.choice((r"\p", r"\P")) + self._random.choice("LMNPSZClmxé")
        return self._random.choice((r"\p", r"\P")) + "{" + self._random.choice(NAMES) + "}"

    def _quoted(self) -> str:
        inside = "".join(self._random.choice((*LITERALS, *"*+?([|\\")) for _ in self._some(3))
        return rf"\Q{inside}" + self._random.choice((r"\E", r"\E", ""))

    def _bracketed(self) -> str:
        beginning = self._random.choice(("[", "[", "[^", "[]", "[^]", "[-"))
        return beginning + "".join(self._member() for _ in self._some(4)) + self._random.choice("]]]]]]]-")

    def _member(self) -> str:
        kind = self._random.randrange(10)
        if kind < 4:
            return self._random.choice(LITERALS)
        if kind < 6:
            low, high = self._random.choice(LITERALS), self._random.choice(LITERALS)
            return f"{min(low, high)}-{max(low, high)}" if not self._one_in(8) else f"{low}-{high}"
        if kind < 7:
            return f"[:{self._random.choice(POSIX)}:]"
        if kind < 9:
            return self._random.choice((self._named(), self._random.choice(CLASSES)))
        return self._random.choice((*ESCAPES, r"\b", r"\Q", "(?i)", "[", "{2}", "(?P<é>", "{99999999999}"))

    def _damaged(self, pattern: str) -> str:
        at = self._random.randrange(len(pattern) + 1)
        if self._one_in(2):
            return pattern[:at] + self._random.choice(SPECIAL) + pattern[at:]
        return pattern[:at] + pattern[at + 1 :]

    def _text(self, pattern: str) -> str:
        own = [sign for sign in pattern if sign not in "()[]{}|*+?^$\\"] or ["a"]
        signs = (self._random.choice(self._random.choice((LITERALS, own))) for _ in self._some(6))
        text = "".join(signs)
        return text.swapcase() if self._one_in(4) else text


@cache
def random_cases() -> Sequence[Case]:
    writer = Writer(Random(SEED))
    return tuple(writer.case() for _ in range(COUNT))


def lines_of(cases: Sequence[Case]) -> str:
    """The cases as Go reads them."""
    return "".join(json.dumps(asdict(case)) + "\n" for case in cases)


def digest(cases: Sequence[Case]) -> str:
    return hashlib.sha256(lines_of(cases).encode()).hexdigest()
