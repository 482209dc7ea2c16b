"""Kinds of timers, and the state of all timers."""

from dataclasses import dataclass, field
from enum import IntEnum, auto

from core.ids import AppId, PodUid
from core.workload.pod_group import GroupKey


class TimerKind(IntEnum):
    """Subject of a timer. `TimePassed` handles the kinds in an order of its own."""

    GANG = auto()
    """Next check of a gang."""
    OFFER = auto()
    """End of the offer for an ask."""
    NODE_RESERVATION = auto()
    """End of the node reservation for an ask."""
    ATTEMPT = auto()
    """Next plan for any of the asks that wait for one."""
    QUOTA_RECLAIM = auto()
    """Eviction of a queue's pods because its quota shrank. Stopped while quotas do not preempt."""
    AGE = auto()
    """Age at which any of the waiting asks may get a node reservation."""
    USER_GROUPS = auto()
    """Expiry of a resolver's answer about a user."""
    APPLICATION_STATE = auto()
    """End of an application's state."""
    PROVISIONAL = auto()
    """End of the belief in the body of a verb, unless something has shown the same."""
    DOUBT = auto()
    """End of an act of Paddock that no list has shown. Stopped until the watch has caught up."""
    REJECTION = auto()
    """Report of a rejection to a pod, which may also be marked Failed, first or again (APP-8)."""
    NAMESPACE = auto()
    """End of an application's wait for its namespace."""
    RESERVATION = auto()
    """End of a pod's quota reservation."""
    CYCLE = auto()
    """Time at which the next cycle has something to do."""
    TURN = auto()
    """End of a turn's lease. Stopped while no other ask would get the capacity."""
    REFUSED_TURN = auto()
    """End of the lease of a turn, for an ask that was refused."""
    UNADMITTED = auto()
    """Report of a pod that was never admitted (F-7). Stopped while this instance reports none."""
    UNPLACED = auto()
    """Report of a pod without a node (F-2). Stopped like the one before."""
    GANG_SLOT = auto()
    """Next check of a member's open slot."""
    GANG_LINE = auto()
    """Time at which replacements under way stop blocking other gangs."""
    POD_GROUP_ATTEMPT = auto()
    """End of a pod group's attempt."""
    POD_GROUP_LEASE = auto()
    """End of the turns of a pod group to which no member came."""
    POD_GROUP_DEGRADED = auto()
    """Report of a pod group that stayed degraded."""
    QUEUE_OPENS = auto()
    """Time at which the first closed queue opens by itself."""
    GATE_CONDITION = auto()
    """Condition about a gate that is shut. Stopped while this instance does not act."""
    BAR_ENDS = auto()
    """Time at which the first bar of an ended application is over."""
    ENDING = auto()
    """Next attempt to end a pod of an application that is ended."""
    MOVE = auto()
    """Next attempt to move an application that was busy when it was to be moved."""
    EXECUTION = auto()
    """Warning, end or record of an application's execution time-out."""
    LONG_HOLD = auto()
    """Event about a gate that is shut for long. Stopped while this instance does not act."""


TimerKey = AppId | PodUid | GroupKey | str
"""Key of a timer: an application, a pod, a pod group, or a user by name. One type for each kind."""

ONLY_ONE = ""
"""Key of the timer of a kind that has only one."""


@dataclass(slots=True)
class Timers:
    """Timers of the kinds in `TimerKind`, each kind in a heap of its own."""

    #: Time at which a timer expires, in seconds since the epoch.
    due: dict[tuple[TimerKind, TimerKey], float] = field(default_factory=dict)
    #: Heap of (time, key) per kind, the earliest first. An entry that `due` contradicts is void; the first is
    #: valid.
    heaps: dict[TimerKind, list[tuple[float, TimerKey]]] = field(default_factory=dict)
