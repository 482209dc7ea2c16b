"""State of admission: pending asks, turns, and the requests for the next cycle."""

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
    """Key of asks that fit alike: the same application, size and constraints on nodes."""

    queue: QueuePath
    size: Resource
    app: AppId
    constraints: Constraints


class Seat(NamedTuple):
    """Place of an ask in the pending index, with the rank under which it was filed.

    Later facts may change its rank.
    """

    key: WaitingKey
    rank: Rank


class Turn(NamedTuple):
    """A turn given at ``at``. The amounts it holds are taken back from where they were counted."""

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
    #: Shared object for each kind of asks, so that equal kinds compare at once. A cache.
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
    #: Pending asks without a turn, by leaf. Derived. Empty in a trial, except for turns that it took back.
    awaiting: dict[QueuePath, dict[PodUid, Seat]] = field(default_factory=dict)
    #: Leaves, with applications, in which anything was counted since the running cycle last read them.
    moved: dict[QueuePath, dict[AppId, None]] = field(default_factory=dict)
    #: Asks with a turn whose wake-up is postponed.
    unwoken: set[PodUid] = field(default_factory=set)
    #: Asks that no cycle has checked.
    fresh: dict[PodUid, Seat] = field(default_factory=dict)
    #: Queues that may count such asks, in which the next cycle ends their count.
    fresh_in: dict[QueuePath, None] = field(default_factory=dict)
    #: Time of the last call of kube-scheduler about any pod, in seconds.
    asked_at: float = 0.0
    #: Latest time at which an ask was tried that has been tried again since, in seconds.
    came_round: float = 0.0
    #: Time of the last check that let a lease stand because its ask may still come, in seconds.
    checked_at: float = 0.0


class CycleReason(StrEnum):
    """Reason for a scheduling cycle."""

    #: Quota or a node became free.
    CAPACITY_FREED = "capacity_freed"
    #: An ask arrived that does not call filter by itself, or a refused ask waits for a wake-up.
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
    #: A closed queue was opened.
    QUEUE_OPENED = "queue_opened"
    #: A document of queues was applied.
    CONFIGURED = "configured"
    #: This instance became the acting one.
    ACTING_BEGAN = "acting_began"


class RequeueReason(StrEnum):
    """Reason why a cycle did not admit an ask that it checked."""

    #: A queue on the way to the root is full for asks of that size.
    NO_HEADROOM = "no_headroom"
    #: A queue, a user or a group has no quota for it, or no application more may run.
    NO_QUOTA = "no_quota"
    #: No node takes the ask.
    NO_NODE = "no_node"
    #: Last turn came to nothing, and the back-off of the ask is not over.
    BACK_OFF = "back_off"
    #: Application in back-off, because too many of its asks found no node.
    APPLICATION_BACK_OFF = "application_back_off"
    #: Last turn came to nothing, so all other asks are checked first.
    PASSED_OVER = "passed_over"
    #: Node reserved for the ask, but without enough capacity yet.
    NODE_RESERVATION = "node_reservation"
    #: Node reserved for another ask could take this one, which would not call filter.
    RESERVED_FOR_ANOTHER = "reserved_for_another"
    #: Admitted together with its pod group, or not at all.
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
    #: Reason why the last cycle did not admit asks of that application and kind, or of a full leaf.
    requeued: dict[RequeuedAsks, RequeueReason] = field(default_factory=dict)
    #: Number of checks with each result, since the start. Asks that are requeued together count once.
    requeues: dict[RequeueReason, int] = field(default_factory=dict)
    #: True if capacity was freed since the last cycle began.
    freed: bool = False
    #: True if an ask waits for a cycle.
    due: bool = False
    #: True while a cycle runs.
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

    #: Pods that are not overdue, in the order of their deadlines. Derived.
    placing: dict[PodUid, None] = field(default_factory=dict)
    #: Overdue pods, which were reported. Derived, together with ``placing``.
    unplaced: dict[PodUid, None] = field(default_factory=dict)
    #: Pods that were never admitted and are not reported yet, placed or not (F-7).
    bypasses: dict[PodUid, None] = field(default_factory=dict)
    #: Number of reports of pods that were never admitted, since the start.
    reported: int = 0
