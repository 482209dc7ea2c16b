r"""Regular expressions of filters in Go's syntax, matched by RE2 in linear time (PL-5, CFG-30).

RE2 in C++ differs from Go's regexp. Patterns with a different meaning are translated or refused:

| pattern | Go 1.26 | RE2 | here |
|---|---|---|---|
| ``\p{letter}``, ``\p{l-u}``, ``\pl``, ``\p{greek}`` | a category or a script | refused | in RE2's spelling |
| ``\p{Assigned}``, ``\p{ASCII}``, ``\p{LC}``, ``\p{Cn}`` | a set | refused | written out |
| ``\pC`` | with unassigned characters | without them | written out |
| ``\B`` | between characters | also inside of one | between characters |
| ``\C`` | refused | one byte | refused |
| ``(?P<é>x)`` | refused | a group | refused |
| ``a{99999999999}`` | refused | these very characters | refused |

These differences remain:

| pattern | Go 1.26 | here |
|---|---|---|
| ``[\pC]``, ``[\p{Cn}]``, ``[\P{LC}]`` | a set | refused: RE2 cannot express it inside a class |
| ``\p{Old_Italic}``, another script of two words | refused, although Go 1.24 has it | the script |
| ``\pL``, ``\p{Lo}``, ``\p{Han}``, ``\pS``, ``\p{So}``, ``\p{Common}`` | Unicode 15.0 | 627 more, of 15.1 |
| ``((a{1000}){0}){1000}`` | the empty text | refused: too many repetitions in all |
| nested deeper than 1000 levels | refused | taken |
| longer than `LONGEST`, or larger than the bounds of memory when compiled | taken | refused |
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import re2

LONGEST = 5_000
"""Characters of a pattern, before and after translation. Go has no such limit."""

MAX_MEMORY = 4 * 2**20
"""Bytes of a compiled pattern with its cached states. RE2 drops states to stay below the limit."""

MAX_MEMORY_COUNTED = 2 * MAX_MEMORY
"""Bytes of a pattern with counted repetitions, which RE2 expands. Enough for ``[\\pL\\pN]{1,253}``."""

MAX_COMPILED = 64
"""Compiled patterns in the cache, for each of the two kinds."""


class PatternError(ValueError):
    """An invalid regular expression, or one beyond a limit."""


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A regular expression for names."""

    text: str

    def __call__(self, name: str) -> bool:
        """True if a part of the name matches, as in Go's MatchString."""
        return _compiled(self.text).search(_encoded(name)) is not None


def name_pattern(text: str) -> NamePattern:
    """Compile a pattern. Raises `PatternError`."""
    _compiled(text)
    return NamePattern(text)


class _Program(Protocol):
    """A pattern compiled by RE2."""

    def search(self, text: bytes) -> object | None:
        """The first match, or None."""
        ...


def _compiled(text: str) -> _Program:
    return _compiled_counted(text) if "{" in text else _compiled_plain(text)


@lru_cache(maxsize=MAX_COMPILED)
def _compiled_plain(text: str) -> _Program:
    return _compile(text, _options(MAX_MEMORY))


@lru_cache(maxsize=MAX_COMPILED)
def _compiled_counted(text: str) -> _Program:
    """Compile a pattern with counted repetitions, with a cache of its own."""
    # Such a pattern may take 0.2 s to compile, so thousands of others must not displace it.
    return _compile(text, _options(MAX_MEMORY_COUNTED))


def _compile(text: str, options: "re2.Options") -> _Program:
    """Translate and compile a pattern. Raises `PatternError`."""
    pattern = translated(text) if len(text) <= LONGEST else text
    if len(pattern) > LONGEST:
        raise PatternError(f"longer than {LONGEST} characters")
    if _HALVES.search(text):
        raise PatternError("half of a surrogate pair is no character")
    program = _program(pattern, options)
    # RE2 also finds a \B between the bytes of a character, unless the pattern begins by matching characters.
    return _program(rf"\A(?s:.)*?(?:{pattern})", options) if r"\B" in pattern else program


def _program(pattern: str, options: "re2.Options") -> _Program:
    try:
        program: _Program = re2.compile(pattern.encode(), options)
    except re2.error as error:
        raise PatternError(_explained(error)) from None
    finally:
        # The library's own cache would hold up to 128 more.
        re2.purge()
    return program


def _options(max_memory: int) -> "re2.Options":
    options = re2.Options()
    options.max_mem = max_memory
    options.never_capture = True
    options.log_errors = False
    return options


_HALVES = re.compile("[\ud800-\udfff]")


def _encoded(name: str) -> bytes:
    """A name in UTF-8. As in Go's JSON decoder, half of a surrogate pair becomes U+FFFD."""
    try:
        return name.encode()
    except UnicodeEncodeError:
        return _HALVES.sub("\ufffd", name).encode()


# -- from Go's syntax to RE2's -----------------------------------------------------------------------------

_CATEGORY = r"(?P<category>\\[pP](?:\{[^}\\]*\}|[^{]))"
_OUTSIDE = re.compile(
    rf"{_CATEGORY}|(?P<quoted>\\Q.*?(?:\\E|\Z))|(?P<byte>\\C)|\\.|(?P<opens>\[\^?\]?)"
    r"|\(\?P?<(?P<group>[^<>]*)>|\{(?P<counts>[0-9]+(?:,[0-9]*)?)\}|[^\\[({]+|.",
    re.DOTALL,
)
_INSIDE = re.compile(rf"{_CATEGORY}|\\.|\[:\^?[a-z]+:\]|(?P<closes>\])|[^]\\[]+|.", re.DOTALL)
"""Parts of a pattern outside and inside of a class. Together, the parts are the whole pattern."""


