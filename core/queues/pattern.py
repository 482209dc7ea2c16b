"""Regular expressions in linear time: the parts of RE2's syntax that placement filters use.

Patterns come from a configuration and texts from pods, so neither may hang the process: a pattern becomes a
bounded automaton, and matching takes at most its size times the length of the text. Source: PL-5, CFG-30.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

LONGEST = 1000
MOST_STATES = 5000
MOST_REPEATS = 1000
DEEPEST = 50

Test = Callable[[str], bool]


class PatternError(ValueError):
    """A text that is no regular expression, or one that goes beyond the bounds."""


@dataclass(slots=True)
class _State:
    """``test``: consumes a character; else a fork (``to``) or an assertion (``at``: start or end)."""

    test: Test | None = None
    to: list[int] = field(default_factory=list)
    at: str = ""


class Pattern:
    """A compiled pattern; `search` is unanchored, as in Go's MatchString."""

    def __init__(self, states: list[_State], start: int, accept: int) -> None:
        self._states = states
        self._start = start
        self._accept = accept
        self.steps = 0

    def search(self, text: str) -> bool:
        """Whether some part of the text matches. ``steps`` counts the work, for tests."""
        self.steps = 0
        current: set[int] = set()
        for position in range(len(text) + 1):
            self._add(self._start, current, position, len(text))
            if self._accept in current:
                return True
            if position == len(text):
                return False
            following: set[int] = set()
            for number in current:
                self.steps += 1
                state = self._states[number]
                if state.test is not None and state.test(text[position]):
                    self._add(state.to[0], following, position + 1, len(text))
            current = following
            if self._accept in current:
                return True
        return False

    def _add(self, number: int, into: set[int], position: int, end: int) -> None:
        """A state and whatever is reached from it without reading."""
        waiting = [number]
        while waiting:
            number = waiting.pop()
            if number in into:
                continue
            into.add(number)
            self.steps += 1
            state = self._states[number]
            here = state.at == "" or (position == 0 if state.at == "start" else position == end)
            if state.test is None and here:
                waiting += state.to


@lru_cache(maxsize=1024)
def compiled(text: str) -> Pattern:
    """Raises `PatternError`."""
    if len(text) > LONGEST:
        raise PatternError(f"longer than {LONGEST} characters")
    return _Compiler(text).pattern()


@dataclass(frozen=True, slots=True)
class _Node:
    """A parsed part: kind, and what it is made of."""

    kind: str
    parts: tuple["_Node", ...] = ()
    test: Test | None = None
    least: int = 0
    most: int | None = None


_SHORTHANDS: dict[str, Test] = {
    "d": lambda c: c.isascii() and c.isdigit(),
    "w": lambda c: c.isascii() and (c.isalnum() or c == "_"),
    "s": lambda c: c in "\t\n\f\r ",
}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


