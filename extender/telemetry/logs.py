"""The log: one JSON line per decision and per thing that went wrong, on standard output. No secrets."""

import sys
from collections.abc import Mapping
from typing import Any, TextIO

import msgspec
import structlog

_encode = msgspec.json.Encoder(enc_hook=str).encode


def _render(_logger: Any, _name: str, event: Mapping[str, Any]) -> str:
    return _encode(event).decode()


Logger = structlog.typing.FilteringBoundLogger


def configure_logs(stream: TextIO | None = None, *, debug: bool = False) -> Logger:
    """The process's logger; ``debug`` lets admissions of single verbs through as well."""
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
