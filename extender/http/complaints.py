"""Reports of aiohttp on requests that are no HTTP: one line, now and then, and no traceback (F-21)."""

import logging
import time
from collections.abc import Callable

APART = 10.0
"""Seconds between two lines: whoever reaches the port can send a thousand such requests a second."""

_LONGEST = 200


class OneLine(logging.Filter):
    """Lets one record pass in `APART` seconds, with its exception as a part of the line."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._next = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        """True for a record that is due, which then is one line."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + APART
        error = record.exc_info[1] if record.exc_info else None
        said = record.getMessage() + (f": {type(error).__name__}: {error}" if error is not None else "")
        # The request is in it, with whatever it holds.
        record.msg, record.args = repr(said[:_LONGEST]), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def complaints() -> logging.Logger:
    """A logger for one listener. By default it writes to stderr."""
    logger = logging.Logger("extender.http")
    logger.parent = logging.getLogger()
    logger.addFilter(OneLine())
    return logger
