"""How regular expressions are written, as Go's regexp package reads them (RE2's syntax), and nothing else.

A pattern becomes steps in postfix order: parts, and after them what is made of them. Nothing here calls
itself, so a pattern may nest as deep as it is long. What steps match is `pattern`'s. Source: CFG-30.
"""

from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters
from typing import Literal

from core.queues.pattern_characters import (
    HIGHEST,
    PERL,
    POSIX,
    Characters,
    CharacterSet,
    edges_of,
    of_unicode,
)

LONGEST = 5_000
"""Characters of a pattern. Go has no such bound."""
MOST_REPEATS = 1_000
"""Of one repetition and of those inside it together, as in Go."""

TEXT_START, TEXT_END, LINE_START, LINE_END, WORD_EDGE, NO_WORD_EDGE = (1 << bit for bit in range(6))
"""What a `Look` may ask of its place in the text. Words are of ASCII letters, digits and _."""


class PatternError(ValueError):
    """A text that is no regular expression, or one that goes beyond the bounds."""


@dataclass(frozen=True, slots=True)
class Read:
    """One character of a set. ``is_literal``: written as that character."""

    accepted: CharacterSet
    is_literal: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """An assertion about a place between characters."""

    asked: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """The part before, at least and at most so often; None: any number. ``counted``: written with braces."""

    least: int
    most: int | None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Join:
    """What so many parts before are together; a sequence of none is the empty text, a capture is of one."""

    kind: Literal["sequence", "choice", "capture"]
    parts: int


Step = Read | Look | Repeat | Join


def steps_of(text: str) -> list[Step]:
    """The last step makes the whole pattern. Raises `PatternError`."""
    if len(text) > LONGEST:
        raise PatternError(f"longer than {LONGEST} characters")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PatternError("half of a surrogate pair is no character") from error
    return _Parser(text).steps()


_LOOKS = {"A": TEXT_START, "z": TEXT_END, "b": WORD_EDGE, "B": NO_WORD_EDGE}
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_FLAGS = frozenset("imsU")
_DIGITS = frozenset("0123456789")
_OCTAL = _DIGITS - {"8", "9"}
_HEX = _DIGITS | set("abcdefABCDEF")
_NAMING = _DIGITS | set("_" + ascii_letters)
_NOT_NEWLINE = Read(CharacterSet(edges_of([(10, 10)]), negated=True))
_ANYTHING = Read(CharacterSet(negated=True))


@lru_cache(maxsize=256)
def _literal(code: int, *, folded: bool) -> Read:
    return Read(CharacterSet(edges_of([(code, code)]), folded=folded), is_literal=True)


@dataclass(slots=True)
class _Group:
    """An open parenthesis, or the whole, and how much it holds. ``flags``: those that hold again after it."""

    flags: frozenset[str]
    captures: bool = False
    branches: int = 0
    parts: int = 0