def translated(text: str) -> str:
    """Translate a pattern into RE2's syntax. Raises `PatternError` for syntax that only RE2 accepts."""
    return "".join(_translated_parts(text))


def _translated_parts(text: str) -> Iterator[str]:
    at, in_class = 0, False
    while part := (_INSIDE if in_class else _OUTSIDE).match(text, at):
        at, found = part.end(), part.groupdict()
        if found["category"]:
            yield _category(found["category"], in_class=in_class)
        elif in_class:
            yield part[0]
            in_class = not found["closes"]
        else:
            yield _outside_classes(part[0], found)
            in_class = bool(found["opens"])


def _outside_classes(part: str, found: dict[str, str | None]) -> str:
    if found["byte"]:
        raise PatternError(rf"{part} has no meaning")
    if not (found["group"] or "").isascii():
        raise PatternError(_BAD_NAME)
    counts = (found["counts"] or "").split(",")
    if any(len(count) > _MOST_DIGITS for count in counts) and not any(map(_LEADING_ZERO.match, counts)):
        raise PatternError(_TOO_OFTEN)
    return part + r"\E" if found["quoted"] and not part.endswith(r"\E") else part


_MOST_DIGITS = 8
"""Digits of a number that both Go and RE2 accept. A longer number is far above the limit of both."""
_LEADING_ZERO = re.compile("0[0-9]")

_CATEGORIES = """
    C Other, Cc Control cntrl, Cf Format, Cn Unassigned, Co PrivateUse, Cs Surrogate,
    L Letter, Lc CasedLetter, Ll LowercaseLetter, Lm ModifierLetter, Lo OtherLetter, Lt TitlecaseLetter,
    Lu UppercaseLetter, M Mark CombiningMark, Mc SpacingMark, Me EnclosingMark, Mn NonspacingMark,
    N Number, Nd DecimalNumber digit, Nl LetterNumber, No OtherNumber,
    P Punctuation punct, Pc ConnectorPunctuation, Pd DashPunctuation, Pe ClosePunctuation,
    Pf FinalPunctuation, Pi InitialPunctuation, Po OtherPunctuation, Ps OpenPunctuation,
    S Symbol, Sc CurrencySymbol, Sk ModifierSymbol, Sm MathSymbol, So OtherSymbol,
    Z Separator, Zl LineSeparator, Zp ParagraphSeparator, Zs SpaceSeparator
"""
_SHORT = {name.lower(): names[0] for names in map(str.split, _CATEGORIES.split(",")) for name in names}
"""Short name of each general category, by any of its names."""
_NOT_IN_NAMES = str.maketrans("", "", "_- ")

_VISIBLE = r"\pL\pM\pN\pP\pS\pZ"
_WRITTEN_OUT: dict[str, tuple[str, str]] = {
    "Ascii": ("[:ascii:]", "[:^ascii:]"),
    "Assigned": (_VISIBLE + r"\pC", ""),
    "Lc": (r"\p{Lu}\p{Ll}\p{Lt}", ""),
    "Cn": ("", _VISIBLE + r"\pC"),
    "C": ("", _VISIBLE),
}
"""Class members for such a set, and for its complement. Empty where RE2 cannot express it."""


def _category(written: str, *, in_class: bool) -> str:
    r"""RE2's spelling of ``\p{Lu}``, ``\pL`` or ``\P{^Greek}``."""
    given = written[2:].removeprefix("{").removesuffix("}")
    bare = given.removeprefix("^")
    negated = (written[1] == "P") != (given != bare)
    name = _name(bare)
    if name not in _WRITTEN_OUT:
        return rf"\{'P' if negated else 'p'}{{{name}}}"
    members, others = _WRITTEN_OUT[name][:: -1 if negated else 1]
    if in_class and not members:
        raise PatternError(f"{written} cannot stand in a class")
    if in_class:
        return members
    return f"[{members}]" if members else f"[^{others}]"


def _name(given: str) -> str:
    """A category or script in RE2's spelling. Case, spaces, hyphens and underscores do not matter."""
    plain = given.translate(_NOT_IN_NAMES).lower()
    if plain in _SHORT:
        return _SHORT[plain]
    # RE2 knows scripts of two words only by their exact names.
    return given if "_" in given else plain.capitalize()


# -- errors ------------------------------------------------------------------------------------------------

_BAD_NAME = "the name of a group has only letters, digits and _, and is used once"
_TOO_OFTEN = "a repetition is of 0 to 1000 times, together with those inside it"
_EXPLAINED = {
    "missing ]": "ends too early",
    "trailing \\": "ends too early",
    "missing )": "a ( is not closed",
    "unexpected )": "there is no ( for a )",
    "no argument for repetition operator": "nothing to repeat before {}",
    "bad repetition operator": "repeats a repetition: {}",
    "invalid repetition size": _TOO_OFTEN,
    "invalid escape sequence": "{} has no meaning",
    "invalid character class range": "{} is no range, class, category or script",
    "invalid perl operator": "{} is not supported",
    "invalid named capture group": _BAD_NAME,
    "pattern too large - compile failed": "too large when its repetitions and categories are written out",
}
"""Paddock's message for each message of RE2. Braces stand for the part of the pattern that RE2 names."""
_SHOWN = 40


def _explained(error: Exception) -> str:
    message: bytes = error.args[0]
    kind, _, part = message.decode(errors="replace").partition(": ")
    return _EXPLAINED.get(kind, kind).replace("{}", part[:_SHOWN])
