"""Answers as JSON and as mappings. Both leave out the same members (REST-24)."""

from typing import Any, overload

import msgspec

from extender.rest.model.answer import Answer

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])


def encoded(answer: object) -> bytes:
    """Encode as JSON with a final newline (REST-1). ``answer``: an answer, or a tuple of answers."""
    return _ENCODER.encode(answer) + b"\n"


@overload
def members(answer: Answer) -> dict[str, Any]: ...
@overload
def members(answer: Answer | None) -> dict[str, Any] | None: ...
def members(answer: Answer | None) -> dict[str, Any] | None:
    """Return the members that JSON would contain, by name; None for None."""
    return _DECODER.decode(_ENCODER.encode(answer)) if answer is not None else None