class _Compiler:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._fold = False
        self._states: list[_State] = []

    def pattern(self) -> Pattern:
        node = self._alternatives()
        if self._at < len(self._text):
            raise PatternError(f"unexpected ) at {self._at}")
        accept = self._new(_State())
        return Pattern(self._states, self._build(node, accept), accept)

    # -- parsing -------------------------------------------------------------------------------------------

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _take(self) -> str:
        found = self._peek()
        if not found:
            raise PatternError("ends too early")
        self._at += 1
        return found

    def _alternatives(self) -> _Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise PatternError(f"nested deeper than {DEEPEST}")
        found = [self._sequence()]
        while self._peek() == "|":
            self._take()
            found.append(self._sequence())
        self._depth -= 1
        return found[0] if len(found) == 1 else _Node("or", tuple(found))

    def _sequence(self) -> _Node:
        found = []
        while self._peek() not in ("", "|", ")"):
            found.append(self._repeated(self._atom()))
        return _Node("and", tuple(found))

    def _repeated(self, node: _Node) -> _Node:
        repeated = False
        while True:
            bounds = self._bounds()
            if bounds is None:
                return node
            if repeated:
                raise PatternError(f"repeats a repetition at {self._at}")
            if self._peek() == "?":
                # Lazy or greedy makes no difference to whether there is a match.
                self._take()
            node, repeated = _Node("repeat", (node,), least=bounds[0], most=bounds[1]), True

    def _bounds(self) -> tuple[int, int | None] | None:
        sign = self._peek()
        if sign in ("*", "+", "?"):
            self._take()
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        if sign != "{":
            return None
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at + 1 : max(end, 0)].partition(",")
        if end < 0 or not low.isascii() or not low.isdigit() or not (high == "" or high.isdigit()):
            return None
        self._at = end + 1
        most = int(low) if not comma else (int(high) if high else None)
        if int(low) > MOST_REPEATS or (most is not None and (most > MOST_REPEATS or most < int(low))):
            raise PatternError(f"repetition {{{low}{comma}{high}}} is out of bounds")
        return int(low), most

    def _atom(self) -> _Node:
        sign = self._take()
        match sign:
            case "(":
                return self._group()
            case "[":
                return _Node("one", test=self._class())
            case ".":
                return _Node("one", test=lambda c: c != "\n")
            case "^":
                return _Node("start")
            case "$":
                return _Node("end")
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise PatternError(f"nothing to repeat at {self._at - 1}")
            case _:
                return _Node("one", test=self._equal(sign))

    def _group(self) -> _Node:
        before = self._fold
        if self._peek() == "?" and self._flags():
            return _Node("and")
        node = self._alternatives()
        if self._peek() != ")":
            raise PatternError("a ( is not closed")
        self._take()
        self._fold = before
        return node

    def _flags(self) -> bool:
        """After ``(?``. True for flags alone, which hold from here on."""
        self._take()
        if self._text.startswith(("P<", "<"), self._at) and self._text[self._at : self._at + 2] not in (
            "<=",
            "<!",
        ):
            end = self._text.find(">", self._at)
            if end < 0:
                raise PatternError("a group's name is not closed")
            self._at = end + 1
            return False
        flags = ""
        while self._peek() in ("i", "s", "m", "U", "-") and self._peek():
            flags += self._take()
        if flags not in ("", "i", "s", "is", "si") or self._peek() not in (":", ")"):
            raise PatternError(f"(?{flags}{self._peek()} is not supported")
        self._fold = self._fold or "i" in flags
        return self._take() == ")"

    def _escape(self) -> _Node:
        sign = self._take()
        if sign in "AZz":
            return _Node("start" if sign == "A" else "end")
        if sign.isdigit() or sign in "bBpPkGQCX":
            raise PatternError(f"\\{sign} is not supported")
        return _Node("one", test=self._escaped(sign))

    def _escaped(self, sign: str) -> Test:
        if sign.lower() in _SHORTHANDS and sign.lower() in "dws":
            test = _SHORTHANDS[sign.lower()]
            return test if sign.islower() else lambda c: not test(c)
        if sign in _ESCAPED:
            return self._equal(_ESCAPED[sign])
        if sign.isalnum():
            raise PatternError(f"\\{sign} is not supported")
        return self._equal(sign)

    def _equal(self, sign: str) -> Test:
        if self._fold:
            folded = sign.casefold()
            return lambda c: c.casefold() == folded
        return lambda c: c == sign

    def _class(self) -> Test:
        negated = self._peek() == "^"
        if negated:
            self._take()
        tests: list[Test] = []
        first = True
        while first or self._peek() != "]":
            tests.append(self._member())
            first = False
        self._take()
        return lambda c: any(test(c) for test in tests) != negated

    def _member(self) -> Test:
        low = self._take()
        if low == "[" and self._peek() == ":":
            raise PatternError("[: classes are not supported")
        if low == "\\":
            sign = self._take()
            if sign.lower() in "dws":
                return self._escaped(sign)
            low = _ESCAPED.get(sign, sign)
            if sign.isalnum() and sign not in _ESCAPED:
                raise PatternError(f"\\{sign} is not supported")
        if self._peek() != "-" or self._text[self._at + 1 : self._at + 2] in ("]", ""):
            return self._equal(low)
        self._take()
        high = self._take()
        high = self._take() if high == "\\" else high
        if high < low:
            raise PatternError(f"range {low}-{high} is backwards")
        if self._fold:
            return lambda c: low <= c.lower() <= high or low <= c.upper() <= high
        return lambda c: low <= c <= high

    # -- building ------------------------------------------------------------------------------------------

    def _new(self, state: _State) -> int:
        if len(self._states) >= MOST_STATES:
            raise PatternError("too large when its repetitions are written out")
        self._states.append(state)
        return len(self._states) - 1

    def _build(self, node: _Node, after: int) -> int:
        """The state from which ``node`` leads to ``after``."""
        match node.kind:
            case "one":
                return self._new(_State(test=node.test, to=[after]))
            case "start" | "end":
                return self._new(_State(to=[after], at=node.kind))
            case "or":
                return self._new(_State(to=[self._build(part, after) for part in node.parts]))
            case "and":
                for part in reversed(node.parts):
                    after = self._build(part, after)
                return after
            case _:
                return self._build_repeat(node, after)

    def _build_repeat(self, node: _Node, after: int) -> int:
        (part,) = node.parts
        if node.most is None:
            loop = self._new(_State())
            self._states[loop].to = [self._build(part, loop), after]
            after = loop
        else:
            for _ in range(node.most - node.least):
                after = self._new(_State(to=[self._build(part, after), after]))
        for _ in range(node.least):
            after = self._build(part, after)
        return after
