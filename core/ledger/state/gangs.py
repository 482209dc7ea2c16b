"""State of gangs: the place of each pod in one, and the placeholders that are being replaced."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from core.ids import AppId, NodeName, PodUid
from core.workload.ask import Rank
from core.workload.gangs.progress import GangTally


class Role(Enum):
    """What a pod is to its gang now."""

    PENDING = "pending"
    """A placeholder without a node."""
    HELD = "held"
    """A placeholder whose room is there to be taken over."""
    LEAVING = "leaving"
    """A placeholder that is taken over, or taken back."""
    WANTING = "wanting"
    """A member that waits for a placeholder of its group."""
    WAITING = "waiting"
    """Any pod that waits for the gang."""


class InLine(NamedTuple):
    """When a gang takes over, among others that could: as kube-scheduler comes to its members.

    ``stalled``: what it has begun does not get on; ``priority``: of its first member, turned round.
    """

    stalled: bool
    priority: int
    submitted: float
    app: AppId


class Place(NamedTuple):
    """Where a pod stands in the gang of its application."""

    role: Role
    app: AppId
    group: str
    rank: Rank


@dataclass(slots=True)
class Gangs:
    """Places of pods in gangs, and replacements under way."""

    #: Place of each pod that is in a gang. Derived.
    places: dict[PodUid, Place] = field(default_factory=dict)
    #: Members for which a node has room that is theirs alone. Derived.
    slots: dict[NodeName, set[PodUid]] = field(default_factory=dict)
    #: Node of each of those members, in the order of their links. Derived.
    slots_at: dict[PodUid, NodeName] = field(default_factory=dict)
    #: Nodes with slots on which anything has changed since the open ones were checked.
    unchecked: dict[NodeName, None] = field(default_factory=dict)
    #: Time at which members were linked whose placeholder is there yet, in seconds. Derived.
    opening: dict[PodUid, float] = field(default_factory=dict)
    #: Gangs in which something has changed since they were looked at.
    touched: dict[AppId, None] = field(default_factory=dict)
    #: Gangs with a member that fits beside no placeholder, nor anywhere else when last looked at.
    elsewhere: dict[AppId, None] = field(default_factory=dict)
    #: Gangs with members that may be linked as soon as fewer are under way.
    in_line: dict[AppId, InLine] = field(default_factory=dict)
    #: The same as a heap: the gang that goes next is first.
    line: list[InLine] = field(default_factory=list)
    #: Numbers of what became of gangs.
    tally: GangTally = field(default_factory=GangTally)
