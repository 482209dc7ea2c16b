"""State of preemption: victims, offers, attempts, and queues that give up pods."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from core.ids import NodeName, PodUid, QueuePath
from core.ledger.events import ChosenVictim

OFFERED_FOR = 5.0
"""Seconds in which kube-scheduler may take an offered plan."""


class Offer(NamedTuple):
    """A plan offered to kube-scheduler at ``at``, which it may carry out (DESIGN-4)."""

    plan: str
    node: NodeName
    victims: tuple[ChosenVictim, ...]
    at: float

    @property
    def until(self) -> float:
        """Time at which the offer is withdrawn, in seconds."""
        return self.at + OFFERED_FOR


class Payer(NamedTuple):
    """Key under which plans in vain are counted. ``namespace``: empty for a configured queue."""

    queue: QueuePath
    namespace: str


class InVain(NamedTuple):
    """Record of plans in vain: times of the last ones, and ``until``, before which no plan is made.

    ``times``: waits in a row. ``reported``: True if an Event on an ask reported the last wait.
    """

    moments: tuple[float, ...] = ()
    times: int = 0
    until: float = 0.0
    reported: bool = False


class Stage(Enum):
    """Progress of a victim."""

    OFFERED = "offered"
    """Offered to kube-scheduler, which may take it. Nothing is written."""
    CHOSEN = "chosen"
    MARKED = "marked"
    """Annotated with the ask that it is a victim of."""
    ASKED = "asked"
    """Eviction requested, and perhaps not answered yet."""


@dataclass(slots=True)
class Preemption:
    """Plans in flight, and the data that decides when the next one is made."""

    #: Victims by their ask or queue, in the order in which they were chosen. Derived.
    victims: dict[PodUid | QueuePath, dict[PodUid, Stage]] = field(default_factory=dict)
    #: Plans offered to kube-scheduler, by ask.
    offers: dict[PodUid, Offer] = field(default_factory=dict)
    #: Asks whose offer was withdrawn and whose victims are still to be released.
    withdrawn: dict[PodUid, None] = field(default_factory=dict)
    #: Plans whose ask vanished, by the queue that is charged (F-25).
    in_vain: dict[Payer, InVain] = field(default_factory=dict)
    #: Number of plans in vain since the start.
    plans_in_vain: int = 0
    #: Number of waits for plans in vain since the start.
    waits_for_vain: int = 0
    #: Earliest time of the next plan for an ask, in seconds (PRE-5).
    attempts: dict[PodUid, float] = field(default_factory=dict)
    #: Asks that may have a plan made for them now.
    trying: dict[PodUid, None] = field(default_factory=dict)
    #: Number of times that asks were added to ``trying``.
    due_round: int = 0
    #: Queues whose pods are to be evicted now.
    reclaims: dict[QueuePath, None] = field(default_factory=dict)
