"""Log lines about invalid HTTP requests: one line each, limited in rate, without a traceback (F-21)."""

import logging
import time
from collections.abc import Callable

APART = 10.0
"""Seconds between two lines. Any client of the port can send thousands of such requests."""

_LONGEST = 200


class OneLine(logging.Filter):
    """Filter that passes one record in `APART` seconds, with its exception on the same line."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._next = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        """True if a record may pass. The record is shortened to one line."""
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + APART
        error = record.exc_info[1] if record.exc_info else None
        said = record.getMessage() + (f": {type(error).__name__}: {error}" if error is not None else "")
        # The exception contains parts of the request, so its text is escaped and shortened.
        record.msg, record.args = repr(said[:_LONGEST]), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def complaints() -> logging.Logger:
    """Return a logger for one listener. By default it writes to stderr."""
    logger = logging.Logger("extender.http")
    logger.parent = logging.getLogger()
    logger.addFilter(OneLine())
    return logger
