"""State of preemption: victims, offers, attempts, and queues that give up pods."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from core.ids import NodeName, PodUid, QueuePath
from core.ledger.events import ChosenVictim

OFFERED_FOR = 5.0
"""Seconds in which kube-scheduler may take a plan it was told of."""


class Offer(NamedTuple):
    """A plan that kube-scheduler was told of and may carry out, since ``at`` (DESIGN-4)."""

    plan: str
    node: NodeName
    victims: tuple[ChosenVictim, ...]
    at: float

    @property
    def until(self) -> float:
        """Time at which it is withdrawn, in seconds."""
        return self.at + OFFERED_FOR


class Payer(NamedTuple):
    """Whose plans in vain are counted together. ``namespace``: empty for a queue that is configured."""

    queue: QueuePath
    namespace: str


class InVain(NamedTuple):
    """What is known of plans in vain: when the last were, and ``until`` when no plan is made.

    ``times``: waits in a row; ``reported``: an ask was told of the last one.
    """

    moments: tuple[float, ...] = ()
    times: int = 0
    until: float = 0.0
    reported: bool = False


class Stage(Enum):
    """How far a victim is on its way out."""

    OFFERED = "offered"
    """kube-scheduler was told of it and may take it; nothing is written."""
    CHOSEN = "chosen"
    MARKED = "marked"
    """It says on itself for whom it goes."""
    ASKED = "asked"
    """Its eviction was asked for, and perhaps is not answered yet."""


@dataclass(slots=True)
class Preemption:
    """Plans in flight, and what decides when the next one is made."""

    #: Victims by the ask, or the queue, that they go for, in the order chosen. Derived.
    victims: dict[PodUid | QueuePath, dict[PodUid, Stage]] = field(default_factory=dict)
    #: Plans that kube-scheduler was told of, by ask.
    offers: dict[PodUid, Offer] = field(default_factory=dict)
    #: Asks whose offer was withdrawn and whose victims are still to be spared.
    withdrawn: dict[PodUid, None] = field(default_factory=dict)
    #: Plans whose ask vanished, by who pays (F-25).
    in_vain: dict[Payer, InVain] = field(default_factory=dict)
    #: Number of plans in vain since the start.
    plans_in_vain: int = 0
    #: Number of waits for plans in vain since the start.
    waits_for_vain: int = 0
    #: Time at which an ask may next have a plan made for it, in seconds (PRE-5).
    attempts: dict[PodUid, float] = field(default_factory=dict)
    #: Asks that may have a plan made for them now.
    trying: dict[PodUid, None] = field(default_factory=dict)
    #: Number of times that asks were added to ``trying``.
    due_round: int = 0
    #: Queues whose pods are to go now.
    reclaims: dict[QueuePath, None] = field(default_factory=dict)
