"""Purposes and outcomes of effects. Enumerations only."""

from enum import Enum
from typing import Literal


class Purpose(Enum):
    """Purpose of an effect, which its outcome brings back to route it to one owner."""

    NODE_RESERVATION = "node reservation"
    """A node is reserved for an ask, or the ask is nominated to it."""
    PLAN = "plan"
    """A preemption plan begins: its ask is annotated with its node and its plan."""
    VICTIM = "victim"
    """A victim is annotated with its preemptor, or evicted."""
    REPLACEMENT = "replacement"
    """A member of a gang replaces a placeholder, which is deleted for it."""
    ENDING = "ending"
    """The application of a pod was ended by an administrator."""
    EXECUTION = "execution"
    """The time at which an application began to run, and its end, are written on pods (ACT-41)."""
    GANG_PHASE = "gang phase"
    """The outcome of a gang is written on its originator."""
    WITHDRAWAL = "withdrawal"
    """An earlier annotation does not hold any more. Nothing waits for the outcome."""
    LABELS = "labels"
    """The first labels of a pod are written on it. Nothing waits for the outcome."""


RecordPurpose = Literal[
    Purpose.NODE_RESERVATION,
    Purpose.PLAN,
    Purpose.VICTIM,
    Purpose.REPLACEMENT,
    Purpose.EXECUTION,
    Purpose.GANG_PHASE,
    Purpose.WITHDRAWAL,
    Purpose.LABELS,
]
NominationPurpose = Literal[Purpose.NODE_RESERVATION, Purpose.REPLACEMENT, Purpose.WITHDRAWAL]
RemovalPurpose = Literal[Purpose.VICTIM, Purpose.REPLACEMENT, Purpose.ENDING]


class Answer(Enum):
    """End of any effect."""

    DONE = "done"
    """Done or begun by the API server."""
    NOT_FOUND = "gone"
    """Object not found, or another object has its name."""
    BUDGET = "budget"
    """Not allowed now by a PodDisruptionBudget."""
    REFUSED = "refused"
    """Rejected by the API server, which would reject it again."""
    FAILED = "failed"
    """Not requested, or its fate is unknown."""


class EvictionOutcome(Enum):
    """End of an eviction, or of a deletion by Paddock."""

    DONE = "done"
    """Begun by the API server. The watch shows when the pod is deleted."""
    BUDGET = "budget"
    """Not allowed now by a PodDisruptionBudget."""
    NOT_FOUND = "gone"
    """Pod not found, or another pod has its name."""
    FAILED = "failed"
    """Not requested, rejected, or unknown: the watch will tell."""


class CreationOutcome(Enum):
    """End of the creation of a placeholder."""

    DONE = "done"
    """Exists, created now or before."""
    REFUSED = "refused"
    """Rejected by the API server, which would reject it again (GANG-4)."""
    FAILED = "failed"
    """Not requested, or unknown: it may be requested again."""
