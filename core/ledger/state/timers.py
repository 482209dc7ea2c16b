"""Timers: what ends by itself, and when."""

from dataclasses import dataclass, field
from enum import IntEnum

from core.ids import AppId


class TimerKind(IntEnum):
    """What a timer is about, in the order in which timers of one time are handled."""

    GANG = 1
    """A gang is to be looked at again."""
    APPLICATION_STATE = 2
    """The state of an application ends."""


@dataclass(slots=True)
class Timers:
    """Timers of the kinds in `TimerKind`; other modules still keep times of their own."""

    #: Time at which a timer expires, in seconds since the epoch.
    due: dict[tuple[TimerKind, AppId], float] = field(default_factory=dict)
    #: Heap of (time, kind, key), the earliest first. Entries `due` contradicts are void; the first is not.
    heap: list[tuple[float, TimerKind, AppId]] = field(default_factory=list)
