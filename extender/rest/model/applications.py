"""Applications, requests and allocations (REST-7, REST-34 to REST-36)."""

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
"""``startTime`` of an application that never ran."""

NO_REQUEST = -(2**31)
"""``maxRequestPriority`` of an application without requests."""

Usage = dict[str, dict[str, int]]
"""Amounts times seconds, by instance type and resource."""


class LogEntry(Answer, frozen=True, kw_only=True):
    """Reason why a pod was refused."""

    #: Reason without amounts.
    message: str
    #: Time of the last refusal with this reason.
    last_occurrence: Nanoseconds = 0
    #: Number of refusals with this reason.
    count: int = 0


class Request(Answer, frozen=True, kw_only=True):
    """Pod that waits for a node (REST-34)."""

    #: UID of the pod.
    allocation_key: str
    #: Namespace, name and labels of the pod.
    allocation_tags: Texts = field(default_factory=dict)
    #: Creation of the pod.
    request_time: Nanoseconds = 0
    #: Size of the pod.
    resource: Amounts = field(default_factory=dict)
    #: Priority of the pod.
    priority: Priority = ""
    #: Only node that the pod may run on, as for a DaemonSet's pod.
    required_node_id: str = ""
    #: Id of its application.
    application_id: str = ""
    #: True for a placeholder of a gang.
    placeholder: bool = False
    #: Task group of the pod, if it is a gang's member or placeholder.
    task_group_name: str = ""
    #: Reasons why the pod was refused, oldest first.
    allocation_log: tuple[LogEntry, ...] = ()
    #: True if a preemption plan was made for the pod.
    triggered_preemption: bool = False
    #: True for the first pod of its application.
    originator: bool = False
    #: True if a filter call or a quota check was made for the pod.
    scheduling_attempted: bool = False
    #: True if kube-scheduler reported that no node takes the pod.
    triggered_scale_up: bool = False


class Allocation(Answer, frozen=True, kw_only=True):
    """Pod that is bound or being bound to a node (REST-35)."""

    #: UID of the pod.
    allocation_key: str
    #: Namespace, name and labels of the pod.
    allocation_tags: Texts = field(default_factory=dict)
    #: Creation of the pod.
    request_time: Nanoseconds = 0
    #: Time of its binding.
    allocation_time: Nanoseconds = 0
    #: Time from the pod's creation to its binding.
    allocation_delay: NanosecondSpan = 0
    #: Size of the pod.
    resource: Amounts = field(default_factory=dict)
    #: Priority of the pod.
    priority: Priority = ""
    #: Name of the node.
    node_id: str = ""
    #: Id of its application.
    application_id: str = ""
    #: True for a placeholder of a gang.
    placeholder: bool = False
    #: True if the pod replaced a placeholder.
    placeholder_used: bool = False
    #: Task group of the pod, if it is a gang's member or placeholder.
    task_group_name: str = ""
    #: True for the first pod of its application.
    originator: bool = False
    #: True if the pod was chosen as a victim.
    preempted: bool = False


class ForeignAllocation(Answer, frozen=True, kw_only=True):
    """Pod on a node that belongs to no queue (REST-36)."""

    #: UID of the pod.
    allocation_key: str
    #: Namespace, name, labels and creation of the pod, and ``foreign``, which is static or default.
    allocation_tags: Texts = field(default_factory=dict)
    #: Time of its binding.
    allocation_time: Nanoseconds = 0
    #: Size of the pod.
    resource: Amounts = field(default_factory=dict)
    #: Priority of the pod.
    priority: Priority = ""
    #: Name of the node.
    node_id: str = ""
    #: False for a pod that no scheduler may evict.
    preemptable: bool = False


class StateEntry(Answer, frozen=True, kw_only=True):
    """State that an application has entered."""

    #: Time of entry.
    time: Nanoseconds = 0
    #: Name of the state.
    application_state: str = ""


class Placeholders(Answer, frozen=True, kw_only=True):
    """Placeholders of one task group, by their fate."""

    #: Name of the task group.
    task_group_name: str = ""
    #: Number of placeholders created so far.
    count: int = 0
    #: Size of one placeholder.
    min_resource: Amounts = field(default_factory=dict)
    #: Number of placeholders that members have replaced.
    replaced: int = 0
    #: Number of placeholders that no member replaced in time.
    timedout: int = 0


class ResourceHistory(Answer, frozen=True, kw_only=True):
    """Sums over ended allocations: amounts times seconds, by instance type."""

    #: Sums of pods that ended by themselves.
    resource_usage: Usage = field(default_factory=dict)
    #: Sums of pods that preemption evicted.
    preempted_resource: Usage = field(default_factory=dict)
    #: Sums of placeholders.
    placeholder_resource: Usage = field(default_factory=dict)


class App(Answer, frozen=True, kw_only=True):
    """Application (REST-7). Its usage does not include placeholders (GANG-8)."""

    #: Id within its namespace.
    application_id: str = field(name="applicationID")
    #: Namespace of its pods. YuniKorn has no such member. In Paddock, ids belong to a namespace.
    namespace: str = ""
    #: Total size of its allocations without placeholders.
    used_resource: Amounts = field(default_factory=dict)
    #: Peak usage of each resource since this process started.
    max_used_resource: Amounts = field(default_factory=dict)
    #: Total size of its requests.
    pending_resource: Amounts = field(default_factory=dict)
    #: Name of the partition.
    partition: str
    #: Queue of the application; without one, the queue that it requested.
    queue_name: str
    #: Creation of its first pod.
    submission_time: Nanoseconds = 0
    #: Time of its end or rejection.
    finished_time: Nanoseconds = 0
    #: Time at which it last began to run; -62135596800000 for never.
    start_time: Milliseconds = 0
    #: Pods that wait for nodes.
    requests: tuple[Request, ...] = ()
    #: Pods on nodes.
    allocations: tuple[Allocation, ...] = ()
    #: Name of its state.
    application_state: str = ""
    #: Submitting user.
    user: str = ""
    #: Groups of that user.
    groups: tuple[str, ...] = ()
    #: Reason of its rejection.
    rejected_message: str = ""
    #: States that it has entered, oldest first.
    state_log: tuple[StateEntry, ...] = ()
    #: Task groups, in the order of their definition.
    placeholder_data: tuple[Placeholders, ...] = ()
    #: True if a node is reserved for one of its requests.
    has_reserved: bool = False
    #: Keys of the requests with reserved nodes.
    reservations: tuple[str, ...] = ()
    #: Highest priority among its requests; -2147483648 without requests.
    max_request_priority: int = 0
    #: Sums over its ended allocations.
    resource_history: ResourceHistory
    #: End of its back-off.
    backoff_deadline: Moment = ""
