"""Reading JSON that nobody has checked into typed values, as Go's decoder reads it into a struct.

A key is found in any case and written as the API spells it, one that nobody knows is left out, and null
leaves a field as if it were absent. Anything of another type raises `ShapeError`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

_SHOWN = 40


class ShapeError(ValueError):
    """``where``: the place, outermost first; the text never repeats a value."""

    def __init__(self, why: str, where: str = "") -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.why, self.where = why, where

    def inside(self, place: str) -> "ShapeError":
        joined = f"{place}{'' if self.where.startswith('[') or not self.where else '.'}{self.where}"
        return ShapeError(self.why, joined)


class Written(NamedTuple):
    """A number with a fraction or an exponent, by its text."""

    text: str


_JSON = msgspec.json.Decoder(float_hook=Written)

Reader = Callable[[object], Any]
"""Raises `ShapeError`. Of None it makes what Go has for an absent value."""


def json_from(text: str) -> object:
    """Raises `ShapeError` for what is no JSON, and for what is nested too deeply to be any of ours."""
    try:
        return _JSON.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise ShapeError("is not JSON") from None


def text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ShapeError("must be a text")
    return value


def whole(bits: int) -> Reader:
    """A whole number, without a fraction or an exponent."""

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
    def read(value: object) -> tuple[Any, ...]:
        if value is None:
            return ()
        if not isinstance(value, list):
            raise ShapeError("must be a list")
        return tuple(_inside(f"[{at}]", item, each) for at, each in enumerate(value))

    return read


def map_of(item: Reader) -> Reader:
    """By names that are the writer's own."""

    def read(value: object) -> dict[str, Any]:
        if value is None:
            return {}
        return {key: _inside(key[:_SHOWN], item, each) for key, each in _object(value).items()}

    return read


def fields(known: Mapping[str, Reader]) -> Reader:
    """What is known and not null, by the API's spelling; of two spellings the later counts."""
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
