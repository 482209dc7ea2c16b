"""Regular expressions in linear time, which match what they match in Go.

Patterns come from a configuration and texts from pods, so neither may hang the process: a pattern becomes a
program of bounded size, and matching takes at most its size times the length of the text. While it is made a
program is a list with relative targets: a group is a slice of it, and a repetition copies one.
Source: PL-5, CFG-30.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from core.queues.pattern_characters import CharacterSet
from core.queues.pattern_syntax import (
    LINE_END,
    LINE_START,
    MOST_REPEATS,
    NO_WORD_EDGE,
    TEXT_END,
    TEXT_START,
    WORD_EDGE,
    Join,
    Look,
    PatternError,
    Read,
    Repeat,
    Step,
    steps_of,
)

__all__ = ["MOST_STATES", "Pattern", "PatternError", "compiled"]

MOST_STATES = 10_000
"""Instructions of a program. Without counted repetitions a pattern has at most two for a character."""
DEEPEST = 1_000
"""Levels of captures, repetitions, sequences and choices, as in Go."""

_FORK, _LOOK = -1, -2
"""Operations that read nothing. From 0 on they are numbers of sets, of which one character is read."""

_Instruction = tuple[int, int, int]
"""Operation, the way to the next instruction, and to the other one of a fork or what a look asks for.

A look that asks for nothing is a jump.
"""


class Pattern:
    """A compiled pattern; `search` is unanchored, as in Go's MatchString."""

    def __init__(self, code: list[_Instruction], sets: Iterable[CharacterSet]) -> None:
        self._operations = array("i", [operation for operation, _, _ in code])
        self._next = array("i", [at + way for at, (_, way, _) in enumerate(code)])
        self._other = array("i", [at * (op == _FORK) + other for at, (op, _, other) in enumerate(code)])
        self._sets = tuple(sets)
        self.steps = 0

    def search(self, text: str) -> bool:
        """Whether some part of the text matches. ``steps`` counts the work, for tests."""
        self.steps = 0
        known: dict[str, dict[int, bool]] = {}
        reached: list[int] = []
        for sign, holding in _places(text):
            reading = self._reading([*reached, 0], holding)
            if reading is None:
                return True
            if sign:
                reached = self._read(reading, sign, known.setdefault(sign, {}))
        return False

    def _reading(self, waiting: list[int], holding: int) -> list[int] | None:
        """The instructions that wait for a character, behind those that read nothing; None after a match."""
        operations, following, other = self._operations, self._next, self._other
        end = len(operations)
        seen = bytearray(end + 1)
        found = []
        while waiting:
            at = waiting.pop()
            if seen[at]:
                continue
            if at == end:
                return None
            seen[at] = 1
            self.steps += 1
            operation = operations[at]
            if operation >= 0:
                found.append(at)
            elif operation == _FORK:
                waiting += (following[at], other[at])
            elif not other[at] & ~holding:
                waiting.append(following[at])
        return found

    def _read(self, reading: list[int], sign: str, known: dict[int, bool]) -> list[int]:
        """Where those of the instructions lead that accept the character. ``known``: which sets hold it."""
        operations, following = self._operations, self._next
        reached = []
        for at in reading:
            number = operations[at]
            holds = known.get(number)
            if holds is None:
                holds = known[number] = self._sets[number].holds(sign)
            if holds:
                reached.append(following[at])
        return reached


def _places(text: str) -> Iterator[tuple[str, int]]:
    """Each character with what a look before it may ask for, and the end as an empty one."""
    before = ""
    for sign in (*text, ""):
        holding = (TEXT_START | LINE_START) if not before else LINE_START * (before == "\n")
        holding |= (TEXT_END | LINE_END) if not sign else LINE_END * (sign == "\n")
        yield sign, holding | (NO_WORD_EDGE if _in_word(before) == _in_word(sign) else WORD_EDGE)
        before = sign


def _in_word(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign == "_")


@lru_cache(maxsize=64)
def compiled(text: str) -> Pattern:
    """Raises `PatternError`. Holds at most 64 patterns, the largest of about 0.8 MB."""
    sets: dict[CharacterSet, int] = {}
    made: list[_Part] = []
    for step in steps_of(text):
        parts = _taken(made, step)
        made.append(_checked(_made(step, parts, sets)))
    (whole,) = made
    return Pattern(whole.code, sets)


