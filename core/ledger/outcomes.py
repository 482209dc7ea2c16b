"""What effects are for, and how they ended. Enumerations only."""

from enum import Enum
from typing import Literal


class Purpose(Enum):
    """The reason for an effect, which its outcome brings back: it says who goes on (goal 3 of the house)."""

    NODE_RESERVATION = "node reservation"
    """A node is reserved for an ask, or the ask is nominated to it."""
    PLAN = "plan"
    """A preemption plan is begun: its ask says which node it gets, and by which plan."""
    VICTIM = "victim"
    """A victim says for which preemptor it goes, or is asked to go."""
    REPLACEMENT = "replacement"
    """A member of a gang takes over the capacity of a placeholder, which is deleted for it."""
    GANG_PHASE = "gang phase"
    """The originator says what has become of its gang."""
    WITHDRAWAL = "withdrawal"
    """What was written before holds no more. Nothing waits for the outcome."""
    LABELS = "labels"
    """A pod says what its labels were when it was taken in. Nothing waits for the outcome."""


RecordPurpose = Literal[
    Purpose.NODE_RESERVATION,
    Purpose.PLAN,
    Purpose.VICTIM,
    Purpose.REPLACEMENT,
    Purpose.GANG_PHASE,
    Purpose.WITHDRAWAL,
    Purpose.LABELS,
]
NominationPurpose = Literal[Purpose.NODE_RESERVATION, Purpose.REPLACEMENT, Purpose.WITHDRAWAL]
RemovalPurpose = Literal[Purpose.VICTIM, Purpose.REPLACEMENT]


class Answer(Enum):
    """How an effect ended, whatever it was."""

    DONE = "done"
    """The API server has done it, or has begun it."""
    NOT_FOUND = "gone"
    """The object is not there any more, or another one has its name."""
    BUDGET = "budget"
    """A PodDisruptionBudget does not allow it now."""
    REFUSED = "refused"
    """The API server does not take it, and would not a second time."""
    FAILED = "failed"
    """It was not asked for, or its fate is not known."""


class EvictionOutcome(Enum):
    """How an eviction, or a deletion on our account, ended."""

    DONE = "done"
    """The API server has begun it; the watch tells when the pod is gone."""
    BUDGET = "budget"
    """A PodDisruptionBudget does not allow it now."""
    NOT_FOUND = "gone"
    """The pod is not there any more, or another one has its name."""
    FAILED = "failed"
    """It was not asked for, was refused, or nobody knows: the watch will tell."""


class CreationOutcome(Enum):
    """How the creation of a placeholder ended."""

    DONE = "done"
    """It is there, made now or before."""
    REFUSED = "refused"
    """The API server does not take it, and would not a second time (GANG-4)."""
    FAILED = "failed"
    """It was not asked for, or nobody knows: it may be asked for again."""
