"""The ledger's clock. It is read several times for each event, so this module is compiled."""

import time
from collections.abc import Callable
from typing import Final

# mypyc would look it up in its module each time.
_monotonic: Final = time.monotonic


def steady_clock() -> Callable[[], float]:
    """A clock of seconds since the epoch that is monotonic even if the wall clock is changed."""
    offset = time.time() - time.monotonic()
    return lambda: _monotonic() + offset
