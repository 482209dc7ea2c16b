"""Execution time-outs: the time for which an application may run, and its record (ACT-40). Pure."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from core.durations import seconds_of
from core.ids import PodUid
from core.instants import rfc3339, seconds_of_rfc3339

WARNED_AT = 0.9
"""Part of the time that is over when the Event warns (ACT-43)."""

LEAST_NOTICE = 300.0
"""Seconds that a running application keeps at least when its time becomes shorter (ACT-44)."""

SKEW_ALLOWED = 5.0
"""Seconds by which the clocks of Paddock and of the API server may differ without effect (ACT-45)."""

LONGEST_RECORD = 200
"""Characters of an annotation that is read. Paddock's own are shorter."""

_LATEST = 253_402_300_799.0
"""End of the year 9999, in seconds since the epoch. No time of a record is later."""


class ExecutionRecord(NamedTuple):
    """Part of a time-out that must survive a restart, as pods carry it. Times: seconds since the epoch."""

    #: Time at which the application first ran.
    since: float
    #: End of its time, as it was announced; None if none was.
    ends: float | None = None
    #: Time that its originator asked for, in seconds; None if it asked for none.
    asked: float | None = None
    #: Creation of its youngest pod at the end of its time; None before that.
    through: float | None = None


@dataclass(init=False, slots=True)
class Execution:
    """Time-out of an application that runs, or did."""

    #: End of its time, in seconds since the epoch; None while nothing limits it.
    ends: float | None
    #: Time that its originator asked for, in seconds; the shortest of all that it ever named. None for none.
    asked: float | None
    #: Creation of its youngest pod when its time was over, in seconds since the epoch; None before that.
    through: float | None
    #: True once an Event has warned that the end is near.
    warned: bool
    #: True once an Event has told that the annotation cannot be read.
    complained: bool
    #: Time of the last Event about a shorter time, in seconds since the epoch; None if there was none.
    shortened_at: float | None
    #: Pods on which the record is being written, and the record. None if nothing is.
    writing: tuple[tuple[PodUid, ...], ExecutionRecord] | None
    #: Time at which the write is repeated, in seconds since the epoch; None if nothing is being written.
    write_at: float | None
    #: Number of writes in a row that were not confirmed.
    unconfirmed: int
    #: Record that a pod is known to carry; None for none.
    confirmed: ExecutionRecord | None

    def __init__(self) -> None:
        self.ends = None
        self.asked = None
        self.through = None
        self.warned = False
        self.complained = False
        self.shortened_at = None
        self.writing = None
        self.write_at = None
        self.unconfirmed = 0
        self.confirmed = None

    @property
    def is_blank(self) -> bool:
        """True if it says no more than a new one."""
        # Cheaper than to compare it with a new one, for each event of a pod that runs.
        return (
            self.ends is None
            and self.asked is None
            and self.through is None
            and not self.warned
            and not self.complained
            and self.shortened_at is None
            and self.writing is None
            and self.write_at is None
            and self.unconfirmed == 0
            and self.confirmed is None
        )


def asked_for(text: str) -> float | None:
    """Seconds that an annotation asks for. None for a text that is no duration above zero."""
    try:
        seconds = seconds_of(text)
    except ValueError:
        return None
    return seconds if seconds > 0 else None


def shortest(times: Iterable[float | None]) -> float | None:
    """Shortest of several times. None means without limit."""
    return min((each for each in times if each is not None), default=None)


def end_announced(target: float, known: float | None, *, is_new: bool, now: float) -> float:
    """End of an application's time, which never comes upon it without notice (ACT-44).

    ``target``: end by the limits in force. ``known``: end that was announced, or None. ``is_new``: True if
    the application begins to run now.
    """
    if is_new or (known is not None and target >= known):
        return target
    notice = now + LEAST_NOTICE
    return max(target, notice if known is None else min(known, notice))


def warned_from(since: float, ends: float) -> float:
    """Time at which the warning is due, in seconds since the epoch."""
    return since + WARNED_AT * (ends - since)


def ahead(skew: float) -> float:
    """Seconds by which the API server's clock is ahead, as far as that counts. Never below 0."""
    return skew if skew > SKEW_ALLOWED else 0.0


def behind(skew: float) -> float:
    """Seconds by which the API server's clock is behind, as far as that counts. Never below 0."""
    return -skew if skew < -SKEW_ALLOWED else 0.0


# -- annotations -----------------------------------------------------------------------------------------


def since_text(record: ExecutionRecord) -> str:
    """Text of ``paddock.dev/running-since``."""
    return rfc3339(record.since)


def execution_text(record: ExecutionRecord) -> str | None:
    """Text of ``paddock.dev/execution``. None if there is nothing to say."""
    parts = {"asked": record.asked, "ends": record.ends, "through": record.through}
    known = {key: value for key, value in parts.items() if value is not None}
    return json.dumps(known, separators=(",", ":")) if known else None


def record_from(since: str, execution: str) -> ExecutionRecord | None:
    """Record that the two annotations hold. None for texts that Paddock does not write."""
    began = seconds_of_rfc3339(since)
    found = _numbers(execution) if execution else {}
    if began is None or found is None:
        return None
    return ExecutionRecord(began, found.get("ends"), found.get("asked"), found.get("through"))


def _numbers(text: str) -> dict[str, float] | None:
    try:
        found = json.loads(text) if len(text) <= LONGEST_RECORD else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not all(map(_is_time, found.values())):
        return None
    return {str(key): float(value) for key, value in found.items()}


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LATEST
