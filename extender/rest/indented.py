"""JSON with line breaks and indentation, made from pieces of it (REST-14)."""

import re
from collections.abc import Iterable, Iterator

AT_ONCE = 4096
"""Bytes of one step."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^"\[\]{},:\s]+|\s+', re.DOTALL)
_OPENING, _CLOSING = (b"{", b"["), (b"}", b"]")


def indented(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of that value with two spaces for each level. Empty objects and lists stay together."""
    line = _Lines()
    rest = b""
    for piece in pieces:
        for start in range(0, max(len(piece), 1), AT_ONCE):
            rest += piece[start : start + AT_ONCE]
            # A string or a number may go on in the next piece.
            end = max(rest.rfind(each) for each in (b",", b"}", b"]")) + 1
            written, used = line.of(rest, end)
            rest = rest[used:]
            yield written
    yield line.of(rest, len(rest))[0] + b"\n"


class _Lines:
    """Lines so far: their depth, and whether an object or list was just opened."""

    def __init__(self) -> None:
        self._depth = 0
        self._opened = False

    def of(self, text: bytes, end: int) -> tuple[bytes, int]:
        """Write the tokens that end by ``end``; the number of bytes that they are."""
        found, used = bytearray(), 0
        while used < end:
            match = _TOKEN.match(text, used)
            if match is None or match.end() > end:
                break
            found += self._written(match.group())
            used = match.end()
        return bytes(found), used

    def _written(self, token: bytes) -> bytes:
        if token.isspace():
            return b""
        if token in _CLOSING:
            self._depth -= 1
            before = b"" if self._opened else self._break()
            self._opened = False
            return before + token
        before = self._break() if self._opened else b""
        self._opened = token in _OPENING
        self._depth += self._opened
        if token == b",":
            return token + self._break()
        return before + (b": " if token == b":" else token)

    def _break(self) -> bytes:
        return b"\n" + b"  " * self._depth
