"""Phases of a gang, and the events that lead from one to the next (GANG-4 to GANG-20).

A table without any state. `GangProgress.move` is the only writer of a gang's phase.
"""

from collections.abc import Mapping
from enum import Enum

from core.errors import IllegalTransition


class GangPhase(Enum):
    """Progress of a gang (APP-10)."""

    RESERVING = "reserving"
    """Placeholders are created and get their nodes. No other pod of the application is placed."""
    STARTED = "started"
    """All placeholders had nodes, and members replace them (GANG-9)."""
    RESUMING = "resuming"
    """Placeholders timed out (GANG-16, Soft). The outcome is being written on the originator."""
    RESUMING_NOTED = "resuming, noted"
    """Outcome (Soft) is written on the originator, and the placeholders are deleted."""
    FAILING = "failing"
    """Placeholders timed out (GANG-16, Hard). The outcome is being written on the originator."""
    FAILING_NOTED = "failing, noted"
    """Outcome (Hard) is written. The placeholders are deleted, and then the members fail."""
    ORDINARY = "ordinary"
    """No gang any more: the application is placed like any other."""

    @property
    def shown(self) -> str:
        """Name of the phase in annotations and in REST. A noted phase has the name of the one before it."""
        return _SHOWN[self]


RESUMING = (GangPhase.RESUMING, GangPhase.RESUMING_NOTED)
FAILING = (GangPhase.FAILING, GangPhase.FAILING_NOTED)

_SHOWN: Mapping[GangPhase, str] = {
    GangPhase.RESERVING: "Reserving",
    GangPhase.STARTED: "Started",
    **dict.fromkeys(RESUMING, "Resuming"),
    **dict.fromkeys(FAILING, "Failing"),
    GangPhase.ORDINARY: "Ordinary",
}


class GangEvent(Enum):
    """Event in the life of a gang."""

    COMPLETED = "all placeholders have nodes"
    TIMED_OUT_SOFT = "placeholders timed out (Soft)"
    TIMED_OUT_HARD = "placeholders timed out (Hard)"
    DISBANDED = "no gang can be formed"
    WRITTEN = "outcome is on the originator"
    RELEASED = "no placeholder is left"
    FOUND_STARTED = "found started after a restart"
    FOUND_RESUMING = "found timed out (Soft) after a restart"
    FOUND_FAILING = "found timed out (Hard) after a restart"


INITIAL = GangPhase.RESERVING

NEXT: Mapping[tuple[GangPhase, GangEvent], GangPhase] = {
    (GangPhase.RESERVING, GangEvent.COMPLETED): GangPhase.STARTED,
    (GangPhase.RESERVING, GangEvent.TIMED_OUT_SOFT): GangPhase.RESUMING,
    (GangPhase.RESERVING, GangEvent.TIMED_OUT_HARD): GangPhase.FAILING,
    (GangPhase.RESERVING, GangEvent.DISBANDED): GangPhase.ORDINARY,
    (GangPhase.RESERVING, GangEvent.FOUND_STARTED): GangPhase.STARTED,
    (GangPhase.RESERVING, GangEvent.FOUND_RESUMING): GangPhase.RESUMING_NOTED,
    (GangPhase.RESERVING, GangEvent.FOUND_FAILING): GangPhase.FAILING_NOTED,
    (GangPhase.RESUMING, GangEvent.WRITTEN): GangPhase.RESUMING_NOTED,
    (GangPhase.RESUMING_NOTED, GangEvent.RELEASED): GangPhase.ORDINARY,
    (GangPhase.FAILING, GangEvent.WRITTEN): GangPhase.FAILING_NOTED,
}


def advance(phase: GangPhase, event: GangEvent) -> GangPhase:
    """Phase to which an event leads. Raises `IllegalTransition` if the table does not list it."""
    following = NEXT.get((phase, event))
    if following is None:
        raise IllegalTransition("gang", phase.value, event.value)
    return following
