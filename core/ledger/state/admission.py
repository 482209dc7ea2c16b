"""State of admission: pending asks, the turns that were given, and what the next cycle is for."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from core.ids import AppId, NodeName, PodUid, QueuePath
from core.queues.queue import Queue
from core.queues.quota_check import Extra
from core.queues.users.limits import Claimant
from core.resource import Resource
from core.workload.ask import Rank
from core.workload.nodes.affinity import Constraints
from core.workload.pending_index import Kind, PendingIndex
from core.workload.promises import Promises


class WaitingKey(NamedTuple):
    """Asks of one application, size and constraints on nodes fit alike."""

    queue: QueuePath
    size: Resource
    app: AppId
    constraints: Constraints


class Seat(NamedTuple):
    """Where an ask waits, with the rank it was filed under: what it is told later may rank it elsewhere."""

    key: WaitingKey
    rank: Rank


class Turn(NamedTuple):
    """Leave to be placed, since ``at``. What it holds is taken back from where it was given."""

    seat: Seat
    at: float
    chain: tuple[Queue, ...]
    claimant: Claimant
    node: NodeName


@dataclass(slots=True)
class Pending:
    """Index of pending asks. Derived."""

    #: Asks by queue, application and kind.
    waiting: dict[QueuePath, PendingIndex] = field(default_factory=dict)
    #: Place of each ask in that index.
    waits_at: dict[PodUid, Seat] = field(default_factory=dict)
    #: One object for each kind of asks, by itself, so that equal ones are found equal at once. A cache.
    kinds: dict[Kind, Kind] = field(default_factory=dict)


@dataclass(slots=True)
class Turns:
    """Asks that may be placed now."""

    #: Turn of each of them.
    of: dict[PodUid, Turn] = field(default_factory=dict)
    #: Quota that turns hold, by queue and claimant.
    given: Extra = field(default_factory=Extra)
    #: Quota that turns hold, by leaf and application.
    promised: dict[QueuePath, Promises] = field(default_factory=dict)
    #: Leaves, with applications, in which anything was counted since the running cycle looked last.
    moved: dict[QueuePath, dict[AppId, None]] = field(default_factory=dict)
    #: Asks with a turn whose wake-up has to wait.
    unwoken: set[PodUid] = field(default_factory=set)
    #: Asks that no cycle has looked at.
    fresh: dict[PodUid, Seat] = field(default_factory=dict)
    #: Time of the last call of kube-scheduler about any pod, in seconds.
    asked_at: float = 0.0


class CycleReason(StrEnum):
    """Reason why a scheduling cycle is requested."""

    #: Quota or a node became free.
    CAPACITY_FREED = "capacity_freed"
    #: An ask is there that does not call filter by itself, or was refused to be woken by a cycle.
    POD_ARRIVED = "pod_arrived"
    #: A pending ask is old enough for a node reservation.
    POD_AGED = "pod_aged"
    #: A pod group has enough members to begin.
    GROUP_COMPLETE = "group_complete"
    #: A time has come: a back-off is over, or a wake-up may be repeated.
    RETRY_AT = "retry_at"
    #: Another application may run, or an application was placed.
    APPLICATION_CHANGED = "application_changed"
    #: A gang, a pod group or their objects changed.
    GROUP_CHANGED = "group_changed"
    #: A node came, went or changed, or a DaemonSet was learned.
    CLUSTER_CHANGED = "cluster_changed"
    #: A document of queues was applied.
    CONFIGURED = "configured"
    #: This instance began to act.
    ACTING_BEGAN = "acting_began"


class RequeueReason(StrEnum):
    """Reason why a scheduling cycle did not admit an ask that it checked."""

    #: A queue on the way to the root is full for asks of that size.
    NO_HEADROOM = "no_headroom"
    #: A queue, a user or a group has no quota for it, or no application more may run.
    NO_QUOTA = "no_quota"
    #: No node takes it.
    NO_NODE = "no_node"
    #: Its last turn came to nothing, and its back-off is not over.
    BACK_OFF = "back_off"
    #: Its application is in back-off, as too many asks found no node.
    APPLICATION_BACK_OFF = "application_back_off"
    #: Its last turn came to nothing, so that all other asks are checked first.
    PASSED_OVER = "passed_over"
    #: A node is reserved for it, and has no capacity for it yet.
    NODE_RESERVATION = "node_reservation"
    #: A node that is reserved for another ask could take it, and it would not call filter.
    RESERVED_FOR_ANOTHER = "reserved_for_another"
    #: It is admitted with its pod group or not at all.
    POD_GROUP = "pod_group"


RequeuedAsks = tuple[AppId, Kind] | QueuePath
"""Asks that a cycle requeues together: equal ones of an application, or all of a leaf."""


@dataclass(slots=True)
class CycleRequest:
    """Reasons for a scheduling cycle, and what the last ones found."""

    #: Reasons for the next cycle, in the order of their requests.
    reasons: dict[CycleReason, None] = field(default_factory=dict)
    #: Number of cycles that began for each reason, since the start.
    begun: dict[CycleReason, int] = field(default_factory=dict)
    #: Reason of the last cycle that did not admit an ask of that application and kind, or of a full leaf.
    requeued: dict[RequeuedAsks, RequeueReason] = field(default_factory=dict)
    #: Number of checks that ended so, since the start. Asks that are requeued together count once.
    requeues: dict[RequeueReason, int] = field(default_factory=dict)
    #: True if capacity was freed since the last cycle began.
    freed: bool = False
    #: True if an ask waits for a cycle.
    due: bool = False
    #: True while a cycle goes on.
    running: bool = False
    #: Kinds of asks that cycles found no node for.
    nowhere: set[Kind] = field(default_factory=set)
    #: True if a pod group was not admitted since a member found no node.
    group_nowhere: bool = False
    #: Nodes of which something was freed, but no quota, while the running cycle goes on.
    freed_nodes: dict[NodeName, None] = field(default_factory=dict)
    #: True if more timers have expired than one event handles.
    overdue: bool = False


@dataclass(slots=True)
class Unguarded:
    """Pods that kube-scheduler may place without a filter call (F-2)."""

    #: Those that are not overdue, in the order in which they will be. Derived.
    placing: dict[PodUid, None] = field(default_factory=dict)
    #: Those of which that was reported. Derived, together with ``placing``.
    unplaced: dict[PodUid, None] = field(default_factory=dict)
    #: Pods that were never admitted and are not reported yet, placed or not (F-7).
    bypasses: dict[PodUid, None] = field(default_factory=dict)
    #: Number of reports of pods that were never admitted, since the start.
    reported: int = 0
