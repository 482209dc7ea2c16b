"""Rules that all answers share: how members are left out, and the units of their values (REST-3, REST-24).

A member with a default is left out while it has that value. A member without one is always there.
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
    """A JSON object of the interface: a tree of plain values, of no interest to the garbage collector."""


class Fault(Answer, frozen=True, kw_only=True, rename=None):
    """Body of every error (REST-2)."""

    #: HTTP status of the answer.
    status_code: int
    #: Text of the error, in the words that clients compare.
    message: str
    #: Cause of the error; the message if none is known.
    description: str


def fault(status: int, message: str, *, cause: str = "") -> Fault:
    """The error of that status. ``cause``: told as its description if there is one."""
    return Fault(status_code=status, message=message, description=cause or message)
