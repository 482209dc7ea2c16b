"""The right to admit: with a Lease only the instance beside the kube-scheduler that holds it (F-3).

Another one may have admitted pods meanwhile that this one does not know of yet. Pods in no queue are no
matter of the Lease.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from core.errors import PaddockError
from core.reasons import Code


class Lead(Protocol):
    """What is known of the Lease. ``held`` is right at any instant, also after the process was stopped."""

    @property
    def held(self) -> bool: ...

    @property
    def problem(self) -> str:
        """Why nothing is known of the Lease, in words that do not change; empty when it was read."""
        ...

    async def confirm(self) -> bool:
        """Whether it is held, read anew if it seems not to be; at most a second."""
        ...


class Unled:
    """Without a Lease the one instance there is admits, always."""

    held, problem = True, ""

    async def confirm(self) -> bool:
        return True


class NotLeading(PaddockError):
    """A call for a pod in a queue, while the Lease is another's, or may be. The text reaches the pod."""

    def __init__(self, problem: str = "") -> None:
        super().__init__(f"{Code.NOT_READY}: not leading{': ' if problem else ''}{problem}")


def fenced(
    verb: Callable[[bytes], bytes], lead: Lead, instead: bytes | None = None
) -> Callable[[bytes], bytes | Awaitable[bytes]]:
    """The verb, asked once more when a new leader finds that the Lease is its own.

    ``instead``: the answer of one that does not lead; None to raise `NotLeading`.
    """

    async def again(body: bytes) -> bytes:
        try:
            if await lead.confirm():
                return verb(body)
            raise NotLeading(lead.problem)
        except NotLeading:
            if instead is None:
                raise
            return instead

    def answer(body: bytes) -> bytes | Awaitable[bytes]:
        try:
            return verb(body)
        except NotLeading:
            return again(body)

    return answer
