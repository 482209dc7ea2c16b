"""The log: one JSON line per decision and per thing that went wrong, on standard output. No secrets."""

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec
import structlog

_encode = msgspec.json.Encoder(enc_hook=str).encode

FLUSH_DELAY = 0.05
"""Seconds that a decision's line may wait, so that writing it costs the answer nothing."""

Logger = structlog.typing.FilteringBoundLogger
Later = Callable[[float, Callable[[], None]], object]


def _render(_logger: Any, _name: str, event: Mapping[str, Any]) -> str:
    return _encode(event).decode()


def configure_logs(stream: TextIO | None = None, *, debug: bool = False) -> Logger:
    """The process's logger for everything but decisions."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger("debug" if debug else "info"),
        logger_factory=structlog.PrintLoggerFactory(stream or sys.stdout),
        cache_logger_on_first_use=False,
    )
    logger: Logger = structlog.get_logger()
    return logger


class Decided(msgspec.Struct):
    """A decision's line; ``timestamp`` is filled in when it is written."""

    verb: str
    code: str
    detail: str
    namespace: str
    pod: str
    uid: str
    application: str
    timestamp: str = ""
    event: str = "decision"
    level: str = "info"


class DecisionLog:
    """Lines of decisions, encoded and written a moment after the answer has gone, in one piece."""

    def __init__(self, later: Later, stream: TextIO | None = None) -> None:
        self._later = later
        self._stream = stream
        self._waiting: list[tuple[float, Decided]] = []

    def add(self, line: Decided, *, now: float) -> None:
        self._waiting.append((now, line))
        if len(self._waiting) == 1:
            self._later(FLUSH_DELAY, self.flush)

    def flush(self) -> None:
        """Write what waits. The stream is looked up here: it may be replaced while we run."""
        waiting, self._waiting = self._waiting, []
        for at, line in waiting:
            line.timestamp = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
        text = b"".join(_encode(line) + b"\n" for _, line in waiting).decode()
        stream = self._stream or sys.stdout
        stream.write(text)
        stream.flush()