# -- programs ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    """``copies``: the largest product of counted repetitions inside each other. ``height``: levels.

    ``kind``: what Go keeps in one node (literals, sets) or does not nest in its like (sequence, choice).
    """

    code: list[_Instruction]
    copies: int = 1
    height: int = 1
    kind: str = ""


def _taken(made: list[_Part], step: Step) -> list[_Part]:
    """Takes from the end what the step makes something of."""
    count = step.parts if isinstance(step, Join) else int(isinstance(step, Repeat))
    start = len(made) - count
    taken = made[start:]
    del made[start:]
    return taken


def _made(step: Step, parts: list[_Part], sets: dict[CharacterSet, int]) -> _Part:
    match step:
        case Read():
            number = sets.setdefault(step.accepted, len(sets))
            return _Part([(number, 1, 0)], kind="literals" if step.is_literal else "set")
        case Look():
            return _Part([(_LOOK, 1, step.asked)])
        case Repeat():
            return _repeated(parts[0], step)
        case Join("sequence"):
            return _in_sequence(parts)
        case Join("choice"):
            return _any_of(parts)
        case Join():
            return replace(parts[0], height=parts[0].height + 1, kind="")


def _checked(part: _Part) -> _Part:
    if part.height > DEEPEST:
        raise PatternError(f"nested deeper than {DEEPEST}")
    _check_size(len(part.code))
    return part


def _check_size(states: int) -> None:
    if states > MOST_STATES:
        raise PatternError("too large when its repetitions are written out")


def _joined(parts: list[_Part], code: list[_Instruction], kind: str) -> _Part:
    height = 1 + max(part.height - (part.kind == kind) for part in parts)
    return _Part(code, max(part.copies for part in parts), height, kind)


def _in_sequence(parts: list[_Part]) -> _Part:
    _check_size(sum(len(part.code) for part in parts))
    code: list[_Instruction] = []
    for part in parts:
        code += part.code
    if all(part.kind == "literals" for part in parts):
        return _Part(code, kind="literals" if parts else "")
    return _joined(parts, code, "sequence")


def _any_of(branches: list[_Part]) -> _Part:
    """Written back to front, since each branch ends in a jump over those after it."""
    _check_size(sum(len(branch.code) + 2 for branch in branches) - 2)
    code = branches[-1].code[::-1]
    for branch in reversed(branches[:-1]):
        code.append((_LOOK, len(code) + 1, 0))
        code += reversed(branch.code)
        code.append((_FORK, 1, len(branch.code) + 2))
    code.reverse()
    if all(
        branch.kind == "set" or (branch.kind == "literals" and len(branch.code) == 1) for branch in branches
    ):
        return _Part(code, kind="set")
    return _joined(branches, code, "choice")


def _repeated(part: _Part, repeat: Repeat) -> _Part:
    least, most = repeat.least, repeat.most
    size = len(part.code)
    _check_size(size * least + (0 if most is None else (size + 1) * (most - least)))
    copies = _copies(part, repeat) if repeat.counted else part.copies
    code = _written_out(part.code, least, most) if part.code else []
    return _Part(code, copies, part.height + 1)


def _copies(part: _Part, repeat: Repeat) -> int:
    """Go looks at the product only where something is repeated twice or more, and not into x{0}."""
    if repeat.most == 0:
        return 1
    copies = part.copies * max(1, repeat.least if repeat.most is None else repeat.most)
    if copies > MOST_REPEATS and max(repeat.least, repeat.most or 0) > 1:
        raise PatternError(f"repeated more than {MOST_REPEATS} times in all")
    return copies


def _written_out(one: list[_Instruction], least: int, most: int | None) -> list[_Instruction]:
    size = len(one)
    code = one * least
    if most is not None:
        for left in range(most - least, 0, -1):
            # Each is tried only after the one before it; all are left to the same end.
            code += [(_FORK, 1, left * (size + 1)), *one]
    elif least:
        code.append((_FORK, -size, 1))
    else:
        code = [(_FORK, 1, size + 2), *one, (_LOOK, -(size + 1), 0)]
    return code
