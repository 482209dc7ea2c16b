"""The right to admit pods: only the instance beside the leading kube-scheduler has it (F-3).

Another instance may have admitted pods that this one does not know of yet. Calls for pods in no queue are
answered without the Lease.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from core.errors import PaddockError
from core.reasons import Code


class Lead(Protocol):
    """State of the Lease."""

    @property
    def held(self) -> bool:
        """True if this instance may admit now. Correct even right after the process was stopped."""
        ...

    @property
    def problem(self) -> str:
        """Why the Lease could not be read, as a constant text. Empty if it was read."""
        ...

    async def confirm(self) -> bool:
        """True if the Lease is held. If it seems not to be, it is read again, for at most a second."""
        ...


class NoLease:
    """The right to admit if no Lease is configured: the only instance always has it."""

    held = True
    problem = ""

    async def confirm(self) -> bool:
        """Return True."""
        return True


class NotLeading(PaddockError):
    """A call for a pod in a queue while another instance holds the Lease, or may hold it.

    kube-scheduler shows the text in the pod's Events.
    """

    def __init__(self, problem: str = "") -> None:
        super().__init__(f"{Code.NOT_READY}: not leading{': ' if problem else ''}{problem}")


def fenced(
    verb: Callable[[bytes], bytes], lead: Lead, instead: bytes | None = None
) -> Callable[[bytes], bytes | Awaitable[bytes]]:
    """A verb that is called again if a new leader finds that it holds the Lease.

    ``instead``: the answer if this instance does not lead. None raises `NotLeading` instead.
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
