"""Rules shared by all answers: which members are left out, and the units of values (REST-3, REST-24).

A member with a default is left out while it has that value. A member without a default is always present.
"""

from typing import Annotated, TypeAlias

import msgspec

Amounts: TypeAlias = Annotated[
    dict[str, int],
    msgspec.Meta(description="Amounts by resource: vcore in millicores, memory in bytes, else counts."),
]
Percentages: TypeAlias = Annotated[
    dict[str, int], msgspec.Meta(description="Percent by resource, rounded down, at most 2147483647.")
]
Texts: TypeAlias = dict[str, str]
Nanoseconds: TypeAlias = Annotated[int, msgspec.Meta(description="Nanoseconds since 1970.")]
NanosecondSpan: TypeAlias = Annotated[int, msgspec.Meta(description="Length in nanoseconds.")]
Milliseconds: TypeAlias = Annotated[int, msgspec.Meta(description="Milliseconds since 1970.")]
Moment: TypeAlias = Annotated[str, msgspec.Meta(description="Time as RFC 3339 writes it.")]
Duration: TypeAlias = Annotated[
    str, msgspec.Meta(description="Length of time as Go prints it, such as 1m0s.")
]
Priority: TypeAlias = Annotated[str, msgspec.Meta(description="Priority of a pod as text.")]
Count: TypeAlias = Annotated[str, msgspec.Meta(description="Whole number as text.")]


class Answer(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True, kw_only=True, gc=False):
    """A JSON object of the interface. Answers are trees of plain values, so garbage collection skips them."""


class Fault(Answer, frozen=True, kw_only=True, rename=None):
    """Body of every error (REST-2)."""

    #: HTTP status of the answer.
    status_code: int
    #: Error text, exactly as clients compare it.
    message: str
    #: Cause of the error; the message if no cause is known.
    description: str


def fault(status: int, message: str, *, cause: str = "") -> Fault:
    """Make an error. ``cause``: its description; empty for none."""
    return Fault(status_code=status, message=message, description=cause or message)