class _Parser:
    """``_flags``: i, case does not matter; m, ^ and $ are of lines; s, a dot is any character; U, nothing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self._group = _Group(self._flags)
        self._around: list[_Group] = []
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        repeated = False
        while self._at < len(self._text):
            repeat = self._repetition()
            if repeat is None:
                self._item()
            elif repeated:
                raise PatternError(f"repeats a repetition before {self._at}")
            elif not self._group.parts:
                raise PatternError(f"nothing to repeat before {self._at}")
            else:
                self._steps.append(repeat)
            repeated = repeat is not None
        if self._around:
            raise PatternError("a ( is not closed")
        self._end_group()
        return self._steps

    def _item(self) -> None:
        match self._take():
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self._end_branch()
            case "[":
                self._class()
            case "\\":
                self._escape()
            case ".":
                self._part(_ANYTHING if "s" in self._flags else _NOT_NEWLINE)
            case "^":
                self._part(Look(LINE_START if "m" in self._flags else TEXT_START))
            case "$":
                self._part(Look(LINE_END if "m" in self._flags else TEXT_END))
            case sign:
                self._literal(ord(sign))

    def _part(self, step: Step) -> None:
        self._steps.append(step)
        self._group.parts += 1

    def _literal(self, code: int) -> None:
        self._part(_literal(code, folded="i" in self._flags))

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise PatternError("ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _take_if(self, sign: str) -> bool:
        found = self._text.startswith(sign, self._at)
        self._at += len(sign) * found
        return found

    def _take_to(self, end: str) -> str | None:
        """What is before ``end``, which is passed; None if there is no such end."""
        found = self._text.find(end, self._at)
        if found < 0:
            return None
        taken, self._at = self._text[self._at : found], found + len(end)
        return taken

    def _take_while(self, signs: frozenset[str], most: int = LONGEST) -> str:
        start = self._at
        while self._at < min(len(self._text), start + most) and self._text[self._at] in signs:
            self._at += 1
        return self._text[start : self._at]

    # -- repetitions ---------------------------------------------------------------------------------------

    def _repetition(self) -> Repeat | None:
        """Lazy and greedy are the same to whether there is a match."""
        if self._text[self._at] not in "*+?{":
            return None
        found = self._signed() or self._counted()
        if found is not None:
            self._take_if("?")
        return found

    def _signed(self) -> Repeat | None:
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._take_if(sign):
                return Repeat(least, most)
        return None

    def _counted(self) -> Repeat | None:
        """A { that begins no repetition stands for itself."""
        start = self._at
        if self._take_if("{"):
            low = high = self._number()
            endless = self._take_if(",}")
            if not endless and self._take_if(","):
                high = self._number()
            is_closed = endless or (high is not None and self._take_if("}"))
            if low is not None and is_closed:
                return _within_bounds(low, None if endless else high)
        self._at = start
        return None

    def _number(self) -> int | None:
        """None without digits, or with a 0 before others. What is far above the bound is one above it."""
        digits = self._take_while(_DIGITS)
        if not digits or (digits[0] == "0" and len(digits) > 1):
            return None
        return int(digits) if len(digits) < 9 else MOST_REPEATS + 1

    # -- groups --------------------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._take_if("?P<") or self._take_if("?<"):
            name = self._take_to(">")
            if not name or not _NAMING.issuperset(name):
                raise PatternError(f"the name of a group has only letters, digits and _, before {self._at}")
        elif self._take_if("?"):
            return self._open_with_flags()
        return self._enter(captures=True)

    def _open_with_flags(self) -> None:
        flags = self._new_flags()
        if self._text[self._at - 1] == ":":
            self._enter(captures=False)
        self._flags = flags

    def _enter(self, *, captures: bool) -> None:
        self._around.append(self._group)
        self._group = _Group(self._flags, captures)

    def _new_flags(self) -> frozenset[str]:
        """Those after ``(?``, up to the sign that ends them."""
        start = self._at - len("(?")
        on = self._take_while(_FLAGS)
        negates = self._take_if("-")
        off = self._take_while(_FLAGS)
        if not (self._take_if(":") or self._take_if(")")) or (negates and not off):
            raise PatternError(f"{self._text[start : self._at + 1][:20]} is not supported")
        return (self._flags | set(on)) - set(off)

    def _close(self) -> None:
        if not self._around:
            raise PatternError(f"there is no ( for the ) before {self._at}")
        self._end_group()
        self._flags = self._group.flags
        self._group = self._around.pop()
        self._group.parts += 1

    def _end_branch(self) -> None:
        if self._group.parts != 1:
            self._steps.append(Join("sequence", self._group.parts))
        self._group.parts = 0
        self._group.branches += 1

    def _end_group(self) -> None:
        self._end_branch()
        if self._group.branches > 1:
            self._steps.append(Join("choice", self._group.branches))
        if self._group.captures:
            self._steps.append(Join("capture", 1))

    # -- escapes and classes -------------------------------------------------------------------------------

    def _escape(self) -> None:
        sign = self._text[self._at : self._at + 1]
        if sign in _LOOKS:
            self._at += 1
            return self._part(Look(_LOOKS[sign]))
        if self._take_if("Q"):
            return self._quoted()
        found = self._named()
        if found is not None:
            return self._part(Read(CharacterSet("", (found,), "i" in self._flags)))
        return self._literal(self._escaped())

    def _quoted(self) -> None:
        r"""After ``\Q``: without an ``\E`` up to the end."""
        quoted = self._take_to("\\E")
        if quoted is None:
            quoted, self._at = self._text[self._at :], len(self._text)
        for sign in quoted:
            self._literal(ord(sign))

    def _named(self) -> Characters | None:
        """The characters after a backslash that mean many, such as ``d`` and ``p{Lu}``; None for others."""
        sign = self._text[self._at : self._at + 1]
        if sign in PERL:
            self._at += 1
            return PERL[sign]
        if self._take_if("p") or self._take_if("P"):
            return self._category(inverted=sign == "P")
        return None

    def _category(self, *, inverted: bool) -> Characters:
        name = self._take_to("}") if self._take_if("{") else self._take()
        if name is None:
            raise PatternError("a \\p{ is not closed")
        bare = name.removeprefix("^")
        found = of_unicode(bare)
        if found is None:
            raise PatternError(f"{bare[:40]} is no general category of Unicode; scripts are not supported")
        return found.inverted() if inverted != (bare != name) else found

    def _escaped(self) -> int:
        """The character that a backslash and what follows it stand for."""
        sign = self._take()
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign == "x":
            return self._hexadecimal()
        if sign == "0" or (sign in _OCTAL and self._text[self._at : self._at + 1] in _OCTAL):
            return int(sign + self._take_while(_OCTAL, 2), 8)
        if not sign.isascii() or sign.isalnum():
            raise PatternError(f"\\{sign} has no meaning")
        return ord(sign)

    def _hexadecimal(self) -> int:
        if self._take_if("{"):
            digits = self._take_while(_HEX)
            is_closed = self._take_if("}") and digits != ""
        else:
            digits = self._take_while(_HEX, 2)
            is_closed = len(digits) == 2
        if not is_closed or int(digits, 16) > HIGHEST:
            raise PatternError(f"\\x{digits[:8]} is not the number of a character")
        return int(digits, 16)

    def _class(self) -> None:
        negated = self._take_if("^")
        ranges: list[tuple[int, int]] = []
        named: dict[Characters, None] = {}
        is_first = True
        while is_first or not self._take_if("]"):
            is_first = False
            member = self._member()
            if isinstance(member, Characters):
                named[member] = None
            else:
                ranges.append(member)
        self._part(Read(CharacterSet(edges_of(ranges), tuple(named), "i" in self._flags, negated)))

    def _member(self) -> Characters | tuple[int, int]:
        if self._text.startswith("[:", self._at) and self._text.find(":]", self._at + 2) >= 0:
            return self._posix()
        start = self._at
        if self._take_if("\\") and (found := self._named()) is not None:
            return found
        self._at = start
        low = high = self._end_of_range()
        if self._text.startswith("-", self._at) and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
            self._take()
            high = self._end_of_range()
        if high < low:
            raise PatternError(f"a range ends before it begins, before {self._at}")
        return low, high

    def _end_of_range(self) -> int:
        sign = self._take()
        return self._escaped() if sign == "\\" else ord(sign)

    def _posix(self) -> Characters:
        self._take_if("[:")
        name = self._take_to(":]") or ""
        found = POSIX.get(name.removeprefix("^"))
        if found is None:
            raise PatternError(f"[:{name[:40]}:] is no class of characters")
        return found.inverted() if name.startswith("^") else found


def _within_bounds(low: int, high: int | None) -> Repeat:
    if low > MOST_REPEATS or (high is not None and not low <= high <= MOST_REPEATS):
        raise PatternError(f"a repetition is of 0 to {MOST_REPEATS} times")
    return Repeat(low, high, counted=True)
