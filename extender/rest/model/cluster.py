"""The cluster and its partition (REST-5, REST-26)."""

from msgspec import field

from extender.rest.model.answer import Amounts, Answer, Nanoseconds, Percentages, Texts


class Cluster(Answer, frozen=True, kw_only=True):
    """A cluster as the web UI shows it (REST-26)."""

    #: Time at which the process began.
    start_time: Nanoseconds = 0
    #: Versions and the id of the cluster.
    rm_build_information: tuple[Texts, ...] = ()
    #: Name of the partition.
    partition: str
    #: Always ``kubernetes``.
    cluster_name: str


class Capacity(Answer, frozen=True, kw_only=True):
    """Size of a partition and what of it is allocated."""

    #: Allocatable amounts of all nodes, cordoned ones included.
    capacity: Amounts = field(default_factory=dict)
    #: Allocated by pods of queues.
    used_capacity: Amounts = field(default_factory=dict)
    #: Percent of the capacity that is allocated.
    utilization: Percentages = field(default_factory=dict)


class NodeSorting(Answer, frozen=True, kw_only=True):
    """Order in which nodes are preferred."""

    #: fair or binpacking.
    type: str = ""
    #: Weights by resource.
    resource_weights: dict[str, float] = field(default_factory=dict)


class Partition(Answer, frozen=True, kw_only=True):
    """A partition (REST-5); there is one. ``totalNodes`` and ``totalContainers`` are there when 0, too."""

    #: Id of the cluster.
    cluster_id: str
    #: Name of the partition.
    name: str
    #: Size of the partition.
    capacity: Capacity
    #: Order of nodes.
    node_sorting_policy: NodeSorting
    #: True if it preempts to reach guarantees.
    preemption_enabled: bool
    #: True if it preempts when a limit was lowered.
    quota_preemption_enabled: bool
    #: Number of nodes.
    total_nodes: int
    #: Number of allocations.
    total_containers: int
    #: Number of applications by state, and their ``total``.
    applications: dict[str, int]
    #: Active, Draining or Stopped.
    state: str = ""
    #: Time at which it came into that state.
    last_state_transition_time: Nanoseconds = 0
