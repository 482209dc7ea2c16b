"""JSON of an answer in pieces, so that other work can run between them (REST-45).

The encoder blocks the interpreter for the whole of a call. A piece has about `ROWS` rows and takes well under
a millisecond. The answer is a tree of frozen values, so it does not change between pieces.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from extender.rest.model.answer import Answer

ROWS = 100
"""Objects that are encoded in one piece, including nested ones."""

_ENCODER = msgspec.json.Encoder()


class _Member(NamedTuple):
    """Member of a Struct."""

    name: str
    #: Name in JSON, with quotation marks and a colon.
    key: bytes
    default: object
    #: Type of the collection whose empty value is the default; None for any other default.
    empty: type | None


def pieces(answer: Answer | tuple[Answer, ...]) -> Iterator[bytes]:
    """Yield the bytes of `members.encoded` in pieces of about `ROWS` rows."""
    buffer, rows = bytearray(), 0
    for part, weight in _parts(answer):
        buffer += part
        rows += weight
        if rows >= ROWS:
            yield bytes(buffer)
            buffer.clear()
            rows = 0
    buffer += b"\n"
    yield bytes(buffer)


def _parts(value: Any) -> Iterator[tuple[bytes, int]]:
    """Encoded parts of a value, each with its number of rows."""
    weight = weight_of(value, ROWS)
    if weight < ROWS:
        yield _ENCODER.encode(value), weight
    elif isinstance(value, tuple):
        yield from _list_parts(value)
    else:
        yield from _object_parts(value)


def _list_parts(values: tuple[Any, ...]) -> Iterator[tuple[bytes, int]]:
    before = b"["
    for each in values:
        yield before, 0
        yield from _parts(each)
        before = b","
    yield b"]", 0


def _object_parts(value: Any) -> Iterator[tuple[bytes, int]]:
    before = b"{"
    struct: type[Answer] = type(value)
    for member in _members(struct):
        held = getattr(value, member.name)
        if held is member.default or (member.empty is not None and type(held) is member.empty and not held):
            continue
        yield before + member.key, 0
        yield from _parts(held)
        before = b","
    yield (b"}" if before == b"," else b"{}"), 0


def weight_of(value: Any, most: int) -> int:
    """Count the objects in a value, including the value itself. Counting stops at ``most``."""
    if isinstance(value, tuple):
        return _weight_of_all(value, most)
    if not isinstance(value, Answer):
        return 0
    struct: type[Answer] = type(value)
    nested = (getattr(value, name) for name in _nesting(struct))
    return 1 + _weight_of_all(nested, most - 1)


def _weight_of_all(values: Any, most: int) -> int:
    weight = 0
    for each in values:
        if weight >= most:
            break
        weight += weight_of(each, most - weight)
    return weight


@lru_cache(maxsize=256)
def _members(struct: type[Answer]) -> tuple[_Member, ...]:
    return tuple(_member(each) for each in msgspec.structs.fields(struct))


def _member(field: msgspec.structs.FieldInfo) -> _Member:
    factory = field.default_factory
    key = _ENCODER.encode(field.encode_name) + b":"
    return _Member(field.name, key, field.default, factory if isinstance(factory, type) else None)


@lru_cache(maxsize=256)
def _nesting(struct: type[Answer]) -> tuple[str, ...]:
    """Return the names of members that may contain other objects."""
    return tuple(
        each.name
        for each in msgspec.structs.fields(struct)
        if "tuple" in str(each.type) or "model" in str(each.type)
    )
