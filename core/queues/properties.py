"""Properties of a queue: their meaning, and their inheritance (Q-4 to Q-6)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from core.durations import seconds_of

SORT_POLICY = "application.sort.policy"
SORT_PRIORITY = "application.sort.priority"
PRIORITY_POLICY = "priority.policy"
PRIORITY_OFFSET = "priority.offset"
PREEMPTION_POLICY = "preemption.policy"
PREEMPTION_DELAY = "preemption.delay"
QUOTA_PREEMPTION_DELAY = "quota.preemption.delay"
UNSCHEDULED_BACKOFF = "application.unschedasks.backoff"
UNSCHEDULED_DELAY = "application.unschedasks.backoff.delay"
EXECUTION_TIMEOUT = "application.execution.timeout"
EXECUTION_BAR = "application.execution.bar"

DEFAULT_DELAY = 30.0
"""Default of ``preemption.delay`` and of ``application.unschedasks.backoff.delay``, in seconds."""

_INT32 = range(-(2**31), 2**31)
_UINT64 = range(2**64)
_INTEGER = re.compile(r"([+-]?)([0-9]+)")
_DIGITS = re.compile(r"()([0-9]+)")
_MOST_DIGITS = 20
"""Digits after the zeros in front, of which there may be any number (C6): 64 bits need no more."""

Known = TypeVar("Known")


class SortPolicy(StrEnum):
    """Order of the applications of a leaf, or of the children of a parent (SORT)."""

    FIFO = "fifo"
    FAIR = "fair"
    STATE_AWARE = "stateaware"


class PreemptionPolicy(StrEnum):
    """Value of ``preemption.policy`` (PRE-2)."""

    DEFAULT = "default"
    FENCE = "fence"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class QueueProperties:
    """Properties in force in one queue. Delays are in seconds.

    ``sort_by_priority``: ``application.sort.priority``. ``priority_fence``: ``priority.policy: fence``.
    ``quota_preemption_delay``: 0 for off. ``unscheduled_backoff``: asks without a node that begin an
    application's back-off; 0 for never. ``execution_timeout``: time for which an application may run; None
    for no limit. ``execution_bar``: time for which its id waits after that; None if the queue says nothing.
    """

    sort_policy: SortPolicy = SortPolicy.FIFO
    sort_by_priority: bool = True
    priority_fence: bool = False
    priority_offset: int = 0
    preemption: PreemptionPolicy = PreemptionPolicy.DEFAULT
    preemption_delay: float = DEFAULT_DELAY
    quota_preemption_delay: float = 0.0
    unscheduled_backoff: int = 0
    unscheduled_delay: float = DEFAULT_DELAY
    execution_timeout: float | None = None
    execution_bar: float | None = None


def inherited(parent: Mapping[str, str], own: Mapping[str, str]) -> Mapping[str, str]:
    """Properties of a configured queue: the inheritable part of its parent's, overlaid by its own (Q-5).

    Other properties have their defaults. Unknown keys are inherited.
    """
    return {**{key: _passed_down(key, value) for key, value in parent.items()}, **own}


def _passed_down(key: str, value: str) -> str:
    match key:
        case "priority.policy":
            return "default"
        case "priority.offset":
            return "0"
        case "preemption.policy":
            return value if value.lower() == PreemptionPolicy.DISABLED else PreemptionPolicy.DEFAULT.value
        case _:
            return value


def properties_from(values: Mapping[str, str], *, is_leaf: bool) -> QueueProperties:
    """Meaning of a queue's properties. A value that cannot be read gets its default (Q-4)."""
    return QueueProperties(
        sort_policy=_sort_policy(values.get(SORT_POLICY, "")) if is_leaf else SortPolicy.FAIR,
        sort_by_priority=values.get(SORT_PRIORITY, "").lower() != "disabled",
        priority_fence=values.get(PRIORITY_POLICY, "").lower() == "fence",
        priority_offset=_read(values, PRIORITY_OFFSET, _int32, 0),
        preemption=_preemption_policy(values.get(PREEMPTION_POLICY, "")),
        preemption_delay=_read(values, PREEMPTION_DELAY, _positive, DEFAULT_DELAY)
        if is_leaf
        else DEFAULT_DELAY,
        quota_preemption_delay=_read(values, QUOTA_PREEMPTION_DELAY, _positive, 0.0),
        unscheduled_backoff=_read(values, UNSCHEDULED_BACKOFF, _uint64, 0),
        unscheduled_delay=_read(values, UNSCHEDULED_DELAY, _positive, DEFAULT_DELAY),
        execution_timeout=_read(values, EXECUTION_TIMEOUT, _positive, None),
        execution_bar=_read(values, EXECUTION_BAR, _not_negative, None),
    )


def readable(key: str, value: str) -> bool | None:
    """True if a value is valid for its key. None for an unknown key."""
    match key:
        case "application.sort.policy":
            return value in set(SortPolicy)
        case "application.sort.priority":
            return value.lower() in ("enabled", "disabled")
        case "priority.policy":
            return value.lower() in ("default", "fence")
        case "preemption.policy":
            return value.lower() in set(PreemptionPolicy)
        case "priority.offset":
            return _reads(_int32, value)
        case "application.unschedasks.backoff":
            return _reads(_uint64, value)
        case "application.execution.timeout":
            return _reads(_positive, value)
        case "application.execution.bar":
            return _reads(_not_negative, value)
        case "preemption.delay" | "quota.preemption.delay" | "application.unschedasks.backoff.delay":
            return _reads(_positive, value)
        case _:
            return None


def _sort_policy(text: str) -> SortPolicy:
    return SortPolicy(text) if text in set(SortPolicy) else SortPolicy.FIFO


def _preemption_policy(text: str) -> PreemptionPolicy:
    folded = text.lower()
    return PreemptionPolicy(folded) if folded in set(PreemptionPolicy) else PreemptionPolicy.DEFAULT


def _read(values: Mapping[str, str], key: str, read: Callable[[str], Known], otherwise: Known) -> Known:
    text = values.get(key)
    if text is None:
        return otherwise
    try:
        return read(text)
    except ValueError:
        return otherwise


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _int32(text: str) -> int:
    return _within(text, _INTEGER, _INT32)


def _uint64(text: str) -> int:
    return _within(text, _DIGITS, _UINT64)


def _within(text: str, pattern: re.Pattern[str], allowed: range) -> int:
    found = pattern.fullmatch(text)
    digits = found[2].lstrip("0") if found else ""
    if found is None or len(digits) > _MOST_DIGITS or int(found[1] + (digits or "0")) not in allowed:
        raise ValueError("is not a number of that size")
    return int(found[1] + (digits or "0"))


def _not_negative(text: str) -> float:
    seconds = seconds_of(text)
    if seconds < 0:
        raise ValueError("must not be below zero")
    return seconds


def _positive(text: str) -> float:
    seconds = seconds_of(text)
    if seconds <= 0:
        raise ValueError("must be above zero")
    return seconds
