"""Names, types and labels of YuniKorn's series, and fixed values of labels."""

from core.workload.states import AppState
from extender.telemetry.lines import Family

AMOUNTS = ("guaranteed", "max", "allocated", "pending", "preempting")
"""States of METRIC-1 that have amounts."""

MAX_RUNNING, APPLICATIONS = "maxRunningApps", "apps"
"""The other state of METRIC-1, and its resource."""

PODS = ("allocated", "released", "rejected", "error")
PODS_OF_QUEUE = ("allocated", "released")
RESULTS = ("new", "accepted", "rejected")
NODES_NOW, NODES_EVER = ("active", "draining"), ("failed", "decommissioned")
SORTED = ("app", "queue")
ENDS = ("completed", "failed", "rejected")

STATES = {
    AppState.NEW: "new",
    AppState.ACCEPTED: "accepted",
    # Some of its pods run, so it counts as running (QUO-13).
    AppState.STARTING: "running",
    AppState.RUNNING: "running",
    AppState.RESUMING: "resuming",
    AppState.FAILING: "failing",
    AppState.COMPLETING: "completing",
}
"""Label for each state of an application."""

NOW_IN_QUEUE = ("new", "accepted", "running", "resuming", "failing", "completing")
NOW = NOW_IN_QUEUE[2:]
EVER = ("completed", "failed")

RANGES = ("[0,10%]", *(f"({low}%,{low + 10}%]" for low in range(10, 100, 10)))
"""Ranges of percentages in METRIC-12."""

OTHER = "other"
"""Label value for all queues without series. A path begins with ``root``, so no queue has this name."""

QUEUE_RESOURCE = Family(
    "yunikorn_queue_resource",
    "gauge",
    ("queue", "state", "resource"),
    "Amounts of a queue; vcore in millicores, everything else in base units",
    "METRIC-1",
)
ATTEMPTS = Family(
    "yunikorn_scheduler_container_allocation_attempt_total",
    "counter",
    ("state",),
    "Pods that came onto a node, that left one, that were refused for good, and calls that failed",
    "METRIC-2",
)
SUBMISSIONS = Family(
    "yunikorn_scheduler_application_submission_total",
    "counter",
    ("result",),
    "Applications that came, that a queue took, and that were rejected",
    "METRIC-3",
)
SCHEDULER_APPLICATIONS = Family(
    "yunikorn_scheduler_application_total",
    "gauge",
    ("state",),
    "Applications in a state now; completed and failed ones since the start",
    "METRIC-4",
)
NODES = Family(
    "yunikorn_scheduler_node",
    "gauge",
    ("state",),
    "Nodes that take pods and cordoned ones now; unreadable and deleted ones since the start",
    "METRIC-5",
)
SCHEDULING = Family(
    "yunikorn_scheduler_scheduling_latency_milliseconds",
    "histogram",
    (),
    "Seconds of a filter call that admits",
    "METRIC-6",
)
TRY_NODE = Family(
    "yunikorn_scheduler_trynode_latency_milliseconds",
    "histogram",
    (),
    "Seconds of a filter call that admits, divided by the nodes that were offered",
    "METRIC-7",
)
TRY_PREEMPTION = Family(
    "yunikorn_scheduler_trypreemption_latency_milliseconds",
    "histogram",
    (),
    "Seconds from the attempt of a preemption to its plan or refusal",
    "METRIC-8",
)
CYCLE = Family(
    "yunikorn_scheduler_scheduling_cycle_milliseconds",
    "histogram",
    (),
    "Seconds of a filter call, whatever its answer",
    "METRIC-9",
)
EVALUATION = Family(
    "yunikorn_scheduler_trynode_evaluation_milliseconds",
    "histogram",
    (),
    "Seconds of a filter call, which evaluates all nodes for one ask",
    "METRIC-10",
)
SORTING = Family(
    "yunikorn_scheduler_node_sorting_latency_milliseconds",
    "histogram",
    ("level",),
    "Seconds of one slice of a scheduling cycle, which orders queues; asks are kept in order, so app stays 0",
    "METRIC-11",
)
NODE_USAGE = Family(
    "yunikorn_scheduler_<type>_node_usage_total",
    "gauge",
    ("range",),
    "Nodes by the part of the resource that pods of queues hold",
    "METRIC-12",
)
QUEUE_APPLICATIONS = Family(
    "yunikorn_queue_app",
    "gauge",
    ("queue", "state"),
    "Applications of a leaf in a state now; completed, failed and rejected ones since the start",
    "METRIC-13",
)
QUEUE_ENDS = Family(
    "yunikorn_queue_app_total",
    "counter",
    ("queue", "state"),
    "Applications of a leaf that ended; kept when the queue is gone",
    "METRIC-14",
)
PATH_PODS = Family(
    "yunikorn_<queue>_queue_container",
    "counter",
    ("state",),
    "Pods of one leaf that came onto a node, and that left one",
    "METRIC-15",
)
PATH_RESOURCE = Family(
    "yunikorn_<queue>_queue_resource",
    "gauge",
    ("state", "resource"),
    "Amounts of one queue, as in yunikorn_queue_resource",
    "METRIC-18",
)
PATH_APPLICATIONS = Family(
    "yunikorn_<queue>_queue_app",
    "gauge",
    ("state",),
    "Applications of one leaf, as in yunikorn_queue_app",
    "METRIC-18",
)

FAMILIES = (
    QUEUE_RESOURCE,
    ATTEMPTS,
    SUBMISSIONS,
    SCHEDULER_APPLICATIONS,
    NODES,
    SCHEDULING,
    TRY_NODE,
    TRY_PREEMPTION,
    CYCLE,
    EVALUATION,
    SORTING,
    NODE_USAGE,
    QUEUE_APPLICATIONS,
    QUEUE_ENDS,
    PATH_PODS,
    PATH_RESOURCE,
    PATH_APPLICATIONS,
)
"""All families of YuniKorn."""
