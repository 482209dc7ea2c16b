"""An answer as JSON has it: what is left out is left out here, too (REST-24)."""

from typing import Any, overload

import msgspec

from extender.rest.model.answer import Answer

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, Any])


def encoded(answer: object) -> bytes:
    """JSON with a newline at its end (REST-1). ``answer``: an answer, or a tuple of them."""
    return _ENCODER.encode(answer) + b"\n"


@overload
def members(answer: Answer) -> dict[str, Any]: ...
@overload
def members(answer: Answer | None) -> dict[str, Any] | None: ...
def members(answer: Answer | None) -> dict[str, Any] | None:
    """The members that are there, by name. None of none."""
    return _DECODER.decode(_ENCODER.encode(answer)) if answer is not None else None
