"""Timers: what ends by itself, and when."""

from dataclasses import dataclass, field
from enum import IntEnum, auto

from core.ids import AppId, PodUid
from core.workload.pod_group import GroupKey


class TimerKind(IntEnum):
    """What a timer is about. `TimePassed` handles the kinds in an order of its own."""

    GANG = auto()
    """A gang is to be looked at again."""
    OFFER = auto()
    """The offer for an ask ends."""
    NODE_RESERVATION = auto()
    """The node reserved for an ask is released."""
    ATTEMPT = auto()
    """A plan may be made for an ask, of all those that wait for one."""
    QUOTA_RECLAIM = auto()
    """Pods of a queue go because its quota shrank. Stopped while quotas do not preempt."""
    AGE = auto()
    """An ask is old enough for a node reservation, of all those that wait."""
    USER_GROUPS = auto()
    """What a resolver said of the groups of a user is not used any more."""
    APPLICATION_STATE = auto()
    """The state of an application ends."""
    PROVISIONAL = auto()
    """The body of a verb is not believed any more, unless something has shown the same."""
    DOUBT = auto()
    """An act of Paddock that no list has shown is over. Stands still until the watch has caught up."""
    REJECTION = auto()
    """A pod is told of the rejection of its application and marked, for the first time or again (APP-8)."""
    NAMESPACE = auto()
    """An application waits no longer for its namespace."""
    RESERVATION = auto()
    """The quota reservation of a pod is over."""
    CYCLE = auto()
    """The next cycle has something to do."""
    TURN = auto()
    """The lease of a turn is over. Stopped while no other ask would have the capacity."""
    REFUSED_TURN = auto()
    """The lease of a turn is over, of an ask that was refused."""
    UNADMITTED = auto()
    """A pod that was never admitted is to be reported (F-7). Stopped while this instance reports none."""
    UNPLACED = auto()
    """A pod without a node is to be reported (F-2). Stopped like that."""
    GANG_SLOT = auto()
    """The open slot of a member is to be checked."""
    GANG_LINE = auto()
    """Replacements under way stop other gangs no longer."""
    POD_GROUP_ATTEMPT = auto()
    """The attempt of a pod group is given up."""
    POD_GROUP_LEASE = auto()
    """The turns of a pod group are taken back, as none of its members came."""
    POD_GROUP_DEGRADED = auto()
    """A pod group that stayed degraded is reported."""


TimerKey = AppId | PodUid | GroupKey | str
"""An application, a pod, a pod group, or a user by name: one type for each kind."""

ONLY_ONE = ""
"""Key of the timer of a kind of which there is one only."""


@dataclass(slots=True)
class Timers:
    """Timers of the kinds in `TimerKind`, each kind in a heap of its own: some kinds stand still at times."""

    #: Time at which a timer expires, in seconds since the epoch.
    due: dict[tuple[TimerKind, TimerKey], float] = field(default_factory=dict)
    #: Heap of (time, key) per kind, the earliest first. Entries `due` contradicts are void; the first is not.
    heaps: dict[TimerKind, list[tuple[float, TimerKey]]] = field(default_factory=dict)
