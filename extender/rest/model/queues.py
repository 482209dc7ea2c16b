"""Queues of a partition (REST-6, REST-31)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Duration, Moment, Nanoseconds, Percentages, Texts


class QueueTemplate(Answer, frozen=True, kw_only=True):
    """Initial values of dynamic queues below a queue."""

    #: Highest number of running applications; 0 is unlimited.
    max_applications: int = 0
    #: Max of the new queue.
    max_resource: Amounts = field(default_factory=dict)
    #: Guarantee of the new queue.
    guaranteed_resource: Amounts = field(default_factory=dict)
    #: Properties as in the document.
    properties: Texts = field(default_factory=dict)


class QueueClosure(Answer, frozen=True, kw_only=True):
    """Order of an administrator that closes a queue (ACT-14)."""

    #: Path of the closed queue: this one, or the nearest above it.
    queue: str
    #: User who closed it.
    by: str
    #: Time at which it was closed.
    since: Moment
    #: Reason in the user's words; absent without one.
    reason: str = ""
    #: Time at which it opens by itself; absent for never.
    until: Moment = field(default="")


class Queue(Answer, frozen=True, kw_only=True):
    """Queue with its limits and its usage (REST-6)."""

    #: Path from the root, in lower case.
    queuename: str
    #: Status of the queue: Active, Draining or Stopped.
    status: str = ""
    #: Order that closes it; absent while it is open.
    paddock_closed: QueueClosure | None = None
    #: Name of the partition; empty except at the root of the whole tree.
    partition: str
    #: Total size of pods that wait for a node.
    pending_resource: Amounts = field(default_factory=dict)
    #: Max of the queue; at the root, the size of the cluster.
    max_resource: Amounts = field(default_factory=dict)
    #: Guarantee of the queue.
    guaranteed_resource: Amounts = field(default_factory=dict)
    #: Total size of pods that are bound or being bound.
    allocated_resource: Amounts = field(default_factory=dict)
    #: Part of the allocated amount that preemption is taking away.
    preempting_resource: Amounts = field(default_factory=dict)
    #: Smallest headroom of the queue and its ancestors; may be negative.
    headroom: Amounts = field(default_factory=dict)
    #: True if the queue holds applications.
    is_leaf: bool
    #: True for a configured queue, False for a dynamic one.
    is_managed: bool
    #: Properties, including inherited ones.
    properties: Texts = field(default_factory=dict)
    #: Path of the parent queue; absent at the root.
    parent: str = ""
    #: Child template; absent without one.
    template: QueueTemplate | None = None
    #: Child queues, sorted by name; only in answers with a whole tree.
    children: tuple["Queue", ...] = ()
    #: Paths of the child queues, sorted by name.
    child_names: tuple[str, ...] = ()
    #: Allocated percentage of the queue's own max.
    abs_used_capacity: Percentages = field(default_factory=dict)
    #: Highest number of applications that may run in the queue and below it; 0 is unlimited.
    max_running_apps: int = 0
    #: Number of applications that run in the queue and below it.
    running_apps: int = 0
    #: Highest priority of waiting pods, after policy and offset; -2147483648 without such pods.
    current_priority: int
    #: Ids of applications that count against the limit and do not run yet.
    allocating_accepted_apps: tuple[str, ...] = ()
    #: Policy by which applications or child queues are ordered.
    sorting_policy: str = ""
    #: True if applications of higher priority come first.
    priority_sorting: bool
    #: False if preemption neither evicts pods of the queue nor acts for them.
    preemption_enabled: bool
    #: True if preemption for pods of the queue finds its victims only inside it.
    is_preemption_fence: bool
    #: Time for which an ask waits before preemption acts for it.
    preemption_delay: Duration
    #: Time after which a lowered max is enforced by eviction; ``0s`` for never.
    quota_preemption_delay: Duration
    #: True if priorities inside the queue have no effect outside.
    is_priority_fence: bool
    #: Number that is added to the priorities of the queue's pods.
    priority_offset: int = 0
    #: True while pods are being evicted because the max was lowered (REST-49).
    is_quota_preemption_running: bool = False
    #: Past or future start of these evictions (REST-49).
    quota_preemption_start_time: Nanoseconds = 0
    #: Number of asks that no node takes before an application backs off (REST-49); 0 for never.
    unsched_ask_backoff: int = 0
    #: Duration of such a back-off (REST-49).
    ask_backoff_delay: Duration = field(default="")
