r"""Sets of characters in regular expressions: ``\d``, ``[:alpha:]``, ``\p{Lu}``, and what they hold.

They are those of Go's regexp: Perl's classes, those of POSIX and the general categories of Unicode, which are
as new as the interpreter. The standard library has no scripts, so ``\p{Greek}`` is unknown. Source: CFG-30.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

HIGHEST = 0x10FFFF
"""The last code point."""


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters within the edges or in a general category that begins like one of those.

    ``edges``: in order, the first character of a range and the first one behind it, and so on. A text of them
    takes a tenth of the memory of pairs. ``negated``: all others.
    """

    edges: str = ""
    categories: tuple[str, ...] = ()
    negated: bool = False

    def inverted(self) -> "Characters":
        return replace(self, negated=not self.negated)

    def hold_one_of(self, signs: str) -> bool:
        found = any(_within(self.edges, sign) for sign in signs) or any(
            unicodedata.category(sign).startswith(self.categories) for sign in signs
        )
        return found != self.negated


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """The characters within the edges and those with a name, or if negated all others.

    ``folded``: upper and lower case are the same, before anything is negated.
    """

    edges: str = ""
    named: tuple[Characters, ...] = ()
    folded: bool = False
    negated: bool = False

    def holds(self, sign: str) -> bool:
        signs = same_but_for_case(sign) if self.folded else sign
        listed = any(_within(self.edges, each) for each in signs)
        return (listed or any(part.hold_one_of(signs) for part in self.named)) != self.negated


def edges_of(ranges: Iterable[tuple[int, int]]) -> str:
    """Of ranges of code points from the first to the last, in any order."""
    edges: list[int] = []
    for low, high in sorted(ranges):
        if edges and low <= edges[-1]:
            edges[-1] = max(edges[-1], high + 1)
        else:
            edges += (low, high + 1)
    return "".join(chr(edge) for edge in edges if edge <= HIGHEST)


def _within(edges: str, sign: str) -> bool:
    return bisect_right(edges, sign) % 2 == 1


# -- case --------------------------------------------------------------------------------------------------

_ONE_WAY = (
    "\u00b5\u017f\u0345\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f4\u03f5\u1c80\u1c81"
    "\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88\u1e9b\u1e9e\u1fbe\u2126\u212a\u212b"
)
"""Whose case changes into that of another character, which does not change back."""


def _changed(sign: str) -> set[str]:
    """Without those that become several characters; the dotless i is a letter of its own."""
    if sign == "\u0131":
        return set()
    return {other for other in (sign.lower(), sign.upper(), sign.title()) if len(other) == 1}


_CHANGED_BACK = {
    home: {sign for sign in _ONE_WAY if home in _changed(sign)}
    for home in set().union(*map(_changed, _ONE_WAY))
}


@lru_cache(maxsize=1024)
def same_but_for_case(sign: str) -> str:
    """All that are the same by Unicode's simple case folding, as in Go; to ``k`` also the kelvin sign."""
    found, waiting = {sign}, [sign]
    while waiting:
        other = waiting.pop()
        new = (_changed(other) | _CHANGED_BACK.get(other, set())) - found
        found |= new
        waiting += new
    return "".join(found)


# -- names -------------------------------------------------------------------------------------------------


def _span(*ends: str) -> Characters:
    """``"az"`` is a to z, ``"_"`` only itself."""
    return Characters(edges_of((ord(end[0]), ord(end[-1])) for end in ends))


PERL = {"d": _span("09"), "s": _span("\t\n", "\f\r", " "), "w": _span("09", "AZ", "_", "az")}
PERL |= {name.upper(): found.inverted() for name, found in PERL.items()}
"""By the letter after a backslash."""
POSIX = {
    "alnum": _span("09", "AZ", "az"),
    "alpha": _span("AZ", "az"),
    "ascii": _span("\0\x7f"),
    "blank": _span("\t", " "),
    "cntrl": _span("\0\x1f", "\x7f"),
    "digit": _span("09"),
    "graph": _span("!~"),
    "lower": _span("az"),
    "print": _span(" ~"),
    "punct": _span("!/", ":@", "[`", "{~"),
    "space": _span("\t\r", " "),
    "upper": _span("AZ"),
    "word": PERL["w"],
    "xdigit": _span("09", "AF", "af"),
}
"""By the name between ``[:`` and ``:]``."""
_CATEGORIES = """
    C Other, Cc Control cntrl, Cf Format, Cn Unassigned, Co PrivateUse, Cs Surrogate,
    L Letter, Ll LowercaseLetter, Lm ModifierLetter, Lo OtherLetter, Lt TitlecaseLetter, Lu UppercaseLetter,
    M Mark CombiningMark, Mc SpacingMark, Me EnclosingMark, Mn NonspacingMark,
    N Number, Nd DecimalNumber digit, Nl LetterNumber, No OtherNumber,
    P Punctuation punct, Pc ConnectorPunctuation, Pd DashPunctuation, Pe ClosePunctuation,
    Pf FinalPunctuation, Pi InitialPunctuation, Po OtherPunctuation, Ps OpenPunctuation,
    S Symbol, Sc CurrencySymbol, Sk ModifierSymbol, Sm MathSymbol, So OtherSymbol,
    Z Separator, Zl LineSeparator, Zp ParagraphSeparator, Zs SpaceSeparator
"""
_CASED = Characters(categories=("Lu", "Ll", "Lt"))
_UNICODE = {
    "any": Characters("\0"),
    "ascii": POSIX["ascii"],
    "assigned": Characters(categories=("Cn",), negated=True),
    "lc": _CASED,
    "casedletter": _CASED,
    **{
        name.lower(): Characters(categories=(names[0],))
        for names in map(str.split, _CATEGORIES.split(","))
        for name in names
    },
}
_NOT_IN_NAMES = str.maketrans("", "", "_- ")


def of_unicode(name: str) -> Characters | None:
    """A general category by its short or long name, or any, ascii, assigned; None for others.

    Case, spaces, hyphens and underscores make no difference, as in Go since 1.25.
    """
    return _UNICODE.get(name.translate(_NOT_IN_NAMES).lower()) if name.isascii() else None
