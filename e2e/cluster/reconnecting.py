"""Calls that survive a dropped connection, so that a busy machine alone fails no run."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp

DEADLINE = 60.0
"""Seconds for which a call whose connection drops is tried again."""
PAUSE = 0.2
"""Seconds between two tries."""

DROPPED = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError)
"""Errors of a connection. An answer of the server is not one of them, whatever it says."""
NOT_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
"""Errors of `DROPPED` before which no byte of a request left."""

T = TypeVar("T")


async def persistent(call: Callable[[], Awaitable[T]], *, repeatable: bool) -> T:
    """Try a call until it is answered, for `DEADLINE` after its first drop. Raises the last one of `DROPPED`.

    ``repeatable``: True if a second request changes nothing. Others are only repeated if they were not sent.
    """
    until = float("inf")
    while True:
        try:
            return await call()
        except DROPPED as error:
            until = min(until, time.monotonic() + DEADLINE)
            if time.monotonic() >= until or not (repeatable or isinstance(error, NOT_SENT)):
                raise
        await asyncio.sleep(PAUSE)
