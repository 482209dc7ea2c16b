"""Answers of rules: values with a reason, and the events that the engine applies before it answers."""

from dataclasses import dataclass
from typing import Final

from core.decisions.preemption.receipts import Plan
from core.ids import NodeName
from core.ledger.events import Event
from core.reasons import Refusal, SentRefusal


@dataclass(frozen=True, slots=True)
class Ignored:
    """Unmanaged: the pod passes through untouched."""


@dataclass(init=False, slots=True)
class Admitted:
    """The pod may be placed. ``besides``: offered nodes that are reserved for other asks."""

    events: Final[tuple[Event, ...]]
    besides: Final[tuple[NodeName, ...]]

    def __init__(self, events: tuple[Event, ...], besides: tuple[NodeName, ...] = ()) -> None:
        self.events = events
        self.besides = besides


@dataclass(frozen=True, slots=True)
class Refused:
    """The pod must wait. ``sent``: refusal to send. ``events``: events to apply."""

    refusal: Refusal
    sent: SentRefusal
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Faulted:
    """The call itself is wrong: the pod was deleted, is already bound, or has another UID."""

    message: str


@dataclass(frozen=True, slots=True)
class Offered:
    """Plan that kube-scheduler may carry out. ``violations``: victims whose budgets allow no disruption."""

    plan: Plan
    violations: int


@dataclass(frozen=True, slots=True)
class Vetoed:
    """No preemption for this pod: no victim would help it."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class Withheld:
    """No preemption through kube-scheduler for this pod, now."""


@dataclass(init=False, slots=True)
class BindNow:
    """The Binding may be posted."""

    events: Final[tuple[Event, ...]]

    def __init__(self, events: tuple[Event, ...]) -> None:
        self.events = events


@dataclass(frozen=True, slots=True)
class BindWaits:
    """The Binding must wait for the other members of the pod group. The ledger says when it may be posted."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class BoundAlready:
    """The pod is already bound to the requested node."""


Band = tuple[int, tuple[NodeName, ...]]
"""Score and the nodes that have it. A higher score is better."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of the offered nodes by a policy, best first. No node occurs twice."""

    policy: str
    bands: tuple[Band, ...]

    def by_name(self) -> dict[NodeName, int]:
        """Score of each node."""
        return {name: score for score, names in self.bands for name in names}


@dataclass(frozen=True, slots=True)
class Unscored:
    """No scores. The document names no policy, so kube-scheduler chooses among the nodes."""


Admission = Ignored | Admitted | Refused | Faulted
Preemption = Ignored | Offered | Vetoed | Withheld | Faulted
Scoring = Ignored | Scored | Unscored
Binding = Ignored | BindNow | BindWaits | BoundAlready | Refused | Faulted
