"""A request body that is looked at once more in the moment in which it is written to the connection (F-3).

Before that a request may wait: for a free connection, for a new one, for the loop. If the process is stopped
there, it goes on after another instance has begun to act. Headers are written together with the body.
"""

from collections.abc import Callable

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesPayload

from extender.kube.connection.api import KubeError


class HeldBack(KubeError):
    """Nothing was sent, since this instance may not act any more."""


class FencedBody(BytesPayload):
    """``may_go``: asked right before the first byte. ``held_back``: it said no."""

    def __init__(self, body: bytes, may_go: Callable[[], bool]) -> None:
        super().__init__(body)
        self._may_go = may_go
        self.held_back = False

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        if not self._may_go():
            self.held_back = True
            raise HeldBack
        await super().write_with_length(writer, content_length)
