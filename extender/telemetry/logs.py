"""The log: JSON lines on standard output about decisions and errors. It contains no secrets."""

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import msgspec
import structlog

from core.ids import PodUid
from extender.telemetry.decided import Decided

_encode = msgspec.json.Encoder(enc_hook=str).encode

FLUSH_DELAY: Final = 0.05
"""Seconds for which a decision's line is held back, so that writing it does not delay the answer."""

Logger = structlog.typing.FilteringBoundLogger
Later = Callable[[float, Callable[[], None]], object]


def _render(_logger: Any, _name: str, event: Mapping[str, Any]) -> str:
    return _encode(event).decode()


def configure_logs(stream: TextIO | None = None, *, debug: bool = False) -> Logger:
    """Set up and return the logger of the process, which is used for everything but decisions.

    ``stream``: None for standard output. ``debug``: True to include lines of level debug.
    """
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


PODS: Final = 20_000
"""Pods whose verdicts are stored, at most. The pods with the oldest verdicts are dropped first."""


class LastVerdicts:
    """The last verdict for each pod and verb. Memory: about 0.5 KB for a pod."""

    def __init__(self, *, pods: int = PODS) -> None:
        self._pods = pods
        self._verdicts: OrderedDict[PodUid, dict[str, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._verdicts)

    def is_new(self, uid: PodUid, verb: str, verdict: tuple[str, str]) -> bool:
        """Store a verdict. True if it differs from the verb's last one for this pod, or is the first."""
        verdicts = self._verdicts.get(uid)
        if verdicts is None:
            verdicts = self._verdicts[uid] = {}
            if len(self._verdicts) > self._pods:
                self._verdicts.popitem(last=False)
        else:
            self._verdicts.move_to_end(uid)
        # The texts of a verdict may be long, so only a hash is stored.
        known, verdicts[verb] = verdicts.get(verb), hash(verdict)
        return known != verdicts[verb]

    def drop(self, uid: PodUid) -> None:
        """Forget a pod."""
        self._verdicts.pop(uid, None)


class DecisionLog:
    """Lines of decisions. They are encoded and written together, a moment after the answers were sent.

    ``later(seconds, call)``: calls back on the same thread. ``stream``: None for standard output.
    """

    def __init__(self, later: Later, stream: TextIO | None = None) -> None:
        self._later = later
        self._stream = stream
        self._waiting: list[tuple[float, Decided]] = []
        # Most lines are of the same second as the line before, whose text is kept.
        self._second, self._second_text = -1, ""

    def add(self, line: Decided, *, now: float) -> None:
        """Add a line. ``now``: seconds since the epoch."""
        self._waiting.append((now, line))
        if len(self._waiting) == 1:
            self._later(FLUSH_DELAY, self.flush)

    def flush(self) -> None:
        """Write all lines that were added."""
        # Standard output may be replaced while Paddock runs, so it is looked up each time.
        waiting, self._waiting = self._waiting, []
        for at, line in waiting:
            line.timestamp = self._timestamp(at)
        text = b"".join([_encode(line) + b"\n" for _, line in waiting]).decode()
        stream = self._stream or sys.stdout
        stream.write(text)
        stream.flush()

    def _timestamp(self, at: float) -> str:
        """Text of a time in UTC, with microseconds (RFC 3339)."""
        second = int(at)
        microseconds = int((at - second) * 1_000_000 + 0.5)
        if microseconds == 1_000_000:
            second, microseconds = second + 1, 0
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        # The digits of a number with one more of them: mypyc leaves a format to the interpreter.
        return f"{self._second_text}.{str(1_000_000 + microseconds)[1:]}+00:00"
