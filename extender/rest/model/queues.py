"""Queues of a partition (REST-6, REST-31)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Duration, Nanoseconds, Percentages, Texts


class QueueTemplate(Answer, frozen=True, kw_only=True):
    """Values that a queue created by placement below this one begins with."""

    #: Most applications that may run at once; 0 is unlimited.
    max_applications: int = 0
    #: Most that may be allocated.
    max_resource: Amounts = field(default_factory=dict)
    #: Amounts that preemption protects.
    guaranteed_resource: Amounts = field(default_factory=dict)
    #: Properties as written.
    properties: Texts = field(default_factory=dict)


class Queue(Answer, frozen=True, kw_only=True):
    """A queue with its limits and its usage, as on REST-6."""

    #: Path from the root, lower case.
    queuename: str
    #: Active, Draining or Stopped.
    status: str = ""
    #: Name of the partition at the root of the whole tree, empty everywhere else.
    partition: str
    #: Sizes of pods that wait for a node.
    pending_resource: Amounts = field(default_factory=dict)
    #: Own limit; at the root the size of the cluster.
    max_resource: Amounts = field(default_factory=dict)
    #: Own guarantee.
    guaranteed_resource: Amounts = field(default_factory=dict)
    #: Sizes of pods on nodes, and of those whose Binding is on its way.
    allocated_resource: Amounts = field(default_factory=dict)
    #: Part of the allocated that preemption is taking away.
    preempting_resource: Amounts = field(default_factory=dict)
    #: Least that is left under the limits of the queue and its ancestors; may be negative.
    headroom: Amounts = field(default_factory=dict)
    #: True if applications may run in it.
    is_leaf: bool
    #: True if the document names it, False if placement created it.
    is_managed: bool
    #: Properties with those inherited.
    properties: Texts = field(default_factory=dict)
    #: Path of the parent; absent at the root.
    parent: str = ""
    #: Template for queues created below it; absent without one.
    template: QueueTemplate | None = None
    #: Queues below it, by name; in trees only.
    children: tuple["Queue", ...] = ()
    #: Paths of the queues below it, by name.
    child_names: tuple[str, ...] = ()
    #: Percent of its own limit that is allocated.
    abs_used_capacity: Percentages = field(default_factory=dict)
    #: Most applications that may run in it and below; 0 is unlimited.
    max_running_apps: int = 0
    #: Number of applications that run in it and below.
    running_apps: int = 0
    #: Highest priority of what waits, after policy and offset; -2147483648 for none.
    current_priority: int
    #: Ids of applications that count for the limit and do not run yet.
    allocating_accepted_apps: tuple[str, ...] = ()
    #: Order of its applications or children.
    sorting_policy: str = ""
    #: True if applications of higher priority go first.
    priority_sorting: bool
    #: False if preemption neither takes from it nor helps it.
    preemption_enabled: bool
    #: True if preemption for what is in it stays inside.
    is_preemption_fence: bool
    #: Time that an ask waits before preemption helps it.
    preemption_delay: Duration
    #: Time after which a lowered limit is enforced; ``0s`` for never.
    quota_preemption_delay: Duration
    #: True if priorities inside it mean nothing outside.
    is_priority_fence: bool
    #: Number added to priorities outside.
    priority_offset: int = 0
    #: True while pods go because its limit was lowered (REST-49).
    is_quota_preemption_running: bool = False
    #: Time at which that begins or began (REST-49).
    quota_preemption_start_time: Nanoseconds = 0
    #: Asks that no node takes before the application backs off (REST-49); 0 for never.
    unsched_ask_backoff: int = 0
    #: Length of such a back-off (REST-49).
    ask_backoff_delay: Duration = field(default="")
