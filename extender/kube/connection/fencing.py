"""Request bodies that check the right to act at the moment they are written to the connection (F-3).

A request may wait for a connection or for the event loop before it is written. If the process is stopped in
that time, another instance may act by the time it resumes. Headers are written together with the body.
"""

from collections.abc import Callable

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesPayload

from extender.kube.connection.api import KubeError


class HeldBack(KubeError):
    """Nothing was sent, because this instance may no longer act."""


class FencedBody(BytesPayload):
    """A body that is only sent if ``may_send`` returns True right before the first byte.

    ``held_back``: True after ``may_send`` returned False.
    """

    def __init__(self, body: bytes, may_send: Callable[[], bool]) -> None:
        super().__init__(body)
        self._may_send = may_send
        self.held_back = False

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Write the body, as aiohttp asks for. Raises `HeldBack` if it must not be sent."""
        if not self._may_send():
            self.held_back = True
            raise HeldBack
        await super().write_with_length(writer, content_length)
