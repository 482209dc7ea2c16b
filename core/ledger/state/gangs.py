"""State of gangs: the place of each pod in one, and the placeholders that are being replaced."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from core.ids import AppId, NodeName, PodUid
from core.workload.ask import Rank
from core.workload.gangs.progress import GangTally


class Role(Enum):
    """Role of a pod in its gang."""

    PENDING = "pending"
    """Placeholder without a node."""
    HELD = "held"
    """Placeholder that a member can replace."""
    LEAVING = "leaving"
    """Placeholder that is being replaced or deleted."""
    WANTING = "wanting"
    """Member that waits for a placeholder of its group."""
    WAITING = "waiting"
    """Any pod that waits for the gang."""


class InLine(NamedTuple):
    """Order in which gangs begin replacements, like that in which kube-scheduler reaches their members.

    ``stalled``: True if its replacements under way make no progress. ``priority``: of its first member,
    negated.
    """

    stalled: bool
    priority: int
    submitted: float
    app: AppId


class Place(NamedTuple):
    """Place of a pod in the gang of its application."""

    role: Role
    app: AppId
    group: str
    rank: Rank


@dataclass(slots=True)
class Gangs:
    """Places of pods in gangs, and replacements under way."""

    #: Place of each pod that is in a gang. Derived.
    places: dict[PodUid, Place] = field(default_factory=dict)
    #: Members with capacity on a node that is reserved for them alone. Derived.
    slots: dict[NodeName, set[PodUid]] = field(default_factory=dict)
    #: Node of each of those members, in the order of their links. Derived.
    slots_at: dict[PodUid, NodeName] = field(default_factory=dict)
    #: Nodes with slots on which anything has changed since the open ones were checked.
    unchecked: dict[NodeName, None] = field(default_factory=dict)
    #: Time at which members were linked whose placeholder still exists, in seconds. Derived.
    opening: dict[PodUid, float] = field(default_factory=dict)
    #: Gangs in which something has changed since their last check.
    touched: dict[AppId, None] = field(default_factory=dict)
    #: Gangs with a member that fits beside no placeholder, and fitted nowhere else at the last check.
    elsewhere: dict[AppId, None] = field(default_factory=dict)
    #: Gangs with members that may be linked as soon as fewer are under way.
    in_line: dict[AppId, InLine] = field(default_factory=dict)
    #: Heap of the gangs in line. The gang that goes next is first.
    line: list[InLine] = field(default_factory=list)
    #: Numbers of gangs since the start.
    tally: GangTally = field(default_factory=GangTally)
