"""How what was asked of the API server has ended. Enumerations only."""

from enum import Enum


class EvictionOutcome(Enum):
    """How an eviction, or a deletion on our account, ended."""

    DONE = "done"
    """The API server has begun it; the watch tells when the pod is gone."""
    BUDGET = "budget"
    """A PodDisruptionBudget does not allow it now."""
    GONE = "gone"
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
