"""The cluster and its partition (REST-5, REST-26)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Nanoseconds, Percentages, Texts


class Cluster(Answer, frozen=True, kw_only=True):
    """Cluster as the web UI shows it (REST-26)."""

    #: Start time of the process.
    start_time: Nanoseconds = 0
    #: Versions, and the id of the cluster.
    rm_build_information: tuple[Texts, ...] = ()
    #: Name of the partition.
    partition: str
    #: Always ``kubernetes``.
    cluster_name: str


class Capacity(Answer, frozen=True, kw_only=True):
    """Size of a partition, and how much of it is allocated."""

    #: Total allocatable amounts of all nodes, including cordoned ones.
    capacity: Amounts = field(default_factory=dict)
    #: Total size of managed pods on nodes.
    used_capacity: Amounts = field(default_factory=dict)
    #: Allocated percentage of the capacity.
    utilization: Percentages = field(default_factory=dict)


class NodeSorting(Answer, frozen=True, kw_only=True):
    """Policy for the preference of nodes."""

    #: Name of the policy: fair or binpacking.
    type: str = ""
    #: Weights by resource.
    resource_weights: dict[str, float] = field(default_factory=dict)


class Partition(Answer, frozen=True, kw_only=True):
    """The only partition (REST-5). ``totalNodes`` and ``totalContainers`` are present even if they are 0."""

    #: Id of the cluster.
    cluster_id: str
    #: Name of the partition.
    name: str
    #: Size of the partition.
    capacity: Capacity
    #: Policy for the preference of nodes.
    node_sorting_policy: NodeSorting
    #: True if preemption for guarantees is on.
    preemption_enabled: bool
    #: True if pods are evicted after a max was lowered.
    quota_preemption_enabled: bool
    #: Number of nodes.
    total_nodes: int
    #: Number of allocations.
    total_containers: int
    #: Number of applications by state, and in ``total``.
    applications: dict[str, int]
    #: Name of the state: Active, Draining or Stopped.
    state: str = ""
    #: Time at which the partition entered this state.
    last_state_transition_time: Nanoseconds = 0
