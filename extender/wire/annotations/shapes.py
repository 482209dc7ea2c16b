"""Conversion of unchecked JSON into typed values, with the rules of Go's decoder.

The case of keys does not matter, and the result has the API's spelling. Unknown keys are dropped. A null
counts as an absent field. A value of the wrong type raises `ShapeError`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

_SHOWN = 40


class ShapeError(ValueError):
    """A value of the wrong type. The text never contains the value.

    ``where``: path of the value, outermost part first.
    """

    def __init__(self, why: str, where: str = "") -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.why, self.where = why, where

    def inside(self, place: str) -> "ShapeError":
        """An equal error with ``place`` before its path."""
        joined = f"{place}{'' if self.where.startswith('[') or not self.where else '.'}{self.where}"
        return ShapeError(self.why, joined)


class Written(NamedTuple):
    """Text of a number with a fraction or an exponent."""

    text: str


_JSON = msgspec.json.Decoder(float_hook=Written)

Reader = Callable[[object], Any]
"""Converts a value. None becomes Go's zero value. Raises `ShapeError`."""


def json_from(text: str) -> object:
    """Decode JSON. Raises `ShapeError` for invalid JSON, and for JSON that is nested too deeply."""
    try:
        return _JSON.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise ShapeError("is not JSON") from None


def text(value: object) -> str:
    """Read a string. Raises `ShapeError`."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ShapeError("must be a text")
    return value


def whole(bits: int) -> Reader:
    """Reader of integers of so many bits, without a fraction or an exponent."""

    def read(value: object) -> int:
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool):
            raise ShapeError("must be a whole number")
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise ShapeError(f"must be a number of {bits} bits")
        return value

    return read


def list_of(item: Reader) -> Reader:
    """Reader of lists, which become tuples."""

    def read(value: object) -> tuple[Any, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            raise ShapeError("must be a list")
        return tuple(_inside(f"[{at}]", item, each) for at, each in enumerate(value))

    return read


def map_of(item: Reader) -> Reader:
    """Reader of objects with arbitrary keys."""

    def read(value: object) -> dict[str, Any]:
        if value is None:
            return {}
        return {key: _inside(key[:_SHOWN], item, each) for key, each in _object(value).items()}

    return read


def fields(known: Mapping[str, Reader]) -> Reader:
    """Reader of objects with known keys. Of two spellings of a key, the later one counts."""
    spelled = {name.casefold(): name for name in known}

    def read(value: object) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, each in _object(value).items() if value is not None else ():
            name = spelled.get(key.casefold())
            if name is not None and each is not None:
                found[name] = _inside(name, known[name], each)
        return found

    return read


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ShapeError("must be an object")
    return value


def _inside(place: str, read: Reader, value: object) -> Any:
    try:
        return read(value)
    except ShapeError as error:
        raise error.inside(place) from None
