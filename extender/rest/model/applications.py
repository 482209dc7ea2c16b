"""Applications with their requests and allocations (REST-7, REST-34 to REST-36)."""

from msgspec import field

from extender.rest.model.answer import (
    Amounts,
    Answer,
    Milliseconds,
    Moment,
    Nanoseconds,
    NanosecondSpan,
    Priority,
    Texts,
)

NEVER_STARTED = -62135596800000
"""``startTime`` of an application that has not run."""

NO_REQUEST = -(2**31)
"""``maxRequestPriority`` of an application that waits for nothing."""

Usage = dict[str, dict[str, int]]
"""Amounts times seconds, by instance type and resource."""


class LogEntry(Answer, frozen=True, kw_only=True):
    """Reason why a request was not met."""

    #: Reason, without amounts.
    message: str
    #: Time at which it was given last.
    last_occurrence: Nanoseconds = 0
    #: Number of times it was given.
    count: int = 0


class Request(Answer, frozen=True, kw_only=True):
    """A pod that waits for a node (REST-34)."""

    #: Uid of the pod.
    allocation_key: str
    #: Namespace, name and labels of the pod.
    allocation_tags: Texts = field(default_factory=dict)
    #: Creation of the pod.
    request_time: Nanoseconds = 0
    #: Size of the pod.
    resource: Amounts = field(default_factory=dict)
    #: Priority of the pod.
    priority: Priority = ""
    #: Only node that it may run on, for a pod of a DaemonSet.
    required_node_id: str = ""
    #: Id of its application.
    application_id: str = ""
    #: True if it only holds capacity for a member of a gang.
    placeholder: bool = False
    #: Task group that it is a member or a placeholder of.
    task_group_name: str = ""
    #: Reasons why it was not met, the latest last.
    allocation_log: tuple[LogEntry, ...] = ()
    #: True if a plan of preemption was made for it.
    triggered_preemption: bool = False
    #: True if it was the first pod of its application.
    originator: bool = False
    #: True if a filter call or a quota check was made for it.
    scheduling_attempted: bool = False
    #: True if kube-scheduler has said that no node takes it.
    triggered_scale_up: bool = False


class Allocation(Answer, frozen=True, kw_only=True):
    """A pod on a node, or whose Binding is on its way (REST-35)."""

    #: Uid of the pod.
    allocation_key: str
    #: Namespace, name and labels of the pod.
    allocation_tags: Texts = field(default_factory=dict)
    #: Creation of the pod.
    request_time: Nanoseconds = 0
    #: Time of its binding.
    allocation_time: Nanoseconds = 0
    #: Time from the request to the binding.
    allocation_delay: NanosecondSpan = 0
    #: Size of the pod.
    resource: Amounts = field(default_factory=dict)
    #: Priority of the pod.
    priority: Priority = ""
    #: Name of the node.
    node_id: str = ""
    #: Id of its application.
    application_id: str = ""
    #: True if it only holds capacity for a member of a gang.
    placeholder: bool = False
    #: True if it took over the capacity of a placeholder.
    placeholder_used: bool = False
    #: Task group that it is a member or a placeholder of.
    task_group_name: str = ""
    #: True if it was the first pod of its application.
    originator: bool = False
    #: True if it was chosen as a victim.
    preempted: bool = False


class ForeignAllocation(Answer, frozen=True, kw_only=True):
    """A pod on a node that is in no queue (REST-36)."""

    #: Uid of the pod.
    allocation_key: str
    #: Namespace, name and labels of the pod, its creation, and ``foreign``: static or default.
    allocation_tags: Texts = field(default_factory=dict)
    #: Time of its binding.
    allocation_time: Nanoseconds = 0
    #: Size of the pod.
    resource: Amounts = field(default_factory=dict)
    #: Priority of the pod.
    priority: Priority = ""
    #: Name of the node.
    node_id: str = ""
    #: False for a pod that no scheduler may remove.
    preemptable: bool = False


class StateEntry(Answer, frozen=True, kw_only=True):
    """A state that an application entered."""

    #: Time at which it entered it.
    time: Nanoseconds = 0
    #: Name of the state.
    application_state: str = ""


class Placeholders(Answer, frozen=True, kw_only=True):
    """Fate of the placeholders of one task group."""

    #: Name of the task group.
    task_group_name: str = ""
    #: Placeholders ever created.
    count: int = 0
    #: Size of one.
    min_resource: Amounts = field(default_factory=dict)
    #: Placeholders that members have replaced.
    replaced: int = 0
    #: Placeholders that no member replaced in time.
    timedout: int = 0


class ResourceHistory(Answer, frozen=True, kw_only=True):
    """Sums over allocations that have ended: amounts times seconds, by instance type."""

    #: Of pods that ended by themselves.
    resource_usage: Usage = field(default_factory=dict)
    #: Of pods that preemption removed.
    preempted_resource: Usage = field(default_factory=dict)
    #: Of placeholders.
    placeholder_resource: Usage = field(default_factory=dict)


class App(Answer, frozen=True, kw_only=True):
    """An application (REST-7). Placeholders are no part of what it uses (GANG-8)."""

    #: Id within its namespace.
    application_id: str = field(name="applicationID")
    #: Namespace of its first pod. YuniKorn has no such member; ids are per namespace here.
    namespace: str = ""
    #: Sizes of its allocations but for placeholders.
    used_resource: Amounts = field(default_factory=dict)
    #: Most that it used of each resource since this process began.
    max_used_resource: Amounts = field(default_factory=dict)
    #: Sizes of its requests.
    pending_resource: Amounts = field(default_factory=dict)
    #: Name of the partition.
    partition: str
    #: Queue that it runs in, or asked for if it has none.
    queue_name: str
    #: Creation of its first pod.
    submission_time: Nanoseconds = 0
    #: Time at which it ended or was rejected.
    finished_time: Nanoseconds = 0
    #: Time at which it began to run last; -62135596800000 for never.
    start_time: Milliseconds = 0
    #: Pods that wait for nodes.
    requests: tuple[Request, ...] = ()
    #: Pods on nodes.
    allocations: tuple[Allocation, ...] = ()
    #: Name of its state.
    application_state: str = ""
    #: User who submitted it.
    user: str = ""
    #: Groups of that user.
    groups: tuple[str, ...] = ()
    #: Reason why it was rejected.
    rejected_message: str = ""
    #: States that it entered, the latest last.
    state_log: tuple[StateEntry, ...] = ()
    #: Task groups, in the order of definition.
    placeholder_data: tuple[Placeholders, ...] = ()
    #: True if a node is held for one of its requests.
    has_reserved: bool = False
    #: Keys of the requests for which nodes are held.
    reservations: tuple[str, ...] = ()
    #: Highest priority of its requests; -2147483648 for none.
    max_request_priority: int = 0
    #: Sums over its allocations that have ended.
    resource_history: ResourceHistory
    #: Time until which it is not tried.
    backoff_deadline: Moment = ""
